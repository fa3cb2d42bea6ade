"""Re-solving of subgames: the gadget, safe and unsafe re-solving, and CFR-D."""

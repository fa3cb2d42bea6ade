"""Re-solving of subgames: the gadget, safe and unsafe re-solving, and CFR-D.

Read gadget.py (the opponent's choice at the root), subgame.py (one subgame solved again), decomposition.py (CFR-D).
sog/play/resolver.py uses the gadget in play.
"""

"""Connect four solved exactly from any position, and fixed sets of solved positions."""

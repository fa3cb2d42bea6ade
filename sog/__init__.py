"""Student of Games: growing-tree CFR search with a counterfactual value-and-policy network."""

__version__ = "0.1.0"

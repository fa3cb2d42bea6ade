"""Leaves of searches: beliefs out, evaluations in, and counterfactual values made of them."""

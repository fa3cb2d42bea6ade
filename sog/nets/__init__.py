"""The network and what evaluates it: cvpn.py (the network), inference.py (the choice of an evaluator), cpu/ (Numba
kernels for one core), serving/ (one network for many processes)."""

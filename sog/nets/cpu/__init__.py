"""Numba kernels that evaluate small networks on one core, faster there than PyTorch."""

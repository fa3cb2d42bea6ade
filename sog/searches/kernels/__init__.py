"""How kernels are compiled, and the registers they compute with."""

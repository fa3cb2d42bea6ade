"""How kernels are compiled, and the registers they compute with.

Read jit.py (the decorators and their cache), dispatch.py and parts.py (why a call and compiling cost less than
Numba's own), fallback.py (where Numba lacks what these need), then vectors.py, registers.py and spans.py (registers of
numbers), threads.py. compiling.py measures how long compiling takes; whole_numbers.py and compiler_types.py are about
types.
"""

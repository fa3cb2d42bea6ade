"""The public tree of a game as arrays, and the kernels that grow it and apply its operators."""

"""Searches and what they are made of: trees, kernels, the CFR family, growing-tree CFR, MCTS; no rules or networks.

From the bottom up: kernels/ (how kernels compile, registers), tree/ (public trees as arrays), leaves/ (beliefs out,
evaluations in), cfr/ (sweeps and rules), resolving/ (gadget, CFR-D), and the searches themselves: gtcfr/,
depth_limited/, mcts/ and holdem/.
"""

"""Numba kernels that evaluate small networks on one core, faster there than PyTorch.

Read in this order:
- dense.py: an MLP, from a belief's features to its values.
- hand_layers.py, hand_spread.py: the network over hold'em's hands, and its inputs.
- station_layers.py: the network over Scotland Yard's stations.
- products.py: a matrix of weights times columns of numbers.  winograd.py: convolutions as such products.
- residual.py: a residual network made of both.  resnet_packed.py: its weights as these kernels read them.
"""

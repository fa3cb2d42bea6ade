"""The networks and what evaluates them.

Read in this order:
- shape.py, encode.py: a network's sizes, and its inputs for a belief.  network.py: its weights by name.
- cvpn.py: the network of values and policies.  resnet.py, hands.py, stations.py: for boards, hold'em, Scotland Yard.
- inference.py: which evaluator a search gets.  values.py: an evaluator for values alone.
- hand_inputs.py, hand_rows.py: what hands.py sees, and its layers by Numba.  station_rows.py: those of stations.py.
- packed_layers.py: linear layers as those kernels read them.
- cpu/: Numba kernels for one core.  serving/: one network for many processes.
"""

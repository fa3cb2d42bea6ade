"""Leaves of searches: beliefs out, evaluations in, and counterfactual values made of them.

Read in this order:
- evaluator.py: what a belief and its evaluation are, and what an evaluator is.
- kernels.py: ranges at leaves as beliefs, and answers back into the tree.
- weighing.py: counterfactual values from the answers.
- drive.py: many searches whose beliefs are evaluated in one call.
- memory.py: answers that are used again.  pairing.py: what networks read of a public tree.
"""

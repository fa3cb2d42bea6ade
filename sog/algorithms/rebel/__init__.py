"""ReBeL (Brown et al., NeurIPS 2020, arXiv 2007.13544): depth-limited subgames and a network of values of beliefs.

A game is played as a chain of subgames, each solved by CFR-D or fictitious play down to a few actions. The policy that
is played, and the belief that is passed down, are those of one random iteration.

Read in this order:
- `sog.searches.depth_limited.solve`: the search: subgames side by side, each solved down to its depth.
- agent.py: play: the chain of subgames, and the sampled iteration (ReBeL, section 6), which
  training and measuring draw too (`sample_iterations`).
- actor.py, leaf_sampling.py: training: every subgame on the way leaves a row (ReBeL, Algorithms 1 and 2).
- presets.py: the settings for two cores, and those of the paper's appendix G.
- playthroughs.py, measure.py: exploitability of what is played (ReBeL, Table 2).
- algorithm.py: all of it as one algorithm with settings.
"""

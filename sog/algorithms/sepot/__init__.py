"""SePoT: look-ahead search on top of policy networks, for games with too many states to list (SePoT, IJCAI 2024).

A policy learner, R-NaD in the paper, learns a policy. Beside it transformations of that policy are learned, and a
critic of what histories are worth under them. A search solves a small subgame at the end of which the opponent chooses
among the transformed policies.

Read in this order:
- `sog.algorithms.policy`: the learner of the policy.
- transformations.py, critic.py, learner.py: what is learned beside it (Algorithm 1).
- below.py, ranges.py, subgame.py, search.py: the search (Algorithm 2).
- trained_critic.py: the critic as a checkpoint keeps it.  agent.py: play.
- presets.py: the settings for two cores, and the paper's Table 2.
- algorithm.py: all of it as one algorithm with settings.
"""

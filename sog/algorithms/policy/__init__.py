"""Policy learners, which play a network's policy without search: R-NaD, MMD and NashPG.

R-NaD (DeepNash, Science 2022) regularises the game. MMD (Sokota et al., ICLR 2023) and NashPG (arXiv 2510.18183) are
PPO with a pull towards another policy. They learn games by histories; SePoT searches on top of one of them.

Read in this order:
- trajectories.py: games played side by side.  networks.py: the policy network.
- rnad.py with vtrace.py and action_critic.py: R-NaD.  ppo.py: MMD and NashPG.  learners.py: what the loop asks of each.
- loop.py: the training loop.  presets.py: the settings.
- agent.py: play.  responses.py, best_response.py: how exploitability is found.  matches.py: games between policies.
- algorithm.py: all of it as three algorithms with settings.
"""

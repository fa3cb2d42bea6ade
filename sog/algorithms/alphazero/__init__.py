"""AlphaZero (Silver et al., Science 2018): Monte Carlo tree search with a policy and value network.

It is here to be compared with Student of Games: same games, same networks, same measures.

Read in this order:
- `sog.searches.mcts.search`: the search, with PUCT.
- player.py: play.  actor.py: self-play on games without planes. On games with planes boards/searches.py: MctsSearch
  chooses the moves of self-play, so a change of the rule is made in both.
- presets.py: the settings for two cores, and the paper's own.
- algorithm.py: all of it as one algorithm with settings.
"""

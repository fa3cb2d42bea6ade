"""Student of Games (Schmid et al., Science Advances 2023) and its preprint Player of Games (arXiv 2112.03178).

A player re-solves the subgame at every decision by growing-tree CFR, with a counterfactual value-and-policy network at
the leaves. The network learns from self-play: from the policies of its searches, and from queries, which are beliefs
that a search evaluated and that are then solved more closely.

Read in this order:
- `sog.searches.gtcfr.search`: growing-tree CFR itself, PoG's Algorithm 1.
- `sog.play.resolver`: one chain of searches a player, with the re-solving gadget.
- selfplay.py: one game of sound self-play (PoG, Algorithm 2).  queries.py: queries and their training rows.
- actor.py: many games and queries side by side, turned into rows.
- presets.py, presets_holdem.py, presets_paper.py: the settings for two cores, and PoG's Table 3.
- player.py, chain_player.py: play on boards.  measure.py: exploitability over seeds.
- turn_spots.py: exploitability in hold'em from the turn on, with the rivers solved anew.
- algorithm.py: all of it as one algorithm with settings.
"""

"""Checks against other programs, exact values and fixed positions; and of the code itself.

- figures.py, documented.py, nudged.py: figures of the documents beside what their commands print.
- mutations.py, broken_lines.py: which tests see a broken line.  coverage.py: how often intervals hold the truth.
- digests.py, house.py: equal bits before and after a change; how readable the code is.
- rules.py, random_games.py, histories.py, go_score.py, agreement.py: rules beside other programs.
- chess_scales.py, connect_four_mistakes.py, fixed_positions.py: play on fixed positions, which chess_mates.py and
  connect_four_sets.py make.  connect_four_ablation.py: what each technique of self-play is worth.
- exact_critic.py, sepot_critic.py: learned values beside exact ones.
- fits.py, stops.py, training_process.py: `sog train` as a process.  packing.py, packed_learning.py: packed rows.
"""

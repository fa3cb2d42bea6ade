"""The laboratory: experiments that make the papers' figures again, checks, benchmarks and baselines.

It uses the library `sog`, which never imports it. `sog reproduce` and `sog bench` are its commands (cli/).

Read in this order:
- study.py: an experiment's points, how they are computed and kept.  runs.py: training runs as experiments use them.
- reproduce.py: how experiments are found and run.  plots.py: their pictures.
- papers/: one file a figure or table.  checks/: comparisons with exact values and other programs.
- bench/: speed.  scale/: what a cluster would do.  baselines/: other learners of the papers' tables.
"""

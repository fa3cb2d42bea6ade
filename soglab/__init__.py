"""The laboratory: experiments that remake the papers' figures, checks, benchmarks and baselines.

It uses the library `sog`, which never imports it. `sog reproduce` and `sog bench` are its commands (cli/).
papers/: one file a figure or table.  checks/: comparisons with other programs.  bench/: speed.  scale/: what a cluster
would do.  baselines/: other learners of the papers' tables.
"""

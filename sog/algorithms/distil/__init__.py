"""From a critic of histories, which SePoT learns, to a network of values at public states, which GT-CFR searches with.

Read in this order: beliefs.py (where to ask), teacher.py (what the critic answers), distil.py (the learning),
from_checkpoint.py (from a run's folder to a checkpoint).
"""

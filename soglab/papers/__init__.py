"""The papers' figures and tables, one file each, run by `sog reproduce`.

rebel_rps.py is a short one to read first. Many names begin with the paper: cfrd, pog, rebel, sepot or sog; those with
teh are about turn endgame hold'em (ReBeL). elo_matches.py and sepot_runs.py are what several share.
"""

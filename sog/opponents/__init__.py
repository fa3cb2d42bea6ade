"""Opponents of fixed strength and exact solvers: alpha-beta, rollouts, OpenSpiel's programs, endgame tables.

Read rating.py (a player made of a function that rates moves), alpha_beta.py and random_player.py, the smallest two.
connect_four/ and chess/ have exact answers; scotland_yard/, holdem/ and openspiel_alphazero/ are opponents of a game.
"""

"""Opponents of fixed strength and exact solvers: alpha-beta, rollouts, OpenSpiel's programs, endgame tables."""

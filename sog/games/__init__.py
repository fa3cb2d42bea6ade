"""Games: rules by public states (base.py) or by histories (histories/), and how a game string names them (catalog.py).

rules/ has the small games, boards/ those of perfect information, holdem/ and scotland_yard/ the large ones, openspiel/
any game of OpenSpiel's that can be listed, and checks/ what a game must keep.
"""

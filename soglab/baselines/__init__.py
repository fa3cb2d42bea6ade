"""Other learners of the papers' tables: tabular Q-learning, DQN, A2C, IS-MCTS and OpenSpiel's AlphaZero.

Read reinforcement.py (Q-learning, DQN and A2C in self-play), dqn.py (the DQN agent), ismcts.py, openspiel_alphazero/.
Other programs' drivers, built in their own checkouts, are postflop_spot.rs and rebel_subgames.cpp (rebel_network.py).
"""

"""Other learners of the papers' tables: tabular Q-learning, DQN, A2C, IS-MCTS and OpenSpiel's AlphaZero."""

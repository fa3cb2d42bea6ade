"""Games of perfect information on boards: chess, Go, connect four and tic-tac-toe, on OpenSpiel's rules."""

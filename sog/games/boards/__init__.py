"""Games of perfect information on boards: chess, Go, connect four and tic-tac-toe, on OpenSpiel's rules.

Read in this order:
- tic_tac_toe.py: the smallest.  positions.py: OpenSpiel's states as positions, which the other games derive from.
- connect_four.py, go.py, chess.py: the games.
- connect_four_cells.py, go_cells.py, chess_cells.py: the same games as kernels play them in trees, and the planes.
- go_area.py, go_life.py, go_resumed.py: how Go is scored, and play from positions that GTP sets up.
- chess_moves.py, chess_positions.py, fen.py, chess_starts.py: chess moves as action numbers, and positions as FENs.
- pgn.py, pgn_reader.py, sgf.py, sgf_reader.py: records of games.
"""

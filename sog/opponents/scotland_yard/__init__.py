"""Scotland Yard's opponents. Read board, bits, moves, replay, categories, playouts, tree, player, matches."""

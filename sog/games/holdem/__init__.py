"""No-limit Texas hold'em for two players: cards, betting, ranges of hands, and the game by public states."""

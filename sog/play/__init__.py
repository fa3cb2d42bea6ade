"""Play: an agent's policy at public states, re-solving, players of boards, and the referee of a game."""

"""The solver for river and turn spots of hold'em: every hand at once, in float32 vectors of hands."""

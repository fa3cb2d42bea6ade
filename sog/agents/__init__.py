"""Agents by what a user calls them: a checkpoint, a game, a class of the user's own; and agents as OpenSpiel's bots."""

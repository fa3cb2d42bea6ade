"""The project's exceptions: each message is one line that a person at the terminal can act on."""


class SogError(Exception):
    """Base of all errors that the command line reports in one line with exit code 2."""


class GameError(SogError):
    """A game name, parameter or spot that cannot be played."""


class CheckpointError(SogError):
    """A checkpoint that is missing, truncated, foreign or of another game."""


class SettingError(SogError):
    """A setting outside its range, such as a negative number of simulations."""

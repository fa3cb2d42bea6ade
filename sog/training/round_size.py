"""How many games a round of self-play has where the settings leave it to the machine: what takes about half a minute.

The first round is one game a worker. The rounds after it are as large as the games so far say, but at most four times
the one before, until rounds have taken a minute together; then the number is settled. It is kept in the checkpoint, so
that a resumed run plays the rounds that the run would have played.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

from sog.training.state import State

__all__ = ["MEASURED_SECONDS", "ROUND_SECONDS", "RoundSize", "read_round_size"]

ROUND_SECONDS: Final = 30.0  # that a round is to take
MEASURED_SECONDS: Final = 60.0  # of rounds together, after which the number of games is settled
_GROWTH: Final = 4  # of a round, at most, beside the one before: a first game may be over after a move
_MOST: Final = 256  # games


@dataclass
class RoundSize:
    """The games that a worker plays in the next round.

    settled: whether it stays so.  played, seconds: games of a worker, and what they took, in the rounds measured.
    """

    games: int
    settled: bool
    played: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, games: int) -> RoundSize:
        """As a setting says; 0 for what takes about half a minute."""
        return cls(games or 1, bool(games))

    def measure(self, seconds: float, note: Callable[[str], None]) -> None:
        """A whole round of `games` games has taken this many seconds."""
        if self.settled:
            return
        self.played += self.games
        self.seconds += seconds
        fitting = int(ROUND_SECONDS * self.played / max(self.seconds, 1e-9))
        self.games = max(1, min(fitting, _GROWTH * self.games, _MOST))
        self.settled = self.seconds >= MEASURED_SECONDS
        if self.settled:
            takes = f"about {self.games * self.seconds / self.played:.0f} seconds on this machine"
            games = f"{self.games} game{'s' * (self.games > 1)} a worker"
            note(f"a round is {games} from now on, {takes}; the setting games sets it")

    def state(self) -> State:
        """Its part of a training state."""
        return asdict(self)


def read_round_size(state: State) -> RoundSize:
    """What `RoundSize.state` wrote; one of `sog.training.run.DAMAGE` where it did not."""
    size = RoundSize(int(state["games"]), bool(state["settled"]), int(state["played"]), float(state["seconds"]))
    if not (1 <= size.games <= _MOST and 0 <= size.played < 2**31 and 0.0 <= size.seconds < 2**31):
        raise ValueError("round size")
    return size

"""GTP's clocks and those of its KGS extension: what a player has left, and how much of it a move may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sog.protocols.engine import share_of_clock, within

__all__ = ["UNSEEN", "GtpClock", "TimeSettings"]

# Seconds that a client's clock has for a move beyond ours: until a busy machine reads its command, and our answer.
UNSEEN: Final = 0.05

# Stones of a Canadian period that one move may take the time of, where earlier moves left it.
_BANKED: Final = 2.0


@dataclass(frozen=True)
class TimeSettings:
    """Seconds of main time, and of the periods behind it.

    period: 0 where nothing comes after the main time.  stones: to be played in each period (Canadian).
    periods: of byo-yomi, 0 on other clocks: a move that ends in time leaves its period whole.
    """

    main: float
    period: float = 0.0
    stones: int = 0
    periods: int = 0

    @property
    def a_move(self) -> float:
        """Seconds of a period for one move."""
        return self.period if self.periods else self.period / max(1, self.stones)

    @property
    def begun(self) -> tuple[float, int]:
        """What is left when the first period begins; nothing without periods."""
        return (self.period, self.periods or self.stones) if self.period > 0 else (0.0, 0)


class GtpClock:
    """Both players' time: as the client said last, less what moves took since.

    left: of a colour the seconds, and the stones or periods they are for, 0 in main time.
    """

    def __init__(self, settings: TimeSettings | None = None) -> None:
        """settings: None where no clock runs, unless `say` says what is left."""
        self.settings = settings
        self.left: dict[int, tuple[float, int]] = {}

    def restart(self) -> None:
        """A new game with the same settings."""
        self.left = {}

    def say(self, colour: int, seconds: float, count: int) -> None:
        """What the client says is left. No seconds for no stones: the main time is over and a period begins."""
        over = seconds <= 0 and count == 0 and self.settings is not None
        self.left[colour] = self.settings.begun if over and self.settings else (max(0.0, seconds), count)

    def of(self, colour: int) -> tuple[float, int] | None:
        """Seconds left, and for how many stones or periods, 0 in main time; None without a clock."""
        settings = self.settings
        if colour in self.left or settings is None:
            return self.left.get(colour)
        return (settings.main, 0) if settings.main > 0 else settings.begun

    def seconds(self, colour: int) -> float | None:
        """How long a move may take; None where no clock runs."""
        if (left := self.of(colour)) is None:
            return None
        seconds, count = left
        settings = self.settings or TimeSettings(0.0)
        if count == 0:  # a part of the main time beside what a period gives each move
            behind = settings.a_move
            return min(share_of_clock(seconds) + behind, within(seconds + behind))
        if settings.periods:
            return within(seconds)
        most = _BANKED * settings.a_move if settings.a_move > 0 else within(seconds)
        return min(share_of_clock(seconds, moves_to_go=count), most)

    def spend(self, colour: int, seconds: float) -> None:
        """Take a move's time from what is left."""
        if (at := self.of(colour)) is None:
            return
        settings = self.settings or TimeSettings(0.0)
        (left, count), period = at, settings.period
        if count == 0 and seconds > left and period > 0:  # the main time ended within this move
            (left, count), seconds = settings.begun, seconds - left
        if count and settings.periods:
            self.left[colour] = period, max(1, count - int(seconds / period))
        elif count > 1:
            self.left[colour] = max(0.0, left - seconds), count - 1
        elif count:  # the last stone of its period
            self.left[colour] = settings.begun if period > 0 else (max(0.0, left - seconds), 1)
        else:
            self.left[colour] = max(0.0, left - seconds), 0

"""In which turns of a solve the leaves are evaluated, and who needs their values.

A rule of the CFR family goes through turns: one an iteration where both players update together, otherwise two.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.tree.players import Players

__all__ = ["TurnPlan", "Visited", "evaluated", "plan_turns"]

# The iterations that are read; None: all.
Visited = Collection[int] | None


@dataclass(frozen=True)
class TurnPlan:
    """A solve's turns, from 0.

    users: for each turn the players who will need the leaves' values in it; NOBODY: they are not evaluated.
    stops: the turns before which leaves are evaluated or an iteration is read, in order; then the number of turns.
    origin: the first turn that is played, after a warm start.  each: turns an iteration.
    """

    users: tuple[Players, ...]
    stops: tuple[int, ...]
    origin: int
    each: int

    def users_at(self, turn: int) -> Players:
        """As `users`; NOBODY after the last turn."""
        return self.users[turn] if turn < len(self.users) else Players.NOBODY

    def begins(self, turn: int) -> int | None:
        """The number of the iteration, 1, 2, ..., that begins with this turn; None where none does."""
        whole = turn < len(self.users) and turn % self.each == 0
        return turn // self.each + 1 if whole else None


def plan_turns(settings: SolveSettings, visited: Visited) -> TurnPlan:
    """The turns of a solve by a rule of the CFR family, of which some iterations are read."""
    each = 1 if settings.simultaneous else 2
    origin = each * settings.warm
    users = _users(settings)
    read = (n % each == 0 and (visited is None or n // each + 1 in visited) for n in range(len(users)))
    # Python is needed before a turn that evaluates or begins an iteration that is read; the turns between run in one
    # call.
    stops = [n for n, reads in enumerate(read) if n >= origin and (reads or users[n])]
    return TurnPlan(tuple(users), (*stops, len(users)), origin, each)


def _users(settings: SolveSettings) -> list[Players]:
    """See `TurnPlan.users`."""
    fresh, out = evaluated(settings, settings.warm + 1), []
    turns = [Players.BOTH] if settings.simultaneous else [Players.FIRST, Players.SECOND]
    for t in range(1, settings.iterations + 1):
        out += turns if t in fresh else [Players.NOBODY] * len(turns)
    return out


def evaluated(settings: SolveSettings, first: int) -> frozenset[int]:
    """The iterations from `first` on in which leaves are evaluated: all, or where values are recycled ever fewer."""
    iterations, latest = set(), 0
    for t in range(first, settings.iterations + 1):
        # The average policy changes by about 1 / t in iteration t, so ever longer stretches share one evaluation
        # (ReBeL, appendix E: "recycle the values").
        if not latest or t > (1.0 + settings.recycle) * latest:
            iterations.add(t)
            latest = t
    return frozenset(iterations)

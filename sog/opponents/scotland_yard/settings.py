"""PimBot's settings: each part of the program has a switch, and each number says where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Final

from sog.errors import SettingError
from sog.opponents.scotland_yard.categories import CLASSES, KINDS, PUBLISHED
from sog.opponents.scotland_yard.playouts import DETECTIVE_POLICIES, X_POLICIES

__all__ = ["OWN_MINIMUM", "TABLES", "PimBotSettings"]

_DRAWS: Final = ("station", "class")

# The table of each kind of categories that is used where none is given. Those by average distance and by type are ours,
# of 120 games of the default settings with themselves in London (`sog reproduce pimbot-ablation` prints such tables);
# by minimum distance these games have OWN_MINIMUM, in place of the published table.
OWN_MINIMUM: Final = (0.124, 0.505, 0.415, 0.265, 0.182)
TABLES: Final[dict[str, tuple[float, ...]]] = {
    "none": (1.0,) * CLASSES,
    "minimum": PUBLISHED,
    "average": (0.030, 0.211, 0.480, 0.437, 0.318),
    "type": (0.811, 0.223, 0.067, 0.0, 0.0),
}


@dataclass(frozen=True)
class PimBotSettings:
    """What is said to be ours was chosen here, since no public text gives it.

    simulations: of each decision; every detective's move is one.
    exploration: C of s/n + C sqrt(ln N / n) + W h / (n (1 - s/n) + 1); 0.5 in one program that cites the paper.
    history: W of progressive history, 5 in that program; 0 leaves it out. h is the mean score of the action in this
        search's tree, by player and action; that playouts do not count is ours.
    reduction: r. A detective's own catch scores 1 for him, another's 1 - r; 0 leaves it out. The values in public
        programs are 0.1 to 0.5, ours is 0.25. All score 1 where Mr X has no move, which is ours.
    trees: 0 for one tree that draws Mr X's station in each simulation; k for k trees with one station each, which
        share the simulations and add up their visits.
    narrow: whether every move of a detective narrows the possible stations; otherwise only Mr X's tickets do.
    categories: by which a drawn station is weighed: minimum or average distance to the detectives, type, or none.
    table: the weights of the five classes; none for the shipped ones (`TABLES`).
    draw: station, each by the weight of its class; or class, by its weight, and a station of it.
    filtered: whether Mr X's moves are filtered, in the tree and in playouts.
    double_within: the largest mean distance to the detectives at which he may play a double card; 3 in one program.
    x_playout: random, closest (MCD) or total (MTD).
    detective_playout: of a detective's search: random, drawn, redrawn or total (playouts.py).
    hidden_playout: the detectives' of Mr X's search. MTD is best in that program.
    x_epsilon, detective_epsilon: of Mr X's and of a detective's search; 0.1 and 0.2 in that program.
    playout_double: the chance of a double card in a playout, where it may be played; 0.3 in one program.
    """

    simulations: int = 1_000
    exploration: float = 0.5
    history: float = 5.0
    reduction: float = 0.25
    trees: int = 0
    narrow: bool = True
    categories: str = "minimum"
    table: tuple[float, ...] = ()
    draw: str = "station"
    filtered: bool = True
    double_within: float = 3.0
    x_playout: str = "closest"
    detective_playout: str = "redrawn"
    hidden_playout: str = "total"
    x_epsilon: float = 0.1
    detective_epsilon: float = 0.2
    playout_double: float = 0.3

    def __post_init__(self) -> None:
        """SettingError for a value outside its range."""
        choices = {"categories": KINDS, "draw": _DRAWS, "x_playout": X_POLICIES}
        choices |= dict.fromkeys(("detective_playout", "hidden_playout"), DETECTIVE_POLICIES)
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise SettingError(f"{name}: {getattr(self, name)!r}, must be one of {', '.join(allowed)}")
        if self.hidden_playout == "drawn":
            raise SettingError("hidden_playout: drawn would have the detectives know Mr X's own station")
        for name in ("exploration", "history", "double_within"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise SettingError(f"{name}: {getattr(self, name)}, must be 0 or more")
        for name in ("reduction", "x_epsilon", "detective_epsilon", "playout_double"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise SettingError(f"{name}: {getattr(self, name)}, must be between 0 and 1")
        if self.simulations < 1 or self.trees < 0:
            raise SettingError("simulations must be at least 1, and trees at least 0")
        if self.table and (len(self.table) != CLASSES or min(self.table) < 0.0):
            raise SettingError(f"table: {CLASSES} weights of 0 or more, not {self.table}")

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each class."""
        return self.table or TABLES[self.categories]

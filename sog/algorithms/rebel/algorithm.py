"""ReBeL as a learning algorithm: what can be set, how it trains, plays and is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from sog.algorithms.base import Algorithm, Asked, MakeAgent, Measured, Rules, count_of
from sog.algorithms.rebel.actor import RebelActing
from sog.algorithms.rebel.agent import RebelAgent, RebelSettings
from sog.algorithms.rebel.measure import measure_rebel
from sog.algorithms.rebel.playthroughs import mean_exploitability
from sog.algorithms.rebel.presets import playing, rebel_preset, with_solver
from sog.algorithms.settings import changed, coerced
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.strings import Parameter
from sog.measure.listed import listed_with_bar
from sog.nets.values import value_evaluator
from sog.progress import OpenBar
from sog.searches.depth_limited.settings import CFR_D, Solver
from sog.training.checkpoint import load_meta
from sog.training.settings import RunSettings, TrainSettings, preset_of
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.nets.cvpn import CVPN
    from sog.searches.depth_limited.settings import SolveSettings
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened

__all__ = ["REBEL", "Rebel"]

REBEL: Final = "rebel"
_UPDATES: Final = 1024  # of one player in a subgame of play (ReBeL, Table 2)


@dataclass(frozen=True, kw_only=True)
class Rebel(Algorithm):
    """ReBeL: depth-limited subgames solved by CFR-D or fictitious play, beliefs of a random iteration (ReBeL, 2020).

    solver: how subgames are solved: cfr-d (the default), cfr-ave, modified-cfr-ave, fp or flop (appendices D and E).
    updates: how often a player's policy is updated in a subgame; in play by default 1,024.
    depth: actions of players from a subgame's root to its leaves.
    warm: how many iterations the warm start from the network's policy counts as (appendix J); 0 for no warm start.
    recycle: leaves are evaluated again once the iteration's number has grown by this share; 0 for every iteration.
    """

    name: ClassVar[str] = REBEL
    title: ClassVar[str] = "ReBeL"
    measure_is: ClassVar[str] = "ReBeL's mean policy"
    learns_with: ClassVar[tuple[type, ...]] = (TrainSettings, RebelActing)
    carried: ClassVar[tuple[str, ...]] = ("solver", "depth", "warm", "recycle")
    measured_with: ClassVar[tuple[str, ...]] = ("playthroughs", "limit_gb")
    plays_hidden: ClassVar[bool] = True

    solver: str = ""
    updates: int | None = None
    depth: int | None = None
    warm: int | None = None
    recycle: float | None = None

    def __post_init__(self) -> None:
        self.solving("")  # refuses settings that make no sense together

    @property
    def solver_named(self) -> Solver:
        """The solver of subgames; SettingError for an unknown name."""
        solver: Solver = coerced("solver", self.solver or CFR_D.name, Solver)
        return solver

    def preset(self, game: Rules, name: str) -> TrainSettings:
        assert isinstance(game, Game)
        return rebel_preset(game, name)

    def _changed(self, settings: RunSettings, changes: Mapping[str, Parameter]) -> RunSettings:
        """The solver first: it decides updates, targets and the shape of the network, which may then be set."""
        assert isinstance(settings, TrainSettings)
        if self.solver or self.warm:
            settings = with_solver(settings, self.solver_named, self.warm or 0)
        return super()._changed(settings, {name: value for name, value in changes.items() if name != "solver"})

    def solving(self, preset: str) -> SolveSettings:
        """How subgames of play are solved with a network that this preset trained (ReBeL, section 6)."""
        settings = replace(playing(preset), solver=self.solver_named, updates=_UPDATES)
        own = {name: value for name, value in self.given().items() if name in self.own() and name != "network"}
        # Set already, by its name; the others are fields of SolveSettings.
        own.pop("solver", None)
        found: SolveSettings = changed(settings, own)
        return found

    def measure(self, public: PublicTree, network: CVPN, preset: str) -> float:
        """Exploitability of the mean policies with their beliefs passed down: an unsafe search."""
        settings = RebelSettings(self.varied(updates=_UPDATES).solving(preset))
        return mean_exploitability(public, settings, _evaluator(network, settings.solve))

    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        """Agents that use the solver that the network was trained with, unless another is set."""
        settings = RebelSettings(self.solving(opened.preset))
        evaluator = _evaluator(opened.network, settings.solve)
        return lambda player, seed: RebelAgent(public, player, settings, evaluator, seed)

    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """The average of sampled playthroughs, by default 1,024, and the mean policy beside it."""
        playthroughs = count_of("playthroughs", asked.playthroughs, 1024)
        folder = find_checkpoint(str(checkpoint), REBEL)
        meta = load_meta(folder)
        solve = self.solving(preset_of(meta.settings))
        listed_with_bar(make_game(meta.game).name, asked.limit_gb, bar)
        with bar(f"exploit {checkpoint}", playthroughs, "playthroughs") as report:
            found = measure_rebel(folder, RebelSettings(solve), playthroughs, 0, lambda done: report(done, ""))
        unit = make_game(found.game).unit.name
        # The sampled figure counts: it bounds the safe agent's exploitability from above (playthroughs.py).
        return Measured(
            found.game,
            unit,
            (found.sampled,),
            f"ReBeL with {solve.solver.name}, {solve.updates} updates, depth {solve.depth}",
            {
                "algorithm": REBEL,
                "solver": solve.solver.name,
                "depth": solve.depth,
                "warm": solve.warm,
                "recycle": solve.recycle,
                "updates": solve.updates,
                "playthroughs": playthroughs,
            },
            {"mean_policy": found.mean, "solves": found.solves},
            of_what=f" of {playthroughs} playthroughs",
            further=f"; of the mean policy (unsafe) {found.mean:.4g}",
        )


def _evaluator(network: CVPN, solve: SolveSettings) -> Evaluator:
    return value_evaluator(network, solve.warm > 0, solve.pairs)

"""ReBeL as a learning algorithm: what can be set, how it trains, plays and is measured."""

from __future__ import annotations

import time
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
from sog.algorithms.rebel.turn_spots import RIVER_ITERATIONS, measure_average, measure_turn
from sog.algorithms.settings import changed, coerced
from sog.errors import SettingError
from sog.games.base import Game
from sog.games.catalog import make_game
from sog.games.holdem.game import Holdem
from sog.games.strings import Parameter
from sog.measure.endgame import is_turn_spot
from sog.measure.listed import listed_with_bar
from sog.nets.one_core import one_core
from sog.nets.values import value_evaluator
from sog.progress import OpenBar
from sog.searches.depth_limited.settings import CFR_D, Solver
from sog.training.checkpoint import load_meta, load_network
from sog.training.opened import played_game
from sog.training.settings import RunSettings, TrainSettings, preset_of
from sog.training.shipped import find_checkpoint

if TYPE_CHECKING:
    from sog.nets.network import Network
    from sog.searches.depth_limited.settings import SolveSettings
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened

__all__ = ["REBEL", "Rebel"]

REBEL: Final = "rebel"


@dataclass(frozen=True, kw_only=True)
class Rebel(Algorithm):
    """ReBeL: depth-limited subgames solved by CFR-D or fictitious play, beliefs of a random iteration (ReBeL, 2020).

    solver: how subgames are solved: cfr-d (the default), cfr-ave, modified-cfr-ave, fp or flop (appendices D and E).
    updates: how often a player's policy is updated in a subgame; in play by default 1,024, on hold'em's turn 512.
    depth: actions of players from a subgame's root to its leaves.
    warm: how many iterations the warm start from the network's policy counts as (appendix J); 0 for no warm start.
    recycle: leaves are evaluated again once the iteration's number has grown by this share; 0 for every iteration.
    """

    name: ClassVar[str] = REBEL
    title: ClassVar[str] = "ReBeL"
    measure_is: ClassVar[str] = "ReBeL's mean policy"
    learns_with: ClassVar[tuple[type, ...]] = (TrainSettings, RebelActing)
    carried: ClassVar[tuple[str, ...]] = ("solver", "depth", "warm", "recycle")
    measured_with: ClassVar[tuple[str, ...]] = ("playthroughs", "limit_gb", "game")
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

    def solving(self, preset: str, game: object = None) -> SolveSettings:
        """How subgames of play are solved with a network that this preset trained (ReBeL, section 6)."""
        settings = replace(playing(preset, game), solver=self.solver_named)
        own = {name: value for name, value in self.given().items() if name in self.own() and name != "network"}
        # Set already, by its name; the others are fields of SolveSettings.
        own.pop("solver", None)
        solve_settings: SolveSettings = changed(settings, own)
        return solve_settings

    def measure(self, public: PublicTree, network: Network, preset: str) -> float:
        """Exploitability of the mean policies with their beliefs passed down: an unsafe search.

        In turn spots of hold'em that of all iterations' policies (turn_spots.py).
        """
        game = public.game
        solving = replace(self.solving(preset, game), updates=playing(preset, game).updates)
        settings = RebelSettings(solving)
        if is_turn_spot(game):
            return measure_turn(game, solving, _evaluator(network, solving)).exploitability
        return mean_exploitability(public, settings, _evaluator(network, settings.solve))

    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        """Agents that use the solver that the network was trained with, unless another is set."""
        settings = RebelSettings(self.solving(opened.preset, public.game))
        evaluator = _evaluator(opened.network, settings.solve)
        return lambda player, seed: RebelAgent(public, player, settings, evaluator, seed)

    def exploit(self, checkpoint: str | Path, asked: Asked, bar: OpenBar) -> Measured:
        """The average of sampled playthroughs, by default 1,024, and the mean policy beside it."""
        playthroughs = count_of("playthroughs", asked.playthroughs, 1024)
        folder = find_checkpoint(str(checkpoint), REBEL)
        meta = load_meta(folder)
        game = make_game(played_game(str(checkpoint), meta.shape, make_game(meta.game), asked.game))
        solve = self.solving(preset_of(meta.settings), game)
        if is_turn_spot(game):
            return self._exploit_turn_spot(game, folder, solve, asked, bar)
        if game.name != meta.game:
            raise SettingError(
                f"rebel is measured on the game of its network, {meta.game}, or on hold'em from the turn"
            )
        listed_with_bar(game.name, asked.limit_gb, bar)
        with bar(f"exploit {checkpoint}", playthroughs, "playthroughs") as report:
            measured = measure_rebel(folder, RebelSettings(solve), playthroughs, 0, lambda done: report(done, ""))
        unit = make_game(measured.game).unit.name
        # The sampled figure counts: it bounds the safe agent's exploitability from above (playthroughs.py).
        return Measured(
            measured.game,
            unit,
            (measured.sampled,),
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
            {"mean_policy": measured.mean, "solves": measured.solves},
            over=f" of {playthroughs} playthroughs",
            further=f"; of the mean policy (unsafe) {measured.mean:.4g}",
        )

    def _exploit_turn_spot(
        self, game: Holdem, folder: Path, solve: SolveSettings, asked: Asked, bar: OpenBar
    ) -> Measured:
        """A turn spot's figures, in chips: of all iterations of one solve, or of --playthroughs drawn ones."""
        drawn = count_of("playthroughs", asked.playthroughs, solve.iterations)
        evaluator, started = _evaluator(load_network(folder)[1], solve), time.perf_counter()
        with bar(f"exploit {game.name}", drawn, "iterations") as report, one_core():
            measured = measure_turn(game, solve, evaluator, asked.playthroughs or 0, done=lambda done: report(done, ""))
            mean = measure_average(game, solve, evaluator)
        return Measured(
            game.name,
            "chips",
            (measured.exploitability,),
            f"ReBeL with {solve.solver.name}, {solve.updates} updates, the turn solved once; "
            f"rivers by {RIVER_ITERATIONS} iterations of DCFR from each iteration's ranges",
            {
                "algorithm": REBEL,
                "solver": solve.solver.name,
                "warm": solve.warm,
                "updates": solve.updates,
                "iterations_played": drawn,
                "river_iterations": RIVER_ITERATIONS,
            },
            {
                "percent_of_pot": 100 * measured.of_pot,
                "value": measured.value,
                "best_response_0": measured.best[0],
                "best_response_1": measured.best[1],
                "mean_policy_safe_rivers": mean.exploitability,
                "solve_and_river_seconds": time.perf_counter() - started,
            },
            over=f" of {drawn} drawn iteration{'s' * (drawn > 1)}" if asked.playthroughs else " of all iterations",
            further=f", {100 * measured.of_pot:.3g}% of the pot; "
            f"of the mean policy with safe rivers {mean.exploitability:.4g}",
        )


def _evaluator(network: Network, solve: SolveSettings) -> Evaluator:
    return value_evaluator(network, solve.warm > 0, solve.pairs)

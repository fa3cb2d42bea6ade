"""Simulations a second of perfect-information search with a constant network, beside OpenSpiel's MCTS.

OpenSpiel's Python MCTS gets the same constant evaluator; its C++ MCTS takes none from Python and does one random
rollout; mctx, where it is installed, has no rules of the game. All search the game's first position anew each time, in
turn, on one core; processor time, medians. With a real network the network's share of the time is given too.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts as openspiel_mcts

from sog.errors import SettingError
from sog.games.boards.positions import BoardPosition, PositionGame
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.nets.shape import shape_for
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.mcts import search as mcts
from sog.searches.tree.public_tree import PublicTree
from soglab.bench import mctx_search
from soglab.bench.evaluators import SameAnswers, TimedEvaluator
from soglab.bench.form import Benchmark, Column, Report
from soglab.bench.search import name_of
from soglab.bench.stopwatch import in_turn

GAMES: Final = ("chess", "go(board_size=9,komi=7.5)", "connect_four")
CONSTANT: Final = "constant"
ROLLOUT: Final = "random rollout"
_UCT_C: Final = 1.4

# Searches the first position once.
Once = Callable[[], None]


@dataclass(frozen=True)
class SimulationsRow:
    """simulations_per_second: of processor time.  network_share: of that time, 0 without a network."""

    game: Annotated[str, Column("game")]
    search: Annotated[str, Column("search")]
    network: Annotated[str, Column("network")]
    simulations_per_second: Annotated[float, Column("per s", ",.4g")]
    network_share: Annotated[float, Column("network", ".0%")]


SIMULATIONS: Final = Benchmark("bench simulations", "games", "simulations from the first position, one core")


def board(name: str) -> PositionGame:
    """The game that a string names; SettingError where it is no board game on OpenSpiel's positions."""
    game = make_game(name)
    if not isinstance(game, PositionGame):
        raise SettingError(f"{game.name} is no board game on OpenSpiel's positions, which its MCTS beside ours needs")
    return game


def bench_simulations(
    games: Sequence[PositionGame], simulations: int, rounds: int, report: Report
) -> Iterator[SimulationsRow]:
    """Rows of each game: ours at c = 1 and 10, AlphaZero's MCTS, OpenSpiel's two, and ours with a network.

    `sweeps`: by sweeps over the whole tree, as `sog(paths=false)`, in place of updates of what was just passed.
    """
    with one_core():
        for number, game in enumerate(games):
            report(number, game.name)
            yield from _constant_rows(game, simulations, rounds)
            for blocks, width in ((4, 32), (6, 64)):
                yield _network_row(game, simulations, rounds, blocks, width)


def _constant_rows(game: PositionGame, simulations: int, rounds: int) -> Iterator[SimulationsRow]:
    searches: dict[tuple[str, str], Once] = {
        (f"SoG({simulations},1)", CONSTANT): _sog(game, Budget(simulations, 1.0), _zeros(game)),
        (f"SoG({simulations},1), sweeps", CONSTANT): _sog(game, Budget(simulations, 1.0), _zeros(game), paths=False),
        (f"SoG({simulations},10)", CONSTANT): _sog(game, Budget(simulations, 10.0), _zeros(game)),
        (f"AlphaZero({simulations})", CONSTANT): _alphazero(game, simulations),
        (f"OpenSpiel MCTS, Python ({simulations})", CONSTANT): _openspiel_python(game, simulations),
        (f"OpenSpiel MCTS, C++ ({simulations})", ROLLOUT): _openspiel_cpp(game, simulations),
    }
    if mctx_search.is_installed():
        searches[f"mctx ({simulations})", CONSTANT] = mctx_search.mctx_search(game.num_actions, simulations, batch=1)
    for (search_name, network), times in in_turn(searches, rounds + 1).items():
        each = statistics.median(times[1:])  # the first turn compiles kernels
        yield SimulationsRow(game.name, search_name, network, simulations / each, 0.0)


def _network_row(game: PositionGame, simulations: int, rounds: int, blocks: int, width: int) -> SimulationsRow:
    """Searches at c = 10 with a residual network."""
    network = CVPN(shape_for(game, width, blocks, "resnet"))
    timed = TimedEvaluator(network_evaluator(network))
    once = _sog(game, Budget(simulations, 10.0), timed)
    once()  # compiles kernels
    timed.seconds, name = 0.0, name_of(network.shape)
    times = in_turn({name: once}, rounds)[name]
    speed, share = simulations / statistics.median(times), timed.seconds / sum(times)
    return SimulationsRow(game.name, f"SoG({simulations},10)", name, speed, share)


def _sog(game: PositionGame, budget: Budget, evaluator: Evaluator, paths: bool = True) -> Once:
    settings = SearchSettings(paths=paths)

    def once() -> None:
        tree = Lookahead(PublicTree(game), 0, game.root_ranges())
        run(search(tree, 0, budget, settings, np.ones(1, dtype=np.uint64)), evaluator)

    return once


def _alphazero(game: PositionGame, simulations: int) -> Once:
    def once() -> None:
        tree = mcts.PuctTree(PublicTree(game))
        run(mcts.search(tree, simulations, mcts.PuctSettings(), np.random.default_rng(0)), _zeros(game))

    return once


def _zeros(game: PositionGame) -> Evaluator:
    return SameAnswers(np.zeros((16, 2)), np.zeros((16, 1, game.num_actions)))


class _Constant:
    """OpenSpiel's evaluator protocol: every value 0, every prior uniform."""

    def evaluate(self, state: Any) -> list[float]:
        return [0.0, 0.0]

    def prior(self, state: Any) -> list[tuple[int, float]]:
        legal = state.legal_actions()
        return [(action, 1.0 / len(legal)) for action in legal]


def _openspiel_python(game: PositionGame, simulations: int) -> Once:
    state = cast(BoardPosition, game.root()).spiel
    choose = openspiel_mcts.SearchNode.puct_value
    bot = openspiel_mcts.MCTSBot(
        state.get_game(), _UCT_C, simulations, _Constant(), solve=False, child_selection_fn=choose
    )
    return lambda: bot.mcts_search(state)


def _openspiel_cpp(game: PositionGame, simulations: int) -> Once:
    state = cast(BoardPosition, game.root()).spiel
    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    bot = pyspiel.MCTSBot(state.get_game(), evaluator, _UCT_C, simulations, 1000, False, 0, False)
    return lambda: bot.mcts_search(state)

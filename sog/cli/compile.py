"""`sog compile`: compile ahead what the other commands would compile when they are first run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sog.cli.frame import JsonOption, print_json, progress_bar, stdout
from sog.cli.stopping import stop_notice
from sog.searches.kernels.compiling import WATCH

if TYPE_CHECKING:
    from sog.games.base import Game
    from sog.searches.cfr.algorithms import IterativeSolver


def compile_kernels(as_json: JsonOption = False) -> None:
    """Compile the kernels of solve, exploit, train, play, uci and gtp, so that their first run need not wait.

    Kernels are kept in ~/.cache/sog (in XDG_CACHE_HOME, where that is set) until sog or Numba changes.
    """
    from threadpoolctl import threadpool_limits

    started, kernels = time.monotonic(), WATCH.kernels
    notice = "kernels that were compiled are kept: the same command continues with the others"
    with stop_notice(lambda: notice), threadpool_limits(1), progress_bar("compile", len(_WORK), "parts") as report:
        for done, (name, work) in enumerate(_WORK):
            report(done, name)
            work()
    answer = {"kernels": WATCH.kernels - kernels, "seconds": time.monotonic() - started}
    if as_json:
        print_json(answer)
        return
    stdout().print(f"{answer['kernels']} kernels compiled in {answer['seconds']:.1f} s")


def compile_solver(solver: IterativeSolver, game: Game) -> None:
    """Compile or load the kernels that a solver and measuring need, by one iteration on a small game."""
    from sog.searches.cfr import exact
    from sog.searches.tree.public_tree import PublicTree

    tree = exact.full_tree(PublicTree(game).list_all())
    solver.iterate(tree, 1)
    tree.update_average_policy()
    exact.measure(tree)


def _solve() -> None:
    from sog.games.rules.leduc.game import Leduc
    from sog.searches.cfr.algorithms import NAMES, named

    for name in NAMES:
        compile_solver(named(name), Leduc())


def _exploit() -> None:
    from sog.algorithms.table import settings_of
    from sog.games.rules.leduc.game import Leduc
    from sog.measure.exploitability import exploitability
    from sog.nets.inference import network_evaluator
    from sog.nets.network import untrained
    from sog.play.resolver import ResolveSettings
    from sog.searches.gtcfr.settings import Budget
    from sog.searches.tree.public_tree import PublicTree

    game = Leduc()
    evaluator = network_evaluator(untrained(settings_of(game, "demo").shape))
    for budget in (Budget(3), Budget(2, 0.5)):
        exploitability(PublicTree(game).list_all(), ResolveSettings(budget), evaluator, seed=0)


def _train() -> None:
    from sog.algorithms.alphazero.presets import alphazero_preset
    from sog.algorithms.student.presets import sog_preset
    from sog.games.catalog import make_game
    from sog.nets.network import untrained
    from sog.nets.serialized import network_bytes
    from sog.training.workers import make_actor, play_round

    for name, preset in (("leduc_poker", sog_preset), ("tic_tac_toe", sog_preset), ("tic_tac_toe", alphazero_preset)):
        settings = replace(preset(make_game(name), "demo"), games=2)
        weights = network_bytes(untrained(settings.shape))
        play_round(make_actor(name, settings), settings, 0, 0, weights, 0)


def _play() -> None:
    from sog.agents.opening import make_player, open_network, warm_up
    from sog.algorithms.student.algorithm import Student

    for name in ("tic_tac_toe", "chess", "go(board_size=9)"):
        opened = open_network(name)
        warm_up(make_player(opened, Student()), opened.game)


# What people see, and what makes the kernels compile: the smallest work of each kind.
_WORK: Final[tuple[tuple[str, Callable[[], None]], ...]] = (
    ("solve", _solve),
    ("exploit", _exploit),
    ("play, uci and gtp", _play),
    ("train", _train),
)

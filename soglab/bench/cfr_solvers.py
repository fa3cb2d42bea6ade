"""Our CFR+, OpenSpiel's and LiteEFG's behind one interface, each timed by the processor time of its iterations.

LiteEFG runs in a process of its own, as it prints on stdout and writes files under the home folder.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from time import process_time
from typing import Any, Final, Protocol

import pyspiel

from sog.games.catalog import make_game
from sog.games.strings import OPENSPIEL as PREFIX
from sog.play.openspiel_states import openspiel_game
from sog.searches.cfr import exact
from sog.searches.cfr.rules import CFR_PLUS, SOG, Rule
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import check_listable

OURS: Final = "ours, CFR+"
OURS_SIMULTANEOUS: Final = "ours, CFR+ simultaneous"
OURS_DELAYED: Final = "ours, CFR+ from its 2nd policy"  # the uniform first one left out of the average, as LiteEFG does
OPENSPIEL: Final = "OpenSpiel CFR+"
LITEEFG: Final = "LiteEFG CFR+"


_DELAYED: Final = replace(CFR_PLUS, delay=1)


class TimedSolver(Protocol):
    """A solver of one game; each run continues the last.

    setup_seconds: processor seconds that listing or loading the game took, before the first iteration.
    """

    setup_seconds: float

    def run(self, count: int) -> float:
        """`count` iterations more; the processor seconds that they took."""

    def exploitability(self) -> float:
        """Of its average policy: the mean over both players of what a best response wins, in utilities."""


def has_liteefg() -> bool:
    """Whether LiteEFG is installed."""
    return importlib.util.find_spec("LiteEFG") is not None


def check_game(name: str) -> None:
    """GameError, in a moment, where there is no such game, it is far too large to list, or OpenSpiel lacks it."""
    game = make_game(name)
    check_listable(game)
    openspiel_game(game)


def make_solvers(name: str, stack: ExitStack) -> dict[str, Callable[[], TimedSolver]]:
    """By name, what makes a new solver of a game; what they leave behind goes with the stack.

    LiteEFG is left out where it is not installed; making one is an EOFError where it cannot be run on the game, and
    its own message is on stderr. GameError where there is no such game or OpenSpiel lacks it.
    """
    game = make_game(name)
    spiel = openspiel_game(game)
    Ours(name, CFR_PLUS).run(1)  # kernels are compiled or loaded before anything is timed
    Ours(name, SOG).run(1)
    makers: dict[str, Callable[[], TimedSolver]] = {
        OURS: partial(Ours, name, CFR_PLUS),
        OURS_SIMULTANEOUS: partial(Ours, name, SOG),
        OURS_DELAYED: partial(Ours, name, _DELAYED),
        OPENSPIEL: partial(OpenSpiel, spiel),
    }
    if has_liteefg():
        makers[LITEEFG] = partial(LiteEFG, name, stack.enter_context(tempfile.TemporaryDirectory()), stack)
    return makers


class Ours:
    """Our kernels on the whole public tree."""

    def __init__(self, name: str, rule: Rule) -> None:
        start = process_time()
        self._tree = exact.full_tree(PublicTree(make_game(name)).list_all())
        self.setup_seconds = process_time() - start
        self._rule = rule

    def run(self, count: int) -> float:
        start = process_time()
        self._tree.iterate(self._rule, count)
        return process_time() - start

    def exploitability(self) -> float:
        """Of the average policy, by our own best responses."""
        self._tree.update_average_policy()
        return exact.measure(self._tree).exploitability


class OpenSpiel:
    """OpenSpiel's CFRPlusSolver."""

    def __init__(self, spiel: Any) -> None:
        start = process_time()
        self._spiel = spiel
        self._solver = pyspiel.CFRPlusSolver(spiel)
        self.setup_seconds = process_time() - start

    def run(self, count: int) -> float:
        start = process_time()
        for _ in range(count):
            self._solver.evaluate_and_update_policy()
        return process_time() - start

    def exploitability(self) -> float:
        """Of the average policy, by OpenSpiel's best responses."""
        return float(pyspiel.nash_conv(self._spiel, self._solver.average_policy())) / 2


class LiteEFG:
    """LiteEFG's CFR+ with linear averaging, as its own command line trains it."""

    def __init__(self, name: str, home: str, stack: ExitStack) -> None:
        """In a process that ends with the stack; EOFError where LiteEFG cannot be run on the game."""
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        process = context.Process(target=_liteefg_worker, args=(theirs, name.removeprefix(PREFIX), home), daemon=True)
        process.start()
        theirs.close()
        for end in (process.join, process.terminate, self._connection.close):  # the last one first
            stack.callback(end)
        try:
            self.setup_seconds = float(self._connection.recv())
        except OSError as error:
            raise EOFError from error

    def run(self, count: int) -> float:
        self._connection.send(count)
        return float(self._connection.recv())

    def exploitability(self) -> float:
        """Of the average policy, by LiteEFG's best responses."""
        self._connection.send(None)
        return float(self._connection.recv())


def _liteefg_worker(connection: Connection, name: str, home: str) -> None:
    """Answer a number of iterations with the seconds that they took, None with exploitability, until the end."""
    os.environ["HOME"] = home
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import LiteEFG
    from LiteEFG.baselines import CFRplus

    start = process_time()
    graph = CFRplus.graph()
    environment = LiteEFG.OpenSpielEnv(pyspiel.load_game_as_turn_based(name), traverse_type="Enumerate")
    environment.set_graph(graph)
    connection.send(process_time() - start)
    while True:
        try:
            count = connection.recv()
        except EOFError:
            return
        if count is None:
            gains = environment.exploitability(graph.current_strategy(), "linear-avg-iterate")
            connection.send(sum(gains) / 2)
            continue
        start = process_time()
        for _ in range(count):  # both players in turn, then the policy averages, as its own training loop does
            graph.update_graph(environment)
            environment.update_strategy(graph.current_strategy())
        connection.send(process_time() - start)

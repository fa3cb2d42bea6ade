"""SePoT Fig. 1: a Battleship position in which each fleet lies in one of two ways; where the next shot goes.

The paper's boards are in its picture alone. Here too the opponent's last ship lies on A1-A3 or A3-C3 and the player's
on A1-A2 or A2-B2, everything else is known, and four cells more are left that can hold no ship.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from sog.algorithms.policy.own_policy import NetworkPolicy
from sog.algorithms.sepot.below import DepthLimit
from sog.algorithms.sepot.search import SepotSearchSettings
from sog.arrays import Int32
from sog.games.catalog import make_history_game
from sog.games.histories.base import replay
from soglab.papers.sepot_runs import opened, quick_runs, search_effort
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint

GAME: Final = (
    "battleship(board_width=5,board_height=5,ship_sizes=[3;2;2],num_shots=25,allow_repeated_shots=False,"
    "returns_type=win_loss)"
)
MOST: Final = 200_000  # histories of the subgame
_RUN: Final = Path("runs/sepot-battleship5")
_GOOD: Final = ("A1", "A2", "A3", "B3", "C3")
# Cells that nobody has shot at, on each player's board; the opponent has as many more as are left to the player.
_OPEN: Final = (("A1", "A2", "B2", "E1", "C4", "E5", "A5", "D2", "C1"), (*_GOOD, "E1", "C1", "E5", "A5"))
# By player, where its ships of 3, 2 and 2 cells begin and which way they lie.
_SHIPS: Final = (
    (("D3", "down"), ("B4", "down"), ("A1", "down")),
    (("A1", "down"), ("B5", "right"), ("D3", "down")),
)


def cell(name: str) -> int:
    """A cell's number: letters are columns, numbers rows."""
    return 5 * (int(name[1]) - 1) + "ABCDE".index(name[0])


def position() -> Int32:
    """int32[1, K]: the position, player 0 to shoot."""
    game = make_history_game(GAME)
    placed = [[25 + cell(at) + 25 * (way == "down") for at, way in fleet] for fleet in _SHIPS]
    shots = [[k for k in range(25) if k not in {cell(name) for name in _OPEN[1 - p]}] for p in (0, 1)]
    history = [*chain.from_iterable(zip(*placed, strict=True)), *chain.from_iterable(zip(*shots, strict=True))]
    return replay(game, np.array([history], dtype=np.int16))


def plan(options: Options, note: Note) -> list[Key]:
    """Every run to each depth."""
    return [
        {"folder": run["folder"], "network": run["network"], "depth": depth, **search_effort(options)}
        for run in quick_runs(options, (_RUN,), (GAME,))
        for depth in ((1,) if options.quick else (1, 2, 3))
    ]


def compute(key: Key) -> Result:
    """The probability of the five sensible cells together, by the network and by search, and the histories."""
    run, state = opened(key["folder"], GAME, key["network"]), position()
    network = NetworkPolicy(run.game, run.network)
    settings = SepotSearchSettings(key["iterations"], DepthLimit(key["depth"]), MOST, "critic", key["alpha"])
    search = run.search(settings)
    result = search.search(run.game.public(state)[0], 0)
    histories = 0 if result is None else result.histories
    return {
        "network": _sensible(network(state, 0)[0]),
        "search": _sensible(search.policy(state, 0)[0]),
        "histories": histories,
    }


def _sensible(policy: np.ndarray) -> float:
    return float(sum(policy[cell(name)] for name in _GOOD))


def present(points: list[StudyPoint]) -> Outcome:
    """How probable the sensible cells are, with and without search."""
    beside = []
    for p in points:
        label = f"probability of {', '.join(_GOOD)}: {p.key['folder']}, depth {p.key['depth']}"
        ours = f"network {p.result['network']:.3f}, search {p.result['search']:.3f}"
        beside.append(Beside(label, "network below 0.45", ours))
    return Outcome([p.row for p in points], {}, beside)


EXPERIMENT: Final = Experiment(
    id="sepot-fig1",
    paper="SePoT",
    figure="Fig. 1",
    minutes=5,
    what="Battleship 5x5: where network and search shoot when each fleet lies in one of two ways",
    study=Study(plan, compute, present, takes=("runs", "paper")),
)

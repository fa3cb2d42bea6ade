"""How well networks value London's late positions: errors against exact values, a move or two before the end.

Positions are of late_positions.py, undecided and close, from a uniform belief over Mr X's possible stations. Beside a
network's errors are those of 0, which is what an untrained network answers, and of the median for each player.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.games.scotland_yard.game import ScotlandYard
from sog.measure.intervals import mean_interval, plus_minus
from sog.nets.inference import network_evaluator
from sog.searches.leaves.evaluator import Beliefs, Evaluator, Wanted
from sog.training.checkpoint import load_meta, load_network
from sog.training.shipped import find_checkpoint
from soglab.papers.late_positions import LatePosition, late_positions
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, by_key

__all__ = ["EXPERIMENT", "answers", "compute", "mean_errors", "plan", "present"]

LONDON: Final = "scotland_yard(map=london)"
_POSITIONS: Final = {1: 300, 2: 100}  # by the moves that are left
_BATCH: Final = 10
_ITERATIONS: Final = 300
_ZERO, _CONSTANT = "0", "median"


def plan(options: Options, note: Note) -> list[Key]:
    """Batches of positions with one and with two moves left; each --run's network is asked about all of them."""
    folders = {str(run): find_checkpoint(str(run)) for run in options.runs}
    metas = {name: load_meta(folder) for name, folder in folders.items()}
    games = {meta.game for meta in metas.values()} or {LONDON}
    if len(games) > 1:
        raise SettingError(f"the runs play {' and '.join(sorted(games))}: name runs of one game")
    game = games.pop()
    _yard(game)
    networks = {name: {"folder": str(folders[name]), "network": meta.network_id} for name, meta in metas.items()}
    size, counts = (1, {1: 2, 2: 1}) if options.quick else (_BATCH, _POSITIONS)
    return [
        {"game": game, "left": left, "batch": k, "positions": size, "iterations": _ITERATIONS, "networks": networks}
        for left, count in counts.items()
        for k in range(count // size)
    ]


def compute(key: Key) -> Result:
    """Exact values of each position, what each network answers, and the largest exploitability of a solution."""
    evaluators = {}
    for name, network in key["networks"].items():
        check_unchanged(Path(network["folder"]), network["network"])
        evaluators[name] = network_evaluator(load_network(Path(network["folder"]))[1])
    drawn = late_positions(_yard(key["game"]), key["left"], key["batch"], key["iterations"])
    positions = [next(drawn) for _ in range(key["positions"])]
    return {
        "exact": [_listed(position.values) for position in positions],
        "answers": {name: [_listed(answers(position, e)) for position in positions] for name, e in evaluators.items()},
        "exploitability": max(position.exploitability for position in positions),
        "states": float(np.mean([position.public.size for position in positions])),
    }


def answers(position: LatePosition, evaluator: Evaluator) -> tuple[Float64, Float64]:
    """float64[I0], float64[I1]: what an evaluator says each infostate is worth, from the same uniform belief."""
    public = position.public
    zero, one = (np.ones(len(values)) for values in position.values)
    ranges = public.ranges_by_slot(0, (zero, one))
    beliefs = Beliefs(public, np.zeros(1, dtype=np.int32), ranges[None, :], Wanted.VALUES)
    values = evaluator([beliefs])[0].values[0]
    return values[public.places_of(0, 0)], values[public.places_of(0, 1)]


def mean_errors(exact: list[list[list[float]]], estimates: list[list[list[float]]]) -> Float64:
    """float64[2, N]: the mean absolute error of each player's values, by position."""
    pairs = zip(exact, estimates, strict=True)
    return np.array([[np.abs(np.subtract(a[p], b[p])).mean() for p in (0, 1)] for a, b in pairs]).T


def present(points: list[StudyPoint]) -> Outcome:
    """Mean errors of each network, of 0 and of the median, by the moves that are left."""
    rows: list[dict[str, Any]] = []
    beside = []
    for (left,), own in by_key(points, "left").items():
        exact = [position for point in own for position in point.result["exact"]]
        medians = [float(np.median(np.concatenate([values[p] for values in exact]))) for p in (0, 1)]
        estimates: dict[str, list[list[list[float]]]] = {
            name: [answer for point in own for answer in point.result["answers"][name]]
            for name in own[0].key["networks"]
        }
        estimates[_ZERO] = _constants(exact, [0.0, 0.0])
        estimates[_CONSTANT] = _constants(exact, medians)
        worst = max(point.result["exploitability"] for point in own)
        for name, estimate in estimates.items():
            errors = mean_errors(exact, estimate)
            figures = [mean_interval(errors[p]) for p in (0, 1)]
            row = {"moves_left": left, "positions": len(exact), "values": name, "exploitability": worst}
            for who, (mean, half) in zip(("mr_x", "detectives"), figures, strict=True):
                row |= {f"{who}_error": mean, f"{who}_interval": half}
            rows.append(row)
            words = "; ".join(plus_minus(mean, half, ".3f") for mean, half in figures)
            beside.append(Beside(f"{left} left, {name}: mean |error|, Mr X's stations; the detectives", "", words))
        beside.append(Beside(f"{left} left: {len(exact)} positions, largest exploitability", "", f"{worst:.1e}"))
    return Outcome(rows, {}, beside)


def _constants(exact: list[list[list[float]]], constants: list[float]) -> list[list[list[float]]]:
    return [[[constants[p]] * len(one[p]) for p in (0, 1)] for one in exact]


def _listed(values: tuple[Float64, Float64]) -> list[list[float]]:
    return [own.tolist() for own in values]


def _yard(name: str) -> ScotlandYard:
    game = make_game(name)
    if not isinstance(game, ScotlandYard):
        raise SettingError(f"these positions are of scotland_yard, not of {game.name}")
    return game


EXPERIMENT: Final = Experiment(
    id="scotland-yard-late",
    paper="PoG",
    figure="",
    minutes=40,
    what="London a move or two before the end: networks' values beside exact ones; --run their folders",
    study=Study(plan, compute, present, takes=("runs",)),
)

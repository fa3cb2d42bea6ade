"""Turn endgame hold'em learned: the turn from a network's values at its ends, and the errors of those values.

Beside what needs no learning (teh_anchors.py): the network's turn is solved by the same linear CFR and measured with
the same rivers. Its values are compared with solved ones at beliefs that training has not seen, from self-play and
random, beside the values of hands checked down, which it is given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from sog.algorithms.student.actor import SogActor
from sog.algorithms.student.queries import Query
from sog.algorithms.student.selfplay import SogGame
from sog.algorithms.table import settings_of
from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.games.holdem.cards import HANDS, live_hands
from sog.games.holdem.game import Holdem
from sog.measure.endgame import SAFE, UNSAFE, EndgamePolicy
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.searches.holdem.exact_values import SpotBelief, exact_values, is_exact, is_settled, met
from sog.searches.leaves.evaluator import Beliefs, Evaluator
from sog.training.checkpoint import load_meta, load_network
from sog.training.settings import TrainSettings
from sog.training.shipped import find_checkpoint
from soglab.papers.teh import ENDGAME, turn_game, turn_solved_by
from soglab.papers.teh_anchors import figures
from soglab.runs import check_unchanged
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Result, Study, StudyPoint, one_run

__all__ = ["EXPERIMENT", "compute", "held_out", "plan", "present"]

_SEED: Final = 10**9  # of the hands whose beliefs are held out; no training begins from it
_SELF_PLAY, _RANDOM = "beliefs of self-play", "random beliefs"
_TURN: Final = "turn"


def plan(options: Options, note: Note) -> list[Key]:
    """The turn's exploitability, and the errors at both kinds of beliefs."""
    folder = find_checkpoint(one_run(options) or ENDGAME)
    network = {"checkpoint": str(folder), "network": load_meta(folder).network_id}
    iterations, river, count, solving = (10, 10, 3, 20) if options.quick else (500, 200, 200, 200)
    turn: Key = {"what": _TURN, **network, "iterations": iterations, "river_iterations": river}
    errors = [{"what": kind, **network, "beliefs": count, "iterations": solving} for kind in (_SELF_PLAY, _RANDOM)]
    return [turn, *errors]


def compute(key: Key) -> Result:
    """Chips and seconds of the turn; or errors in percent of the pot, means over hands and over ranges."""
    folder = find_checkpoint(key["checkpoint"])
    check_unchanged(folder, key["network"])
    trained_on, network, _ = load_network(folder)
    evaluator, started = network_evaluator(network), time.perf_counter()
    if key["what"] == _TURN:
        game = turn_game(ENDGAME)
        turn = turn_solved_by(game, evaluator, key["iterations"])
        measured: Result = {"seconds": time.perf_counter() - started}
        for rivers in (SAFE, UNSAFE):
            policy = EndgamePolicy(game, os.cpu_count() or 1)
            policy.solve_rivers(turn, rivers, key["river_iterations"])
            measured[rivers] = figures(policy.measure())
        return measured
    family = make_game(trained_on)
    assert isinstance(family, Holdem)
    beliefs = held_out(family, evaluator) if key["what"] == _SELF_PLAY else _random_beliefs(family)
    errors: dict[str, list[tuple[float, float]]] = {"network": [], "checked_down": []}
    unlearned = network_evaluator(CVPN(network.shape))
    for _, query in zip(range(key["beliefs"]), beliefs, strict=False):
        for name, errs in _errors(query, key["iterations"], {"network": evaluator, "checked_down": unlearned}).items():
            errors[name].append(errs)
    return {name: _summary(np.array(errs)) for name, errs in errors.items()}


def held_out(family: Holdem, evaluator: Evaluator) -> Iterator[Query]:
    """Beliefs at the turn's end, one of each search of self-play's hands, as training's queries are drawn."""
    settings = settings_of(family, "full")
    assert isinstance(settings, TrainSettings)
    actor = settings.acting.make(family, settings.shape)
    assert isinstance(actor, SogActor)
    rng = np.random.default_rng(_SEED)
    while True:
        for job in actor.finished(1, evaluator, rng):
            if isinstance(job, SogGame):
                open_ones = [q for q in job.queries if is_exact(q.public, q.node) and not is_settled(q.public, q.node)]
                yield from (open_ones[int(rng.integers(len(open_ones)))] for _ in job.visits[: len(open_ones)])
                break


def _random_beliefs(family: Holdem) -> Iterator[Query]:
    """States of self-play's kind with ranges of independent uniform weights."""
    rng = np.random.default_rng(_SEED)
    for query in held_out(family, network_evaluator(CVPN(settings_of(family, "full").shape))):
        live = live_hands(query.public.states[query.node].board)  # type: ignore[attr-defined]
        zero, one = (rng.random(HANDS) * live for _ in (0, 1))
        yield Query(query.public, query.node, query.public.ranges_by_slot(query.node, (zero, one)))


def _errors(query: Query, iterations: int, evaluators: dict[str, Evaluator]) -> dict[str, tuple[float, float]]:
    """Percent of the pot, by evaluator: the mean error over hands that may meet one, and weighted by their ranges."""
    public, node, game = query.public, query.node, query.public.game
    assert isinstance(game, Holdem) and public.actor(node) == NATURE
    belief = SpotBelief(public.states[node], public.ranges_of_slots(node, query.ranges))  # type: ignore[arg-type]
    exact, counts = exact_values(game, [belief], iterations)[0], met(belief)
    beliefs = Beliefs(public, np.array([node], dtype=np.int32), query.ranges[None, :])
    percent, out = 100.0 / (2.0 * public.value_unit(node)), {}
    weights = np.stack(belief.ranges) * counts
    for name, evaluator in evaluators.items():
        values = evaluator([beliefs])[0].values[0]
        error = np.stack([np.abs(values[public.places_of(node, p)] - exact[p]) for p in (0, 1)]) * counts * percent
        own = (error * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-300)
        out[name] = float(error.sum() / counts.sum()), float(own.mean())
    return out


def _summary(errors: Float64) -> dict[str, Any]:
    """Means and medians over beliefs, and the standard error of the means."""
    spread = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    names = ("by_hand", "by_range")
    return {
        name: {
            "mean": float(errors[:, k].mean()),
            "standard_error": float(spread[k]),
            "median": float(np.median(errors[:, k])),
        }
        for k, name in enumerate(names)
    }


def present(points: list[StudyPoint]) -> Outcome:
    """The turn's chips by rivers, and a line of errors for each kind of beliefs."""
    beside = []
    for p in points:
        if p.key["what"] == _TURN:
            ours = ", ".join(f"{p.result[rivers]['exploitability']:.4g} ({rivers} rivers)" for rivers in (SAFE, UNSAFE))
            label = f"{p.key['iterations']} iterations with the network's leaves: exploitability, chips"
            beside.append(Beside(label, "", f"{ours}; solved in {p.result['seconds']:.0f} s"))
            continue
        parts = [f"{name.replace('_', ' ')} {_text(p.result[name]['by_hand'])}" for name in ("network", "checked_down")]
        beside.append(Beside(f"{p.key['what']}: mean error of a hand's value, % of the pot", "", "; ".join(parts)))
    return Outcome([p.row for p in points], {}, beside)


def _text(error: dict[str, float]) -> str:
    return f"{error['mean']:.2f} (standard error {error['standard_error']:.2f}, median {error['median']:.2f})"


EXPERIMENT: Final = Experiment(
    id="teh-network",
    paper="ReBeL",
    figure="C.2, a network at the turn's ends",
    minutes=25,
    what="Turn endgame hold'em: the turn from the network's values, and their errors at beliefs it has not seen",
    study=Study(plan, compute, present, takes=("runs",), alone=True),
)

"""How closely networks and learner settings fit the exact values of Leduc's subgames: one line a configuration.

python -m soglab.papers.value_fit --rows 12000 --steps 3000

The beliefs are half random, half the leaves of GT-CFR searches; the targets are those of DCFR on the whole subgame.
It says what fits such values without the noise and the time of self-play. Its base is not the preset: that has 3x256
and a fifth of the learning rate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch

from sog.arrays import Array, Float64
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.one_core import one_core
from sog.nets.shape import NetworkShape, shape_for
from sog.searches.cfr.exact import ExactEvaluator
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import SearchLog, search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, zero_evaluator
from sog.searches.tree.public_tree import PublicTree
from sog.training.learner import Learner, losses
from sog.training.rows import Rows, blank_rows
from sog.training.settings import LearnerSettings

SEARCHED_ITERATIONS, QUERIES = 100, 6


@dataclass(frozen=True)
class Configuration:
    """A network and how it learns.  largest_units: values in the game's largest utility instead of pots."""

    name: str
    shape: NetworkShape
    learner: LearnerSettings
    largest_units: bool = False


@dataclass(frozen=True)
class Fit:
    """Errors on rows never trained on.

    error: mean absolute error of a value, in utilities.  weighted: the same, infostates weighted by range.
    kl: mean divergence of a policy.  seconds: of learning.
    """

    error: float
    weighted: float
    kl: float
    seconds: float


@dataclass(frozen=True, eq=False)
class SolvedBeliefs:
    """Beliefs with exact answers.  targets: rows without inputs, values in utilities."""

    beliefs: Beliefs
    targets: Rows


def configurations(steps: int) -> Iterator[Configuration]:
    """The base and, one by one, what might be done instead."""
    game = make_game("leduc_poker")
    board = (0, 1, 2)
    shape = shape_for(game, 128, 2, crossed=board)
    learner = LearnerSettings(learning_rate=1e-2, decay=0.1, decay_steps=steps, policy_weight=0.01)
    base = Configuration("2x128, lr 1e-2, w_p 0.01, board x ranges, pot units", shape, learner)
    yield base
    for rate in (1e-3, 3e-3, 3e-2):
        yield replace(base, name=f"lr {rate:g}", learner=replace(learner, learning_rate=rate))
    yield replace(base, name="sgd, lr 0.3", learner=replace(learner, optimiser="sgd", learning_rate=0.3))
    for weight in (0.1, 1.0):
        yield replace(base, name=f"w_p {weight:g}", learner=replace(learner, policy_weight=weight))
    yield replace(base, name="batch 1024, a quarter of the steps", learner=replace(learner, batch=1024))
    yield replace(base, name="clip 1", learner=replace(learner, clip=1.0))
    yield replace(base, name="features and ranges only", shape=replace(shape, crossed=()))
    yield replace(base, name="values in largest utilities", largest_units=True)
    yield replace(base, name="matchups", shape=replace(shape, matchups=True))
    slower = replace(learner, learning_rate=3e-3)
    for width, depth in ((256, 2), (256, 3)):
        for matchups in (False, True):
            wide = replace(shape, width=width, depth=depth, matchups=matchups)
            yield replace(base, name=f"{depth}x{width}, lr 3e-3{', matchups' * matchups}", shape=wide, learner=slower)


def solve(public: PublicTree, count: int, rng: np.random.Generator, iterations: int = 300) -> SolvedBeliefs:
    """`count` beliefs and their exact answers."""
    ongoing = np.flatnonzero(public.nodes.actor[: public.size] != TERMINAL).astype(np.int32)
    candidates: list[tuple[int, Float64]] = []
    while len(candidates) < count:
        node, ranges = _random_belief(public, ongoing, rng)
        candidates += [_random_belief(public, ongoing, rng) for _ in range(QUERIES)]
        candidates += _searched(public, node, ranges, rng)
    order = rng.permutation(len(candidates))[:count]
    beliefs = Beliefs(
        public,
        np.array([candidates[k][0] for k in order], dtype=np.int32),
        np.array([candidates[k][1] for k in order]),
    )
    return SolvedBeliefs(beliefs, _targets(public, beliefs, iterations))


def fit(configuration: Configuration, train: SolvedBeliefs, test: SolvedBeliefs, steps: int, seed: int = 0) -> Fit:
    """Learn the training rows for `steps` steps of batch 256 (fewer of a larger batch) and measure on the others."""
    settings, rng = configuration.learner, np.random.default_rng(seed)
    learner = Learner(CVPN(configuration.shape, seed), settings)
    rows, start = _rows(configuration, train), time.process_time()
    for _ in range(steps * 256 // settings.batch):
        learner.step(rows.take(rng.integers(len(rows), size=settings.batch)))
    seconds = time.process_time() - start
    rows = _rows(configuration, test)
    with torch.no_grad():
        values = learner.network.split(learner.network(torch.from_numpy(rows.inputs)))[0].numpy()
        kl = float(losses(learner.network, rows)[1])
    wrong = np.abs(values - rows.values) * rows.value_mask * _units(configuration, test)
    weight = test.beliefs.ranges * rows.value_mask
    return Fit(wrong.sum() / rows.value_mask.sum(), (wrong * weight).sum() / weight.sum(), kl, seconds)


def _random_belief(public: PublicTree, ongoing: Array, rng: np.random.Generator) -> tuple[int, Float64]:
    """A node and Dirichlet ranges between nearly certain and nearly uniform, without impossible infostates."""
    node = int(rng.choice(ongoing))
    ranges = [rng.dirichlet(np.full(width, 10 ** rng.uniform(-0.7, 0.7))) for width in public.num_infostates(node)]
    mass = public.masses(node, np.ones(len(ranges[0])), np.ones(len(ranges[1])))
    return node, public.ranges_by_slot(node, (ranges[0] * (mass[0] > 0), ranges[1] * (mass[1] > 0)))


def _searched(public: PublicTree, node: int, ranges: Float64, rng: np.random.Generator) -> list[tuple[int, Float64]]:
    """Leaf beliefs from one search."""
    tree = Lookahead(public, node, public.ranges_of_slots(node, ranges))
    log = SearchLog(frozenset(int(t) for t in rng.integers(1, SEARCHED_ITERATIONS, QUERIES)))
    state = rng.integers(1, 2**62, 1).astype(np.uint64)
    run(search(tree, 0, Budget(SEARCHED_ITERATIONS, 1.0), SearchSettings(), state, log=log), zero_evaluator)
    return log.picked


def _targets(public: PublicTree, beliefs: Beliefs, iterations: int) -> Rows:
    rows = blank_rows(shape_for(public.game), len(beliefs.nodes))
    (answers,) = ExactEvaluator(iterations)([beliefs])
    rows.values[:] = answers.values
    for b, node in enumerate(beliefs.nodes.tolist()):
        for p, mass in enumerate(public.masses(node, *public.ranges_of_slots(node, beliefs.ranges[b]))):
            rows.value_mask[b, public.places_of(node, p)] = mass > 0
        actor = public.actor(node)
        if actor < NATURE:
            public.list_fan(node)
            at = public.slots_of(node, actor)[:, None], public.actions(node)[None, :]
            rows.legal[b][at] = public.legal(node).T
            policy = np.exp(answers.logits[b][at]) * rows.legal[b][at]
            rows.policies[b][at] = policy / policy.sum(axis=1, keepdims=True)
            rows.policy_mask[b, at[0][:, 0]] = rows.value_mask[b, public.places_of(node, actor)]
    return rows


def _units(configuration: Configuration, solved: SolvedBeliefs) -> Float64:
    units = solved.beliefs.value_units()[:, None]
    return np.full_like(units, solved.beliefs.public.game.u_max) if configuration.largest_units else units


def _rows(configuration: Configuration, solved: SolvedBeliefs) -> Rows:
    shape, targets = configuration.shape, solved.targets
    values = (targets.values / _units(configuration, solved)).astype(np.float32)
    return replace(targets, inputs=encode(solved.beliefs, shape.crossed, shape.matchups), values=values)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Fit exact values of Leduc's subgames.")
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--steps", type=int, default=3_000)
    arguments = parser.parse_args()
    with one_core():
        public, rng = PublicTree(make_game("leduc_poker")).list_all(), np.random.default_rng(0)
        train, test = (solve(public, count, rng) for count in (arguments.rows, 1_000))
        print(f"{'error in chips, by configuration':<55}{'all':>8}{'by range':>10}{'KL':>8}{'seconds':>9}")
        for configuration in configurations(arguments.steps):
            row = fit(configuration, train, test, arguments.steps)
            print(
                f"{configuration.name:<55}{row.error:>8.3f}{row.weighted:>10.3f}{row.kl:>8.3f}{row.seconds:>9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

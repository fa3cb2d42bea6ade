"""SampleLeaf: how a game leaves a subgame in training (ReBeL, Algorithm 2); it solves nothing."""

from __future__ import annotations

import numpy as np

from sog.arrays import Float64
from sog.games.base import NATURE, step
from sog.searches.cfr.fictitious import FictitiousPlay
from sog.searches.depth_limited.settings import Solver
from sog.searches.depth_limited.subgames import Subgames

__all__ = ["sample_leaf"]


def sample_leaf(games: Subgames, k: int, solver: Solver, epsilon: float, rng: np.random.Generator) -> int:
    """The leaf or terminal node of subgame k where a history drawn at its root ends by the current policies.

    One player, drawn first, takes a uniformly random legal action with probability epsilon each time. In fictitious
    play that player follows its latest best response and the other its average policy.
    """
    tree, public = games.tree, games.public
    # ReBeL, Algorithm 2: i* is drawn once a subgame, and only that player explores.
    n, explorer = int(games.roots[k]), int(rng.integers(2))
    pair = _draw_pair(games, n, rng)
    while tree.is_open(n):
        s, actor = tree.public_node(n), tree.actor(n)
        if actor == NATURE:
            state, *rest = public.game.sample_chance(public.states[s], pair[0], pair[1], rng)
            edge = next(e for e, c in enumerate(tree.children(n)) if public.states[tree.public_node(c)] == state)
            pair = (rest[0], rest[1])
        else:
            averages = isinstance(solver.rule, FictitiousPlay) and actor != explorer
            weights = (tree.policy_sum(n) if averages else tree.current_policy(n))[:, pair[actor]]
            edge, pair = _move(games, s, actor, pair, weights, epsilon if actor == explorer else 0.0, rng)
        n = tree.children(n)[edge]
    return n


def _draw_pair(games: Subgames, n: int, rng: np.random.Generator) -> tuple[int, int]:
    """A pair of infostates at node n, in proportion to W * r0 * r1; of W alone where that is 0 everywhere."""
    tree, public = games.tree, games.public
    joint = public.game.weights(public.states[tree.public_node(n)]).dense()
    believed = joint * np.outer(*tree.ranges(n))
    if believed.sum() > 0:
        joint = believed
    i = _draw(joint.ravel(), rng)
    return i // joint.shape[1], i % joint.shape[1]


def _draw(weights: Float64, rng: np.random.Generator) -> int:
    """A place in proportion to the weights, float64[N]: what rng.choice draws, which checks them at length."""
    cumulative = (weights / weights.sum()).cumsum()
    return int((cumulative / cumulative[-1]).searchsorted(rng.random(), side="right"))


def _move(
    games: Subgames,
    s: int,
    actor: int,
    pair: tuple[int, int],
    weights: Float64,
    epsilon: float,
    rng: np.random.Generator,
) -> tuple[int, tuple[int, int]]:
    """The edge that the actor takes and the pair's infostates after it."""
    plain = games.public.is_plain(s) and bool(games.public.nodes.same[s])
    if plain:
        legal = np.ones(len(weights))
    else:
        fan = games.public.game.fan(games.public.states[s])
        assert fan.moves is not None
        legal = (fan.moves.edge[pair[actor]] >= 0).astype(np.float64)
    # A policy of 0 on all legal actions, as before its first update, counts as uniform.
    chances = legal * weights
    if rng.random() < epsilon or chances.sum() <= 0:
        chances = legal
    column = _draw(chances, rng)
    return (column, pair) if plain else step(fan, actor, pair, column)

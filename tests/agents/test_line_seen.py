"""An agent along a line: ranges and probabilities are those of whole policies, at every public state of games."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from sog.agents.line_seen import SeenState, seen_along
from sog.agents.loaded import load_agent
from sog.arrays import Float64
from sog.games.base import NATURE
from sog.games.catalog import make_game
from sog.games.public_lines import states_along
from sog.play.agent import Agent
from sog.searches.cfr import exact
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree

GAMES = (
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=3)",
    "goofspiel(imp_info=True,num_cards=3,points_order=random)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1;1],num_shots=2,allow_repeated_shots=False,returns_type=win_loss)",
)


class Drawn(Agent):
    """Plays a policy drawn for each public state; some actions have probability 0."""

    def policy(self, node: int) -> Float64:
        legal = self.legal(node)
        weights = np.random.default_rng(node).integers(0, 3, legal.shape) * legal
        weights = np.where(weights.sum(axis=0) > 0, weights, legal)
        found: Float64 = weights / weights.sum(axis=0)
        return found


@cache
def listed(name: str) -> PublicTree:
    return whole_tree(make_game(name))


def along(public: PublicTree, node: int) -> list[SeenState]:
    states = [public.states[k] for k in public.path(node)]
    return list(seen_along(public.game, lambda p: Drawn(public, p), public, states))


@pytest.mark.parametrize("name", GAMES)
def test_ranges_and_probabilities_are_those_of_the_whole_policy(name: str) -> None:
    public = listed(name)
    agents = [Drawn(public, p) for p in (0, 1)]
    nodes = [k for k in range(public.size) if public.actor(k) < NATURE]
    tree = exact.full_tree(public)
    exact.set_policy(tree, {k: agents[public.actor(k)].policy(k) for k in nodes})
    tree.evaluate()
    for node in range(0, public.size, max(1, public.size // 200)):
        seen = along(public, node)
        assert len(seen) == len(public.path(node)) and seen[0].likely is None
        for k, each in zip(public.path(node), seen, strict=True):
            ranges = tree.ranges(tree.node_of(k))
            for p in (0, 1):
                total = max(ranges[p].sum(), 1e-300)
                np.testing.assert_allclose(each.ranges[p], ranges[p] / total, atol=1e-12)
        for before, after in zip(public.path(node), public.path(node)[1:], strict=False):
            masses = [
                float(r[0] @ public.masses(k, *r)[0]) for k in (before, after) for r in [tree.ranges(tree.node_of(k))]
            ]
            likely = seen[public.path(node).index(after)].likely
            if public.actor(before) == NATURE or masses[0] == 0:
                assert likely is None
            else:
                assert likely == pytest.approx(masses[1] / masses[0])


def test_policies_and_values_are_those_of_the_agent() -> None:
    agent = load_agent("leduc_poker", simulations=20)
    states = states_along(agent.game, "raise, call, board Jh")
    seen = list(seen_along(agent.game, agent.seat, agent.public, states))
    node = next(k for k in range(agent.public.size) if agent.public.states[k] == states[-1])
    np.testing.assert_array_equal(seen[-1].policy, agent.policy(node))
    assert seen[2].policy is None and seen[2].values is None and seen[2].mean is None and seen[3].likely is None
    jack = agent.game.infostate_name(states[-1], 0, 0)
    assert jack == "Js" and seen[-1].values is not None and seen[-1].values[0][0] > 3.0  # a pair after a raise
    mine, other = seen[-1].ranges
    masses = agent.public.masses(node, mine, other)[0]
    assert seen[-1].mean == pytest.approx(float(mine * masses @ seen[-1].values[0]) / float(mine @ masses))


@dataclass
class _Counted:
    done: int = 0

    def __call__(self, done: int) -> None:
        self.done = done


def test_a_hand_that_no_tree_lists() -> None:
    """Whole hold'em: the flop is one of 22,100, and hands that hold one of its cards leave both ranges."""
    game = make_game("holdem(bets=0.5)")
    states = states_along(game, "call, check, 2c7dKh")
    public, counted = PublicTree(game), _Counted()
    seen = list(seen_along(game, lambda p: Drawn(public, p), public, states, counted))
    assert counted.done == 4 and seen[1].likely is not None and 0 < seen[1].likely < 1
    names = [game.infostate_name(states[-1], 0, i) for i in range(1326)]
    blocked = np.array(["2c" in name or "7d" in name or "Kh" in name for name in names])
    for held in seen[-1].ranges:
        assert not held[blocked].any() and held.sum() == pytest.approx(1.0)

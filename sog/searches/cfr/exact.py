"""Exact solutions on the whole public tree: average policies, values, best responses, exploitability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sog.arrays import Array, Float64
from sog.errors import GameError
from sog.games.base import NATURE
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.matching import REACH_FLOOR
from sog.searches.cfr.rules import DCFR, Rule
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_answer
from sog.searches.tree import room
from sog.searches.tree.players import Players
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry

# policy[node]: float64[A, I] of the actor at each decision node of a public tree.
Policy = dict[int, Float64]

_SUMS: Final = 1e-5  # by how much the probabilities of an infostate may differ from 1 together


@dataclass(frozen=True)
class Measure:
    """What a policy is worth, and what best responses earn against it, in utilities.

    value: player 0's utility under the policy.  best: what each player's best response would earn.
    """

    value: float
    best: tuple[float, float]

    @property
    def exploitability(self) -> float:
        """(best response of 0 + best response of 1) / 2, in utilities; 0 at an equilibrium."""
        return (self.best[0] + self.best[1]) / 2


def full_tree(public: PublicTree) -> Lookahead:
    """A lookahead holding the whole game, which the public tree must list (`list_all`), from its root."""
    return Lookahead(public, 0, public.game.root_ranges(), room.listed(public)).expand_all()


def solve(public: PublicTree, rule: Rule, iterations: int) -> Lookahead:
    """The whole game after this many iterations of a rule, with the average policies up to date."""
    tree = full_tree(public)
    tree.iterate(rule, iterations)
    tree.update_average_policy()
    return tree


def policy_of(tree: Lookahead, row: Entry = Entry.AVERAGE_POLICY) -> Policy:
    """Copies of the policies in `row` at every open decision node, by public node."""
    return {tree.public_node(n): tree.table(n, row).copy() for n in tree.decisions()}


def current_policy_of(tree: Lookahead) -> Policy:
    """Copies of the latest iteration's policies at every open decision node, by public node."""
    return policy_of(tree, Entry.POLICY)


def set_policy(tree: Lookahead, policy: Policy, row: Entry = Entry.AVERAGE_POLICY) -> None:
    """Write policies into `row`; nodes that `policy` lacks keep what they have."""
    for n in tree.decisions():
        node_policy = policy.get(tree.public_node(n))
        if node_policy is not None:
            tree.table(n, row)[:] = node_policy


def add_policy(tree: Lookahead, policy: Policy, weight: float = 1.0) -> None:
    """Add a policy to the policy sums of a full tree, weighed by its own reaches, as an iteration of a solver would.

    Nodes that `policy` lacks keep what the iteration before played.
    """
    # As in matching.update: weight * own reach * policy, so that sums of policies are mixtures of strategies.
    set_policy(tree, policy, Entry.POLICY)
    tree.forward(Entry.POLICY)
    for n in tree.decisions():
        reach = tree.ranges(n)[tree.actor(n)]
        tree.policy_sum(n)[:] += weight * (reach + REACH_FLOOR) * tree.current_policy(n)


def measure(tree: Lookahead, row: Entry = Entry.AVERAGE_POLICY) -> Measure:
    """Value and best responses of the policies in `row` of a tree without leaves."""
    r0, r1 = tree.root_ranges
    # A root value is counterfactual, chance's weights included: times the own range it sums to the game's value.
    value = float(tree.evaluate(row)[0] @ r0)
    first, second = tree.evaluate(row, best=Players.BOTH)  # a best response depends on the other's policy alone
    return Measure(value, (float(first @ r0), float(second @ r1)))


def measure_policy(public: PublicTree, policy: Policy) -> Measure:
    """Value and best responses of a policy for the whole game.

    GameError unless it has one for every decision, and each is one: see `flaw_of`.
    """
    # A policy that lacks a state would be measured with whatever the tree plays there.
    tree = full_tree(public)
    nodes = [tree.public_node(n) for n in tree.decisions()]
    lacking = sum(node not in policy for node in nodes)
    if lacking:
        raise GameError(f"the policy to be measured lacks {lacking} public states of {public.game.name}")
    for node in nodes:
        if flaw := flaw_of(policy[node], public.legal(node)):
            raise GameError(f"{public.game.name} at {public.game.state_name(public.states[node])!r}: {flaw}")
    set_policy(tree, policy)
    return measure(tree)


def flaw_of(policy: Array, legal: Array) -> str:
    """Why float64[A, I] is not a policy for [A, I], above 0 where legal; empty where it is one.

    Its shape, numbers that are not finite or below 0, illegal actions, sums other than 1 with some infostate.
    """
    policy = np.asarray(policy)
    if np.iscomplexobj(policy):
        return "a policy of complex numbers"
    if policy.shape != legal.shape:
        return f"a policy of shape {policy.shape}, not {legal.shape} (actions, infostates)"
    if not (policy >= 0).all() or (policy[legal <= 0] > 0).any():
        return "a probability below 0, not a number, or of an illegal action"
    # An infostate without legal actions (a column of zeros) has no sum to check.
    if (np.abs(policy.sum(axis=0)[legal.any(axis=0)] - 1.0) > _SUMS).any():
        return "the probabilities of an infostate do not sum to 1"
    return ""


def uniform_policy(public: PublicTree) -> Policy:
    """The uniform policy over legal actions at every decision node."""
    tree = full_tree(public)
    tree.update_average_policy()
    return policy_of(tree)


class ExactEvaluator:
    """Solves the game below every belief that it evaluates; for small games, and to compare networks with.

    iterations: of alternating DCFR each time. Values are those of the average policies.
    """

    def __init__(self, iterations: int = 200) -> None:
        self.iterations = iterations
        self._trees: dict[tuple[int, int], Lookahead] = {}

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        return [self._answer(beliefs) for beliefs in requests]

    def _answer(self, beliefs: Beliefs) -> Evaluations:
        out = zero_answer(beliefs)
        for b, node in enumerate(beliefs.nodes):
            tree = self._solve(beliefs.public, int(node), beliefs.ranges[b])
            _write_answer(tree, int(node), out.values[b], out.logits[b])
        return out

    def _solve(self, public: PublicTree, node: int, ranges: Float64) -> Lookahead:
        key = (id(public), node)
        if key not in self._trees:
            self._trees[key] = Lookahead(public, node, public.ranges_of_slots(node, ranges)).expand_all()
        # The tree is listed once a node; its numbers begin anew with each belief.
        tree = self._trees[key]
        tree.restart(public.ranges_of_slots(node, ranges))
        tree.iterate(DCFR, self.iterations)
        tree.update_average_policy()
        tree.evaluate()
        return tree


def _write_answer(tree: Lookahead, node: int, values: Float64, logits: Float64) -> None:
    """Conditional values by slot, and the logarithm of the average policy as prior."""
    public = tree.public
    # Counterfactual values over the opponent's mass: conditional on the infostate, as networks answer.
    for p, conditional in enumerate(public.conditional(node, tree.cfvs(0), tree.root_ranges)):
        values[public.places_of(node, p)] = conditional
    actor = public.actor(node)
    if actor < NATURE:
        # Softmax of these logits is the policy again; 1e-6 keeps them finite where an action is never played.
        at, actions = public.slots_of(node, actor), public.actions(node)
        logits[at[:, None], actions[None, :]] = np.log(tree.policy(0).T + 1e-6)

"""The actor: games played side by side with one network, and the decisions that came up; it learns nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sog.algorithms.policy.networks import policies_of
from sog.arrays import Array, Bool, Float32, Float64, Int32
from sog.games.base import TERMINAL
from sog.games.histories.base import HistoryGame, deal, drawn
from sog.nets.cvpn import CVPN

__all__ = ["Trajectories", "sample"]


@dataclass(frozen=True, eq=False)
class Trajectories:
    """B whole games: their D decisions in the order of time, a game's earlier ones before its later ones.

    states: int32[D, K], the history at each decision (the game's `critic_inputs` shows it to a critic).
    inputs: float32[D, N] and legal: bool[D, A], of the player who acts.  game: int32[D], which of the B games.
    actor, action: int32[D].  policy: float32[D, A], which the action was drawn from.
    utility: float64[B], player 0's.  histories: int16[B, T], all actions, chance's included, padded with -1.
    """

    states: Int32
    inputs: Float32
    legal: Bool
    game: Int32
    actor: Int32
    action: Int32
    policy: Float32
    utility: Float64
    histories: Array

    def __len__(self) -> int:
        return len(self.actor)

    def of(self, player: int) -> Trajectories:
        """The same games with one player's decisions only."""
        own = self.actor == player
        seen = self.states[own], self.inputs[own], self.legal[own]
        done = self.game[own], self.actor[own], self.action[own], self.policy[own]
        return Trajectories(*seen, *done, self.utility, self.histories)


def sample(
    game: HistoryGame,
    network: CVPN,
    count: int,
    rng: np.random.Generator,
    against: tuple[int, CVPN] | None = None,
    explored: Float64 | None = None,
) -> Trajectories:
    """Play `count` games to their ends by the network's policy; `rng` decides every draw.

    against: a player and the network that plays it instead.  explored: float64[count], the share of each game's
    decisions that are drawn from all legal actions alike; the policy that is written down has it in.
    """
    written = _Histories(count, game.longest)
    utility = np.zeros(count)
    moments: list[tuple[Array, ...]] = []
    states, alive = game.begin(count), np.arange(count, dtype=np.int32)
    while True:
        # Chance first, as often as it acts in a row, until every game is at a decision or an end.
        outcomes: list[Int32] = []
        actors = deal(game, states, rng, outcomes)
        for outcome in outcomes:
            written.add(alive, outcome)
        going = actors != TERMINAL
        # Games that ended leave the batch; `alive` says which game a row is of.
        if not going.all():
            utility[alive[~going]] = game.utilities(states[~going])
            states, alive, actors = states[going], alive[going], actors[going]
        if not len(alive):
            break
        inputs, legal = game.inputs(states, actors), game.legal(states)
        # One call for both players: the network sees the infostate of whoever acts.
        policy = policies_of(network, inputs, legal)
        if against is not None and (theirs := actors == against[0]).any():
            policy[theirs] = policies_of(against[1], inputs[theirs], legal[theirs])
        if explored is not None:
            policy = _mixed(policy, legal, explored[alive])
        action = drawn(policy, rng.random(len(alive)))
        moments.append((states.copy(), inputs, legal, alive, actors, action, policy))
        written.add(alive, action)
        game.step(states, action)
    columns = (np.concatenate(column) for column in zip(*moments, strict=True))
    states, inputs, legal, games, actors, actions, policies = columns
    return Trajectories(states, inputs, legal, games, actors, actions, policies, utility, written.actions)


def _mixed(policy: Float32, legal: Bool, share: Float64) -> Float32:
    """float32[D, A]: with the uniform policy in it, to this share of each decision, float64[D]."""
    uniform = legal / legal.sum(axis=1, keepdims=True)
    mixed: Float32 = (policy + share[:, None] * (uniform - policy)).astype(np.float32)
    return mixed


class _Histories:
    """The actions of this many games as they are taken."""

    def __init__(self, count: int, longest: int) -> None:
        self.actions = np.full((count, longest), -1, dtype=np.int16)
        self.lengths = np.zeros(count, dtype=np.int64)

    def add(self, games: Int32, actions: Int32) -> None:
        """One action more for some of the games; none where it is -1."""
        taken = actions >= 0
        rows = games[taken]
        self.actions[rows, self.lengths[rows]] = actions[taken]
        self.lengths[rows] += 1

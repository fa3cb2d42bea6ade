"""Policies over public states as OpenSpiel's tabular policies, and their exploitability by OpenSpiel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import TabularPolicy

from sog.arrays import Float64
from sog.errors import GameError, SettingError
from sog.play.openspiel_states import openspiel_game, states_of_infostates
from sog.searches.cfr.exact import Policy, measure_policy
from sog.searches.tree.public_tree import PublicTree

__all__ = [
    "Check",
    "InfostatePolicies",
    "NamedInfostate",
    "check_against_openspiel",
    "infostate_policies",
    "infostates_by_string",
    "tabular_policy",
    "to_tabular_policy",
]

# (action, probability) of each legal action by information state string, as OpenSpiel's C++ code reads it.
InfostatePolicies: TypeAlias = dict[str, list[tuple[int, float]]]


@dataclass(frozen=True)
class Check:
    """The NashConv of one policy, in utilities, which is twice our exploitability.

    ours: from our own best responses.  openspiel: from OpenSpiel's.
    """

    ours: float
    openspiel: float


class HasPolicies(Protocol):
    """What has a policy at every public node where a player acts: a solution, a loaded agent."""

    @property
    def public(self) -> PublicTree: ...
    def policies(self) -> Iterator[tuple[int, Float64]]: ...


def to_tabular_policy(of: HasPolicies) -> TabularPolicy:
    """A solution or a loaded agent as OpenSpiel's tabular policy, which every algorithm of OpenSpiel takes.

        policy = sog.to_tabular_policy(sog.load_agent("leduc_poker"))

    GameError where OpenSpiel lacks the game, SettingError for anything else.
    """
    if not (hasattr(of, "public") and hasattr(of, "policies")):
        raise SettingError(f"to_tabular_policy takes a solution or a loaded agent, not {of!r}")
    return tabular_policy(of.public, dict(of.policies()))


def tabular_policy(public: PublicTree, policy: Policy) -> TabularPolicy:
    """The policy of both players as an `open_spiel.python.policy.TabularPolicy`.

    It is one for the turn-based form of the game where OpenSpiel moves simultaneously. GameError where
    OpenSpiel lacks the game, or has infostates with a choice that `policy` says nothing about.
    """
    tabular = TabularPolicy(openspiel_game(public.game))
    policies = infostate_policies(public, policy)
    for key, row in tabular.state_lookup.items():
        legal = tabular.legal_actions_mask[row]
        # Infostates without a choice may be missing: OpenSpiel lists them, our game passes them over.
        if key in policies:
            tabular.action_probability_array[row] = 0.0
            for action, probability in policies[key]:
                tabular.action_probability_array[row, action] = probability
        elif legal.sum() > 1:
            raise GameError(f"{public.game.name}: no policy for OpenSpiel's infostate {key!r}")
    return tabular


def infostate_policies(public: PublicTree, policy: Policy) -> InfostatePolicies:
    """The policy by OpenSpiel's information state strings, also as `pyspiel.TabularPolicy` takes it.

    public: the tree that `policy` (float64[A, I] by decision node) belongs to. Infostates that the cards
    rule out are left out, and so are OpenSpiel's without a choice that our game leaves out. GameError
    where OpenSpiel lacks the game.
    """
    game, out = public.game, InfostatePolicies()
    for named in infostates_by_string(public):
        if named.node in policy:
            actions = game.actions(public.states[named.node])
            chosen = dict(zip(actions.tolist(), policy[named.node][:, named.infostate].tolist(), strict=True))
            out[named.key] = [(a, chosen[a]) for a in named.legal]
    return out


@dataclass(frozen=True)
class NamedInfostate:
    """An infostate of the player who acts at a public node, by OpenSpiel's name for it.

    key: its information state string.  legal: OpenSpiel's legal actions.
    """

    key: str
    node: int
    infostate: int
    legal: tuple[int, ...]


def infostates_by_string(public: PublicTree, player: int | None = None) -> Iterator[NamedInfostate]:
    """The infostates of a listed game that cards allow, where their player acts; None: of both players.

    GameError where OpenSpiel lacks the game.
    """
    for reached in states_of_infostates(public, player):
        state = reached.state
        key = state.information_state_string(state.current_player())
        yield NamedInfostate(key, reached.node, reached.infostate, tuple(state.legal_actions()))


def check_against_openspiel(public: PublicTree, policy: Policy) -> Check:
    """The policy's NashConv by our best responses and by OpenSpiel's; errors as in `tabular_policy`."""
    theirs = nash_conv(openspiel_game(public.game), tabular_policy(public, policy))
    return Check(2.0 * measure_policy(public, policy).exploitability, float(theirs))

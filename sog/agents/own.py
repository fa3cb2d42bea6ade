"""Agents that a person wrote: found by MODULE:CLASS, checked, measured exactly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from inspect import signature
from pathlib import Path

import numpy as np

from sog.algorithms.base import Asked, MakeAgent, Measured, count_of, seeds_text
from sog.arrays import Float64
from sog.errors import GameError, SettingError
from sog.games.base import Unit
from sog.games.blame import code_of
from sog.games.catalog import make_game
from sog.games.own import imported
from sog.measure.endgame import EndgamePolicy, is_turn_spot
from sog.measure.exploitability import composed_policy, decision_count
from sog.play.agent import Agent
from sog.play.turn_chain import public_state
from sog.progress import OpenBar
from sog.searches.cfr import exact
from sog.searches.leaves.evaluator import SearchGenerator
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import whole_tree

__all__ = ["CheckedAgent", "agent_class", "checked_policies", "imported_as", "measure_agent", "seats_of"]


def agent_class(text: str) -> type[Agent]:
    """The class that MODULE:CLASS names, looked for in the current folder too; SettingError where it is missing."""
    named = imported_as(text)
    if not (isinstance(named, type) and issubclass(named, Agent)):
        raise SettingError(f"{text} is not a class derived from sog.Agent")
    return named


def imported_as(text: str) -> object:
    """What MODULE:NAME names, looked for in the current folder too; SettingError where it is missing."""
    module, _, name = text.partition(":")
    if module.endswith(".py"):
        raise SettingError(f"an agent is named MODULE:CLASS, such as {Path(module).stem}:{name or 'CLASS'}, not {text}")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise SettingError(f"an agent is named MODULE:CLASS, such as sog.agents.uniform:UniformAgent, not {text}")
    try:
        with code_of(f"the module {module}", SettingError):
            named: object = getattr(imported(module, text), name, None)
    except GameError as error:
        raise SettingError(str(error)) from error
    if named is None:
        raise SettingError(f"{text}: the module {module} has no {name}")
    return named


def seats_of(kind: type[Agent], public: PublicTree) -> MakeAgent:
    """Makes the agent of a seat of this game, (player, seed) -> agent; its policies are not yet checked.

    SettingError where the class takes no such three; making one raises it where the class's own code raises.
    """
    with suppress(ValueError):  # raised where Python cannot list what it takes
        try:
            signature(kind).bind(public, 0, 0)
        except TypeError as error:
            raise SettingError(f"the agent {kind.__name__} is made with (public, player, seed): {error}") from error

    def make(player: int, seed: int) -> Agent:
        with _code_of(kind):
            return kind(public, player, seed)

    return make


def _code_of(kind: type[Agent]) -> AbstractContextManager[None]:
    """What an agent's own code raises becomes a SettingError that names the class and the line."""
    return code_of(f"the agent {kind.__name__}", SettingError)


def checked_policies(agent: Agent) -> Iterator[tuple[int, Float64]]:
    """`agent.policies()`; SettingError for a wrong shape, negative numbers, or sums other than 1.

    SettingError, too, where the agent's own code raises.
    """
    with _code_of(type(agent)):
        policies = iter(agent.policies())
    while True:
        with _code_of(type(agent)):
            pair = next(policies, None)
            if pair is None:
                return
            node, policy = pair
        yield node, _checked(agent, node, policy)


class CheckedAgent(Agent):
    """Another agent in play, each of whose policies and actions is checked; SettingError as of `checked_policies`."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent.public, agent.player, agent.seed)
        self.agent, self.evaluator, self._node = agent, agent.evaluator, 0

    def policy(self, node: int) -> Float64:
        with _code_of(type(self.agent)):
            policy = self.agent.policy(node)
        return _checked(self.agent, node, policy)

    def steps(self, node: int) -> SearchGenerator:
        with _code_of(type(self.agent)):
            yield from self.agent.steps(node)

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        self._node = node
        if type(self.agent).act is Agent.act:
            return super().act(node, infostate, rng)
        self.agent.drawn_from = None  # of an earlier decision, where this one is not drawn from a policy
        with _code_of(type(self.agent)):
            column = self.agent.act(node, infostate, rng)
        legal = self.legal(node)[:, infostate]
        if not isinstance(column, int | np.integer) or not 0 <= column < len(legal) or not legal[column]:
            raise SettingError(f"{_prefix(self.agent, node)}: act returned {column!r}, not the index of a legal action")
        drawn_from = self.agent.drawn_from
        self.drawn_from = None if drawn_from is None else _checked(self.agent, node, drawn_from)
        return int(column)

    def new_game(self) -> None:
        super().new_game()
        with _code_of(type(self.agent)):
            self.agent.new_game()

    def belief(self, infostate: int) -> Float64 | None:
        with _code_of(type(self.agent)):
            given = self.agent.belief(infostate)
        if given is None:
            return None
        width, prefix = self.public.num_infostates(self._node)[1 - self.player], _prefix(self.agent, self._node)
        try:
            belief = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SettingError(f"{prefix}: a belief that is no array of numbers but {type(given).__name__}") from error
        if belief.shape != (width,) or not (belief >= 0).all():
            raise SettingError(f"{prefix}: a belief is float64[{width}], none below 0")
        return belief

    def fork(self) -> CheckedAgent:
        return CheckedAgent(self.agent.fork())


def _checked(agent: Agent, node: int, policy: Float64) -> Float64:
    """float64[A, I]: an agent's policy at a node; SettingError where it is not a policy."""
    legal, prefix = agent.legal(node), _prefix(agent, node)
    if np.iscomplexobj(policy):
        raise SettingError(f"{prefix}: a policy of complex numbers")
    try:
        checked = np.asarray(policy, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(f"{prefix}: a policy that is no array of numbers but {type(policy).__name__}") from error
    if flaw := exact.flaw_of(checked, legal):
        raise SettingError(f"{prefix}: {flaw}")
    return checked


def _prefix(agent: Agent, node: int) -> str:
    """The agent's class and the public state, for messages."""
    return f"{type(agent).__name__} at {agent.game.state_name(agent.state(node))}"


def _exploitability(public: PublicTree, policy: exact.Policy) -> float:
    """Of a policy for the whole game, in utilities; of hold'em from the turn on by its own best responses."""
    if not is_turn_spot(public.game):
        return exact.measure_policy(public, policy).exploitability
    whole = EndgamePolicy(public.game, os.cpu_count() or 1)
    whole.play({public_state(public, node): probabilities for node, probabilities in policy.items()})
    return whole.measure().exploitability


def measure_agent(text: str, game: str, asked: Asked, bar: OpenBar) -> Measured:
    """Exact exploitability of the agents that a class makes for both seats, for each seed."""
    kind, seeds = agent_class(text), count_of("seeds", asked.seeds, 1)
    rules = make_game(game)
    with bar("listing public states", None, "states") as report:
        public = whole_tree(rules, limit_gb=asked.limit_gb, report=lambda count: report(count, ""))
    make, values, states = seats_of(kind, public), [], decision_count(public)
    unit = Unit("chips") if is_turn_spot(rules) else rules.unit  # as networks are measured there
    with bar(f"exploit {rules.name}", seeds * states, "public states") as report:
        for seed in range(seeds):
            before = seed * states

            def progress(done: int, before: int = before) -> None:
                report(before + done, "")

            policy = composed_policy((make(0, seed), make(1, seed)), progress, checked_policies)
            values.append(_exploitability(public, policy) * unit.per_utility)
    return Measured(
        rules.name,
        unit.name,
        tuple(values),
        text,
        {"agent": text, "seeds": seeds},
        {},
        spread=seeds_text(values),
    )

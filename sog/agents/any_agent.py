"""Agents that a person wrote: found by MODULE:CLASS, checked, measured exactly."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sog.agents.algorithms.base import Choices, MakeAgent, Measured, OpenBar, count_of
from sog.agents.exploitability import composed_policy, decision_count
from sog.arrays import Float64
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.play.agent import Agent
from sog.search.cfr import exact
from sog.search.tree.public_tree import PublicTree

__all__ = ["CheckedAgent", "agent_class", "checked_policies", "measure_agent", "seats_of"]


def agent_class(text: str) -> type[Agent]:
    """The class that MODULE:CLASS names, looked for in the current folder too; SettingError where there is none."""
    module, colon, name = text.partition(":")
    if not colon or not name:
        raise SettingError(f"an agent is named MODULE:CLASS, such as sog.agents.uniform:UniformAgent, not {text}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise SettingError(f"{text}: {error}") from error
    except AttributeError as error:
        raise SettingError(f"{text}: the module {module} has no {name}") from error
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise SettingError(f"{text} is not a class derived from sog.Agent")
    return found


def seats_of(kind: type[Agent], public: PublicTree) -> MakeAgent:
    """Makes the agent of a seat of this game, (player, seed) -> agent; its policies are not yet checked."""
    return lambda player, seed: kind(public, player, seed)


def checked_policies(agent: Agent) -> Iterator[tuple[int, Float64]]:
    """`agent.policies()`; SettingError where one is no policy: its shape, negative numbers, sums other than 1."""
    for node, policy in agent.policies():
        yield node, _checked(agent, node, policy)


class CheckedAgent(Agent):
    """Another agent in play, each of whose policies and actions is checked; SettingError as of `checked_policies`."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent.public, agent.player, agent.seed)
        self.agent = agent

    def policy(self, node: int) -> Float64:
        return _checked(self.agent, node, self.agent.policy(node))

    def act(self, node: int, infostate: int, rng: np.random.Generator) -> int:
        if type(self.agent).act is Agent.act:
            return super().act(node, infostate, rng)
        column = self.agent.act(node, infostate, rng)
        legal = self.legal(node)[:, infostate]
        if not isinstance(column, int | np.integer) or not 0 <= column < len(legal) or not legal[column]:
            raise SettingError(f"{_where(self.agent, node)}: act returned {column!r}, not the index of a legal action")
        drawn_from = self.agent.drawn_from
        self.drawn_from = None if drawn_from is None else _checked(self.agent, node, drawn_from)
        return int(column)

    def new_game(self) -> None:
        super().new_game()
        self.agent.new_game()

    def belief(self) -> Float64 | None:
        return self.agent.belief()

    def fork(self) -> CheckedAgent:
        return CheckedAgent(self.agent.fork())


def _checked(agent: Agent, node: int, policy: Float64) -> Float64:
    """float64[A, I]: an agent's policy at a node; SettingError where it is none."""
    legal, where = agent.legal(node), _where(agent, node)
    found = np.asarray(policy, dtype=np.float64)
    if found.shape != legal.shape:
        raise SettingError(f"{where}: a policy of shape {found.shape}, not {legal.shape} (actions, infostates)")
    if not (found >= 0).all() or (found[~legal] > 0).any():
        raise SettingError(f"{where}: a probability below 0, or of an illegal action")
    if not np.allclose(found.sum(axis=0)[legal.any(axis=0)], 1.0, atol=1e-9):
        raise SettingError(f"{where}: the probabilities of an infostate do not sum to 1")
    return found


def _where(agent: Agent, node: int) -> str:
    """The agent's class and the public state, for messages."""
    return f"{type(agent).__name__} at {agent.game.state_name(agent.state(node))}"


def measure_agent(text: str, game: str, choices: Choices, bar: OpenBar) -> Measured:
    """Exact exploitability of the agents that a class makes for both seats, for each seed."""
    kind, seeds = agent_class(text), count_of("seeds", choices.seeds, 1)
    rules = make_game(game)
    public = PublicTree(rules).list_all()
    make, values, states = seats_of(kind, public), [], decision_count(public)
    with bar(f"exploit {rules.name}", seeds * states, "public states") as report:
        for seed in range(seeds):
            before = seed * states

            def progress(done: int, before: int = before) -> None:
                report(before + done, "")

            policy = composed_policy((make(0, seed), make(1, seed)), progress, checked_policies)
            values.append(exact.measure_policy(public, policy).exploitability * rules.unit.per_utility)
    return Measured(
        rules.name,
        rules.unit.name,
        tuple(values),
        text,
        {"agent": text, "seeds": seeds},
        {},
        spread=f"min {min(values):.4g}, max {max(values):.4g}, {seeds} seed{'s' * (seeds > 1)}, ",
    )

"""Sound self-play: games in which each player re-solves with its own chain of searches (PoG, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from sog.arrays import Float64
from sog.games.base import TERMINAL
from sog.play.referee import Referee, World
from sog.play.resolver import ResolveSettings, Resolving, Solved
from sog.search.gtcfr.search import QueryLog
from sog.search.leaves.evaluator import Beliefs, Evaluations
from sog.search.tree import columns as f
from sog.search.tree.public_tree import PublicTree
from sog.search.tree.slots import ranges_by_slot
from sog.train.sog.queries import Query, pick_iterations

__all__ = ["GameGenerator", "GameRecord", "SelfPlaySettings", "Visit", "choose", "play_game"]


@dataclass(frozen=True)
class SelfPlaySettings:
    """PoG, Table 3.

    queries_per_search: q_search.  uniform_mix: epsilon, the share of uniform play.  td1: p_td1, the chance
    that a played state also becomes a TD(1) example.  main_line_policies: policy targets come from the main line's
    searches (SoG's text) instead of the solved queries (PoG's pseudocode).  greedy_after, moves_max: 0 for never.
    resign_below: value, as a share of u_max, at which a player gives up (-1 or less: never); no_resign: the share of
    games played to the end all the same.
    """

    resolve: ResolveSettings
    queries_per_search: float = 1.0
    uniform_mix: float = 0.1
    td1: float = 0.0
    main_line_policies: bool = False
    greedy_after: int = 0
    moves_max: int = 0
    resign_below: float = -2.0
    no_resign: float = 0.2


@dataclass(frozen=True, eq=False)
class Visit:
    """A state played through: the belief there, the policy found and the infostates of the world."""

    node: int
    ranges: Float64  # float64[S0 + S1], by slot
    policy: Float64  # float64[A, I]
    pair: tuple[int, int]


@dataclass(eq=False)
class GameRecord:
    """One self-play game: what it visited, the queries its searches left, player 0's utility (None: cut short)."""

    visits: list[Visit]
    queries: list[Query]
    utility: float | None = None


GameGenerator = Generator[Beliefs, Evaluations, None]


def play_game(
    public: PublicTree, settings: SelfPlaySettings, rng: np.random.Generator, record: GameRecord
) -> GameGenerator:
    """Play one game into `record`, as a generator of leaf beliefs."""
    referee = Referee(public)
    world = referee.deal(rng)
    chains: list[Solved | None] = [None, None]
    may_resign = rng.random() >= settings.no_resign
    while referee.actor(world) != TERMINAL:
        if settings.moves_max and len(record.visits) >= settings.moves_max:
            return
        player = referee.actor(world)
        log = QueryLog(pick_iterations(settings.queries_per_search, settings.resolve.budget, rng))
        resolving = Resolving(public, player, world.node, chains[player], settings.resolve, _seed(rng), log)
        yield from resolving.steps()
        solved = chains[player] = resolving.solved()
        record.queries.extend(Query(node, ranges) for node, ranges in log.picked)
        record.visits.append(_visit(solved, world))
        if may_resign and _hopeless(solved, world, settings):
            record.utility = public.game.u_max * (-1.0 if player == 0 else 1.0)
            return
        column = choose(solved.policy()[:, world.pair[player]], referee.legal(world), settings, len(record.visits), rng)
        world = referee.act(world, column, rng)
    record.utility = referee.utility(world)


def choose(
    policy: Float64, legal: list[int], settings: SelfPlaySettings, moves: int, rng: np.random.Generator
) -> int:
    """A legal column drawn from the policy mixed with uniform play, or its best one late in the game."""
    mixed = np.zeros(len(policy))
    mixed[legal] = (1.0 - settings.uniform_mix) * policy[legal] + settings.uniform_mix / len(legal)
    if settings.greedy_after and moves > settings.greedy_after:
        return int(mixed.argmax())
    return int(rng.choice(len(mixed), p=mixed / mixed.sum()))


def _visit(solved: Solved, world: World) -> Visit:
    tree, n = solved.tree, solved.start
    means = (tree.slots[f.REACH_SUM, tree.span(n, 0)], tree.slots[f.REACH_SUM, tree.span(n, 1)])
    return Visit(world.node, ranges_by_slot(tree.public, world.node, means), solved.policy(), world.pair)


def _hopeless(solved: Solved, world: World, settings: SelfPlaySettings) -> bool:
    value = solved.root_values()[solved.player][world.pair[solved.player]]
    return bool(value < settings.resign_below * solved.tree.public.game.u_max)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**62))

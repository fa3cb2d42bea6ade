"""Every search of a self-play round grows its budget or its whole subgame, whatever the network says."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

import numpy as np
import pytest

from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.caps import PlayoutCaps
from sog.algorithms.boards.game import BoardGame, BoardPlay
from sog.algorithms.boards.searches import GtcfrSearch
from sog.algorithms.student.actor import SogActing, SogActor
from sog.algorithms.student.queries import QuerySettings, Solving
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.games.catalog import make_game
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.gtcfr.search import SearchLog, search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations, zero_evaluator
from sog.searches.tree.public_tree import PublicTree

GAMES = (
    "kuhn_poker",
    "leduc_poker",
    "rps",
    "tic_tac_toe",
    "connect_four",
    "go(board_size=5)",
    "chess",
    "goofspiel(imp_info=True,num_cards=3)",
    "liars_dice(numdice=1,dice_sides=3)",
    "scotland_yard(map=glasses,rounds=2)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,allow_repeated_shots=False)",
    "openspiel:tic_tac_toe",
)
LONG = ("chess", "go(board_size=5)")


class Headstrong:
    """Answers as an evaluator that is sure of everything and right about nothing: regrets jump, policies are pure."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __call__(self, requests: Sequence[Beliefs]) -> list[Evaluations]:
        answers = []
        for beliefs in requests:
            game, count = beliefs.public.game, len(beliefs.nodes)
            values = self.rng.choice([-1.0, 1.0], size=(count, sum(game.num_slots)))
            logits = 30.0 * self.rng.normal(size=(count, max(game.num_slots), game.num_actions))
            answers.append(Evaluations(values, logits))
        return answers


def actor_of(name: str, budget: Budget, fill: bool = True) -> SogActor:
    game, settings = make_game(name), SearchSettings(fill=fill)
    resolve = ResolveSettings(budget, settings)
    selfplay = SelfPlaySettings(resolve, queries=0.3, uniform_mix=0.5, moves_max=8 if name in LONG else 42)
    return SogActor(game, shape_for(game, 4, 1), SogActing(selfplay, QuerySettings(budget, settings), 4))


@pytest.mark.parametrize("budget", [Budget(20, 1.0), Budget(24, 2.0)], ids=str)
@pytest.mark.parametrize("name", GAMES)
def test_every_search_of_a_round_grows(name: str, budget: Budget) -> None:
    grown: list[bool] = []
    for job in actor_of(name, budget).finished(3, Headstrong(), np.random.default_rng(0)):
        grown += [job.log.grown] if isinstance(job, Solving) else [visit.grown for visit in job.visits]
    assert len(grown) >= 3 and all(grown)


@pytest.mark.parametrize("per_update", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "go(board_size=5)", "chess"])
def test_every_search_of_a_round_on_boards_grows(name: str, per_update: float) -> None:
    game = make_game(name)
    caps = PlayoutCaps(simulations=24, cheap=10, share=0.5)
    play = BoardPlay(GtcfrSearch(per_update=per_update), caps, openings=2, moves_max=8 if name in LONG else 42)
    actor = BoardActing(play).make(game, shape_for(game, 4, 1))
    jobs = actor.finished(3, Headstrong(), np.random.default_rng(0))
    grown = [visit.grown for job in jobs if isinstance(job, BoardGame) for visit in job.visits]
    assert len(grown) >= 3 and all(grown)


def test_the_papers_search_may_grow_less() -> None:
    """Without fill a trajectory that ends where the game ends opens nothing, and that is counted."""
    grown: list[bool] = []
    actor = actor_of("connect_four", Budget(60, 2.0), fill=False)
    for job in actor.finished(2, Headstrong(), np.random.default_rng(0)):
        grown += [] if isinstance(job, Solving) else [visit.grown for visit in job.visits]
    assert grown and not all(grown)


@pytest.mark.parametrize("fill", [True, False])
def test_a_trajectory_without_a_world_is_counted(fill: bool) -> None:
    """Where no pair of infostates is possible at the searched state, nothing counts as grown."""
    public = PublicTree(make_game("leduc_poker")).list_all()
    node = next(n for n in public.decisions() if n > 0)
    game = public.game
    ones = (np.ones(game.num_slots[0]), np.ones(game.num_slots[1]))

    def searched() -> SearchLog:
        log, tree, rng = SearchLog(), Lookahead(public, node, ones), np.zeros(1, dtype=np.uint64)
        run(search(tree, 0, Budget(6, 2.0), SearchSettings(fill=fill), rng, log=log), zero_evaluator)
        return log

    log = searched()
    assert log.expansions == 4 and log.lost <= (0 if fill else 1)  # without fill one comes to where the game ends
    public.nodes.weight_scale[node] = 0.0
    log = searched()
    assert (log.expansions, log.lost, log.grown) == (4, 4, False)


def test_a_finished_game_lets_its_public_tree_go() -> None:
    """Games that are too large to list each have a tree; with the game and its queries it ends."""
    actor = actor_of("connect_four", Budget(4, 2.0))
    trees: list[weakref.ref[PublicTree]] = []
    most = 0
    for job in actor.finished(16, zero_evaluator, np.random.default_rng(0)):
        if isinstance(job, Solving):
            continue
        trees.append(weakref.ref(job.public))
        del job
        gc.collect()
        most = max(most, sum(tree() is not None for tree in trees))
    assert len(trees) == 16
    assert most <= 8  # those side by side, and those whose queries wait

"""Prints a SHA-256 of all that each of many searches answers, to show equal bits before and after a change of code.

From fixed seeds, on one core; to be compared on one machine, since processors round differently.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, replace
from functools import partial

import numpy as np
import torch

from sog.agents.opening import open_network
from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.algorithms.rebel.agent import ProfileSolve, RebelSettings, start_position
from sog.algorithms.rebel.algorithm import REBEL
from sog.algorithms.rebel.playthroughs import sampled_policy
from sog.algorithms.sepot.agent import search_of
from sog.algorithms.sepot.critic import profiles
from sog.algorithms.sepot.search import PAPERS, SepotSearchSettings
from sog.algorithms.sepot.trained_critic import HistoryCritic
from sog.algorithms.student.player import SogPlayer
from sog.api import exploitability, solve
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game, make_history_game
from sog.games.histories.base import deal, drawn
from sog.measure.exploitability import agent_policy
from sog.measure.listed import listed
from sog.nets.cvpn import CVPN
from sog.nets.one_core import one_core
from sog.nets.perceptron import Perceptron
from sog.nets.shape import policy_shape
from sog.nets.values import value_evaluator
from sog.play.player import Limits, think
from sog.play.resolver import ResolveSettings, Resolving
from sog.searches.cfr.algorithms import NAMES
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.depth_limited.settings import SOLVERS, SolveSettings
from sog.searches.gtcfr.settings import Budget
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.drive import run
from sog.searches.resolving.decomposition import Decomposition
from sog.searches.resolving.subgame import nodes_of, safely
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.holdem import RIVER, TURN, TimedSpot, game_of

LEDUC, DICE, GLASSES = "leduc_poker", "liars_dice(numdice=1,dice_sides=4)", "scotland_yard(map=glasses)"
AGENT = ResolveSettings(Budget(100, 1.0))


def _bytes(answer: object) -> bytes:
    """The shapes of numbers, arrays, bytes and collections of them, and what their own bytes hash to."""
    if answer is None:  # such as the value of a move that no search valued
        return b"none"
    if isinstance(answer, Mapping):
        answer = sorted(answer.items(), key=lambda item: item[0])
    if isinstance(answer, tuple | list):
        return b"".join((b"%d parts" % len(answer), *map(_bytes, answer)))
    array = np.asarray(answer)
    if array.dtype == object:
        raise TypeError(f"neither numbers nor bytes: {type(answer).__name__}")
    return f"{array.dtype} {array.shape}".encode() + hashlib.sha256(np.ascontiguousarray(array).data).digest()


def _at_random(network: CVPN) -> CVPN:
    """The network with random weights in all layers: a fresh one's answers are 0."""
    for weight in network.parameters():
        torch.nn.init.uniform_(weight, -0.1, 0.1, torch.Generator().manual_seed(0))
    return network


def _root(name: str, seed: int, settings: ResolveSettings = AGENT) -> object:
    game, opened = make_game(name), open_network(name)
    if not opened.trained:
        opened = replace(opened, network=_at_random(CVPN(opened.network.shape)))
    resolving = Resolving(PublicTree(game), int(game.actor(game.root())), 0, None, settings, seed)
    run(resolving, opened.evaluator)
    solved, tree = resolving.solved(), resolving.tree
    return solved.root_values(), tree.size, [tree.policy(n) for n in tree.decisions()]


def _agent(name: str) -> object:
    policy = agent_policy(listed(name), AGENT, open_network(name).evaluator, seed=0)
    return policy, exploitability(policy, name)


def _board(name: str, per_update: float | None) -> object:
    """The first moves of a game, each on the kept tree: by GT-CFR, or MCTS where `per_update` is None."""
    leaves = open_network(name).evaluator
    player = AlphaZeroPlayer("", leaves, 100) if per_update is None else SogPlayer("", leaves, Budget(100, per_update))
    player.new_game(make_game(name))
    moves, thoughts = list[int](), list[object]()
    for _ in range(6):
        thought = think(player, moves, Limits(simulations=100))
        thoughts.append(astuple(thought))
        moves.append(thought.action)
    tree = player.last
    if isinstance(tree, Lookahead):
        return thoughts, [tree.policy_sum(n) for n in tree.decisions()]
    assert tree is not None
    return thoughts, [(tree.priors(n), tree.visits(n), tree.totals(n), tree.value(n)) for n in range(tree.size)]


def _rebel(settings: SolveSettings) -> object:
    """The first subgame's average, and eight playthroughs; not the shipped network where leaves are valued by pair."""
    network, public = open_network(DICE, REBEL).network, listed(DICE)
    network = _at_random(CVPN(replace(network.shape, matchups=True))) if settings.pairs else network
    evaluator = value_evaluator(network, settings.warm > 0, settings.pairs)
    first = ProfileSolve(public, [start_position(public)], [np.zeros(0)], RebelSettings(settings, safe=False))
    run(first, evaluator)
    (profile,), games = first.profiles[0], first.games
    played = sampled_policy(public, RebelSettings(settings), evaluator, 8, np.random.default_rng(0))
    return profile.policies, profile.beliefs, games.root_values(0), games.tree.size, played.policy, played.solves


def _family(algorithm: str) -> object:
    solved = solve(LEDUC, algorithm, iterations=50)
    return solved.policy, solved.value, solved.exploitability


def _spot(spot: TimedSpot, iterations: int) -> object:
    """The hold'em solver's root values, and its averages as they lie there."""
    solver = HoldemSolver(game_of(spot.game))
    solver.iterate(iterations)
    values, policy = solver.root_values.copy(), solver.policy(solver.game.root())
    return values, policy, solver.averages, astuple(solver.progress())


def _sepot(settings: SepotSearchSettings) -> object:
    """The searches on the way through a random game, with a network and a critic of random weights."""
    game, pairs = make_history_game("goofspiel(imp_info=True,num_cards=8)"), profiles(10)
    critic = HistoryCritic(game, Perceptron((game.num_critic_inputs, 256, 256, len(pairs)), 0, last=0.1), pairs)
    search = search_of(game, _at_random(CVPN(policy_shape(game, 256, 2))), critic, settings)
    rng, states, answers = np.random.default_rng(0), game.begin(1), list[object]()
    while (actor := int(deal(game, states, rng)[0])) != TERMINAL:
        policy = search.search(game.public(states)[0], actor)
        answers.append(() if policy is None else (policy.policy, policy.rows, policy.histories, policy.values))
        game.step(states, drawn(game.legal(states), rng.random(1)))
    return answers


def _decomposition() -> object:
    """CFR-D on Leduc: the trunk, the summaries of its subgames, and what re-solving with the gadget makes of them."""
    game, public = make_game(LEDUC), listed(LEDUC)
    search = Decomposition(game, lambda s: game.actor(s) == NATURE, 20, keep_trees=True)
    search.iterate(20)
    summaries = search.summaries()
    subgames = safely(public, dict(zip(nodes_of(public, summaries), summaries.values(), strict=True)))
    for subgame in subgames:
        subgame.iterate(CFR_PLUS, 50)
    return *search.policy().values(), *map(astuple, summaries.values()), *(subgame.policy() for subgame in subgames)


def _cases() -> Iterator[tuple[str, Callable[[], object]]]:
    for name, seeds in ((LEDUC, 10), (GLASSES, 3), (DICE, 3)):
        yield from ((f"{name}/seed {seed}", partial(_root, name, seed)) for seed in range(seeds))
        yield f"{name}/whole policy", partial(_agent, name)
    for name in ("connect_four", "go(board_size=7,komi=9.0)"):
        yield from ((f"{name}/sog (100,{c})", partial(_board, name, c)) for c in (1, 10))
        yield f"{name}/alphazero", partial(_board, name, None)
    yield from ((f"rebel/{solver.name}", partial(_rebel, SolveSettings(solver, updates=64))) for solver in SOLVERS)
    yield "rebel/simultaneous", partial(_rebel, SolveSettings(updates=64, simultaneous=True))
    yield "rebel/recycled", partial(_rebel, SolveSettings(updates=64, recycle=0.05))
    yield "rebel/warm", partial(_rebel, SolveSettings(updates=64, warm=4))
    yield from ((f"family/{name}", partial(_family, name)) for name in NAMES)
    yield from (("holdem/river", partial(_spot, RIVER, 20)), ("holdem/turn", partial(_spot, TURN, 2)))
    yield "holdem/root (10,0.1)", partial(_root, "holdem(bets=0.5;1.0;allin)", 0, ResolveSettings(Budget(10, 0.1)))
    yield from (("sepot/ours", partial(_sepot, SepotSearchSettings())), ("sepot/paper", partial(_sepot, PAPERS)))
    yield "resolving/cfr-d", _decomposition


def main() -> None:
    """Print the digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="one search, or a group: what stands before the slash")
    parser.add_argument("--json", action="store_true", help="one object, digests by name")
    args = parser.parse_args()
    chosen = {name: case for name, case in _cases() if args.only in (None, name, name.partition("/")[0])}
    if not chosen:
        parser.error(f"no search is called {args.only}; known: {', '.join(name for name, _ in _cases())}")
    digests: dict[str, str] = {}
    with one_core():
        for name, case in chosen.items():
            digests[name] = hashlib.sha256(_bytes(case())).hexdigest()[:16]
            if not args.json:
                print(f"{name:<48}{digests[name]}", flush=True)
    if args.json:
        print(json.dumps(digests, indent=2))


if __name__ == "__main__":
    main()

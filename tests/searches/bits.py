"""Digests of what the kernels compute, to the last bit; as a program it prints them as one JSON object.

Whatever is asked of NumPy here is rounded alike everywhere: sums, products, quotients of single numbers, no matrices.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

import numpy as np
import torch

from sog.arrays import Array
from sog.games.base import Game
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.holdem.strings import holdem_from
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.leduc.game import Leduc
from sog.games.rules.liars_dice import LiarsDice
from sog.games.strings import parse_game
from sog.nets.cpu import residual
from sog.nets.cpu.resnet_packed import Tiles, packed_network
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.shape import NetworkShape
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.monte_carlo import OUTCOME
from sog.searches.cfr.rules import RULES
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry, Kind
from sog.training.checkpoint import load_network
from sog.training.shipped import find_checkpoint

GAMES: tuple[Game, ...] = (Goofspiel(3, "random"), Leduc(), LiarsDice(1, 4))
TURN = "holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)"
LONDON = "scotland_yard(map=london)"
FUSED = "fused: "  # of networks, whose sums are rounded once where the processor has FMA: not as x86-64-v2
RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=4000,bets=0.5;1.0;allin)"


def digest(arrays: Iterable[Array]) -> str:
    """Zeros of either sign count as one."""
    out = hashlib.sha256()
    for array in arrays:
        out.update(np.ascontiguousarray(array + 0.0).tobytes())
    return out.hexdigest()[:16]


def of_tree(tree: Lookahead) -> str:
    """The regrets, policies and averages of every decision node."""
    decisions = [n for n in range(tree.size) if tree.nodes.kind[n] == Kind.INTERIOR and tree.nodes.actor[n] < 2]
    return digest(tree.table(n, row) for n in decisions for row in (Entry.REGRET, Entry.POLICY, Entry.POLICY_SUM))


def solved(game: Game) -> str:
    """Every rule's hundred iterations, a thousand of Monte Carlo CFR, and the values of the last averages."""
    public, found = PublicTree(game).list_all(), []
    for rule in RULES:
        tree = exact.full_tree(public)
        tree.iterate(rule, 100)
        found.append(of_tree(tree))
    sampled = exact.full_tree(public)
    OUTCOME.iterate(sampled, 1_000)
    sampled.update_average_policy()
    return " ".join([*found, of_tree(sampled), digest(sampled.evaluate())])


def answers(requests: Sequence[Beliefs]) -> list[Evaluations]:
    """Values and priors that depend on the public state and the ranges, of exact operations only."""
    out = []
    for r in requests:
        game = r.public.game
        state = (r.nodes[:, None] * 7 % 13 + np.arange(r.ranges.shape[1]) * 5 % 11) / 16.0 - 0.6875
        shape = (len(r.nodes), max(game.num_slots), game.num_actions)
        logits = np.arange(np.prod(shape)).reshape(shape) % 5 / 8.0
        out.append(Evaluations(state + r.ranges / 8.0, logits))
    return out


def searched(game: Game) -> str:
    """A search that grows its tree."""
    tree = Lookahead(PublicTree(game), 0, game.root_ranges())
    run(search(tree, 0, Budget(40, 2.0), SearchSettings(), np.ones(1, dtype=np.uint64)), answers)
    return of_tree(tree)


def river() -> str:
    """Twenty iterations over every hand."""
    solver = HoldemSolver(holdem_from(parse_game(RIVER)[1]))
    solver.iterate(20)
    return digest([solver.regrets, solver.averages])


def resnet(tiles: Tiles) -> str:
    """A residual network's outputs for a few boards, from weights of exact operations only."""
    planes = 3, 6, 7
    network = CVPN(NetworkShape(126, (1, 1), 7, 32, 1, "resnet", planes=planes))
    with torch.no_grad():
        for k, weight in enumerate(network.parameters()):
            numbers = np.arange(weight.numel()) * 7 % (11 + k) / 16.0 - 0.3125
            weight.copy_(torch.from_numpy(numbers.reshape(weight.shape)))
    x = (np.arange(5 * 128).reshape(5, 128) * 7 % 5 == 0).astype(np.float32)
    out = np.empty((5, 9), dtype=np.float32)
    residual.evaluate(tuple(packed_network(network, tiles)), x, out)
    return digest([out])


def answered(folder: str) -> str:
    """What a network that ships says along a line of its game, for ranges of exact operations."""
    game_string, network, _ = load_network(find_checkpoint(folder))
    public = PublicTree(make_game(game_string))
    nodes = [0]
    while len(nodes) < 4 and public.list_fan(nodes[-1]):
        nodes.append(public.child(nodes[-1], min(1, public.num_edges(nodes[-1]) - 1)))
    ranges = np.zeros((len(nodes), sum(public.game.num_slots)))
    for b, node in enumerate(nodes):
        for p in (0, 1):
            places = public.places_of(node, p)
            ranges[b, places] = (np.arange(len(places)) * (3 + b + p) % 13 + 1) / 16.0
    (evaluations,) = network_evaluator(network)([Beliefs(public, np.array(nodes, dtype=np.int32), ranges)])
    return digest([evaluations.values, evaluations.logits])


def main() -> None:
    """Print every digest."""
    found = {f"solve {game.name}": solved(game) for game in GAMES}
    found |= {f"search {game.name}": searched(game) for game in (Leduc(), TicTacToe())}
    found["river"] = river()
    found |= {f"resnet {tiles}": resnet(tiles) for tiles in ((2, 12), (1, 5))}
    found["steps"] = digest(rule.steps(1, 10_000) for rule in RULES)
    found |= {f"{FUSED}{name}": answered(name) for name in ("leduc_poker", "holdem(bets=random)", TURN, LONDON)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

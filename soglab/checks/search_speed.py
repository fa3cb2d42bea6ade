"""What two choices cost a search: chance nodes opened or left as leaves, and logits of legal pairs or of every slot.

    python -m soglab.checks.search_speed chance [--seconds 10]
    python -m soglab.checks.search_speed pairs [--seconds 10]

chance: searches of the first decision of a turn spot and of a flop of hold'em, with a new network of the preset demo.
pairs: self-play on London, one game and 24 side by side, with a network of 3x256 whose logits are of every slot and
action, and with the same network's logits of the game's legal pairs alone. Seconds are this process's on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, product
from time import process_time
from typing import Final

import numpy as np
import torch

from sog.algorithms.student.presets import sog_preset
from sog.algorithms.student.selfplay import SelfPlaySettings, SogGame
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.nets.one_core import one_core
from sog.nets.policy_pairs import with_legal_pairs
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings, Resolving
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.leaves.drive import drive, run
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree

__all__ = ["chance_lines", "pair_lines"]

_SPOTS: Final = {
    "turn": "holdem(board=3s7hTdKs,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)",
    "flop": "holdem(board=3s7hTd,pot=2000,stacks=20000,bets=0.5;1.0;allin,raises=0.75;allin)",
}
_SPOT_BUDGETS: Final = (Budget(10, 0.1), Budget(100, 1.0))
_BUDGETS: Final = (Budget(10, 1.0), Budget(30, 1.0), Budget(100, 1.0))
_SIDE_BY_SIDE: Final = (1, 24)
_MOVES: Final = 8  # of a game
_NOISE: Final = 0.02  # of a new network's last layer, so that its values move policies


def chance_lines(seconds: float) -> Iterator[str]:
    """A line for each spot and budget, with chance nodes opened and left as leaves."""
    for (spot, name), budget in product(_SPOTS.items(), _SPOT_BUDGETS):
        game = make_game(name)
        evaluator = network_evaluator(_network(CVPN(sog_preset(game, "demo").shape)))
        for closed in (False, True):
            settings = ResolveSettings(budget, SearchSettings(chance_leaves=closed))
            _searches(game.name, replace(settings, budget=Budget(1, 1.0)), evaluator, 0.0)  # compiles the kernels
            each, nodes = _searches(game.name, settings, evaluator, seconds)
            yield f"{spot} | {budget} | {'leaves' if closed else 'opened'} | {1.0 / each:.3g} | {nodes:.0f}"


def _searches(name: str, settings: ResolveSettings, evaluator: Evaluator, seconds: float) -> tuple[float, float]:
    """Seconds a search of a game's first decision, and the nodes of its tree, over at least this many seconds."""
    started, done, nodes = process_time(), 0, 0
    while not done or process_time() - started < seconds:
        public = PublicTree(make_game(name))
        searching = Resolving(public, public.actor(0), 0, None, settings, seed=done)
        run(searching.steps(), evaluator)
        nodes, done = nodes + searching.solved().tree.size, done + 1
    return (process_time() - started) / done, nodes / done


def pair_lines(game_name: str, seconds: float) -> Iterator[str]:
    """A line for each head, and for each budget and number of games side by side."""
    game = make_game(game_name)
    full = _network(CVPN(replace(shape_for(game, 256, 3), legal_pairs=())))
    for name, network in (("every slot", full), ("legal pairs", with_legal_pairs(full, game))):
        yield f"{name}: {sum(weight.numel() for weight in network.parameters()):,} weights"
        evaluator = network_evaluator(network)
        for budget, width in product(_BUDGETS, _SIDE_BY_SIDE):
            _selfplay(game_name, Budget(1, 1.0), evaluator, 1, 0.0)
            yield f"{name} | {budget} | {width} | {_selfplay(game_name, budget, evaluator, width, seconds):.3g}"


def _selfplay(name: str, budget: Budget, evaluator: Evaluator, width: int, seconds: float) -> float:
    """Searches a second of the first moves of games of self-play, begun for at least this many seconds."""
    settings, numbers, started = SelfPlaySettings(ResolveSettings(budget), moves_max=_MOVES), count(), process_time()

    def games() -> Iterator[SogGame]:
        for number in numbers:
            if number >= width and process_time() - started >= seconds:
                return
            yield SogGame(PublicTree(make_game(name)), settings, np.random.default_rng(number))

    done = sum(len(game.visits) for game in drive(games(), evaluator, width))
    return done / (process_time() - started)


def _network(network: CVPN) -> CVPN:
    """The network with a little noise in its last layers, which answer 0 before."""
    noise = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in network.parameters():
            if not weight.any():
                weight.add_(_NOISE * torch.randn(weight.shape, generator=noise))
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["chance", "pairs"])
    parser.add_argument("--seconds", type=float, default=10.0, help="of each figure, at least")
    parser.add_argument("--game", default="scotland_yard(map=london)", help="of pairs")
    args = parser.parse_args()
    with one_core():
        if args.what == "chance":
            print("spot | search | chance nodes | searches a second | nodes")
            for line in chance_lines(args.seconds):
                print(line, flush=True)
        else:
            print("head | search | games side by side | searches a second")
            for line in pair_lines(args.game, args.seconds):
                print(line, flush=True)


if __name__ == "__main__":
    main()

"""Writes a network for ReBeL's own program on Liar's Dice as TorchScript, and prints our values at the game's root.

    python -m soglab.baselines.rebel_network 'liars_dice(numdice=1,dice_sides=4)' 1x4.pt [UPDATES]

The network is the one that ships for the game, or a checkpoint's. rebel_subgames.cpp reads the file, and prints its
program's values of the same subgame after as many updates.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from sog.agents.opening import open_network
from sog.algorithms.rebel.agent import start_position
from sog.arrays import Array, Float64
from sog.errors import SettingError
from sog.games.rules.liars_dice import LiarsDice
from sog.nets.network import Network
from sog.nets.packed_layers import linear, linear_layers
from sog.nets.values import value_evaluator
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.depth_limited.solve import solve
from sog.searches.depth_limited.subgames import Subgames
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Evaluator
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.evaluators import SameAnswers

MOST: Final = 100  # leaves of the first subgame


def rebel_module(network: Network, game: LiarsDice) -> nn.Sequential:
    """From ReBeL's queries, float32[B, 2 + A + 2 H], to both players' values, float32[B, 2 H].

    A query is [who acts, who is asked for, the standing bid one-hot, both beliefs]; SettingError unless it is an MLP of
    one die a player without matchups and crossed features.
    """
    shape = network.shape
    if shape.kind != "mlp" or shape.matchups or shape.crossed or game.num_dice != 1:
        raise SettingError("ReBeL's program takes an mlp without matchups, for one die a player")
    weights = network.arrays()
    layers = [*linear_layers(weights, "body"), linear(weights, "head")]
    bids, hands = game.num_bids, game.num_faces
    # Ours reads [bid one-hot, actor one-hot, both ranges times H]: the same numbers, so the first layer is rewritten.
    (first, bias), (last, last_bias) = layers[0], layers[-1]
    asked = np.zeros((len(first), 2 + game.num_actions + 2 * hands), dtype=np.float32)
    asked[:, 0] = first[:, bids + 1] - first[:, bids]
    asked[:, 2 : 2 + bids] = first[:, :bids]
    asked[:, 2 + game.num_actions :] = first[:, bids + 2 :] * hands
    layers[0], layers[-1] = (asked, bias + first[:, bids]), (last[: 2 * hands], last_bias[: 2 * hands])
    modules: list[nn.Module] = []
    for weight, offset in layers:
        layer = nn.Linear(weight.shape[1], len(weight))
        layer.weight, layer.bias = _fixed(weight), _fixed(offset)
        modules += [layer, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def _fixed(values: Array) -> nn.Parameter:
    tensor: Tensor = torch.from_numpy(np.ascontiguousarray(values))
    return nn.Parameter(tensor.clone(), requires_grad=False)


def first_values(game: LiarsDice, evaluator: Evaluator, updates: int) -> tuple[Float64, Float64]:
    """Both players' values by hand at the root of the game, after `updates` updates to depth 2."""
    public = PublicTree(game)
    position = start_position(public)
    games = Subgames(public, [(position.node, position.ranges)])
    run(solve(games, SolveSettings(updates=updates, correct=False)), evaluator)
    return games.root_values(0)


def main() -> None:
    """Write the file and print the values, with the network and with a constant at every leaf."""
    text, path, *updates = sys.argv[1:]
    opened = open_network(text, "rebel")
    if not isinstance(opened.game, LiarsDice):
        raise SettingError(f"ReBeL's program plays Liar's Dice, not {opened.game.name}")
    torch.jit.save(torch.jit.script(rebel_module(opened.network, opened.game)), path)
    by_hand = np.tile(np.linspace(-0.3, 0.4, opened.game.num_slots[0]), (MOST, 2))
    constant = SameAnswers(by_hand, np.zeros((MOST, *opened.network.shape.answered)))
    for name, evaluator in (("network", value_evaluator(opened.network)), ("constant", constant)):
        print(name)
        both = first_values(opened.game, evaluator, int(updates[0]) if updates else 1024)
        for player, values in enumerate(both):
            print(f"player {player}:", *(f"{value:.4f}" for value in values))


if __name__ == "__main__":
    main()

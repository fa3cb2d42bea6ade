"""Policies of a network whose logits are those of a game's legal pairs: by slot, and from a network with all logits."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate

import torch
from torch import Tensor, nn

from sog.errors import SettingError
from sog.games.base import Game
from sog.nets.cvpn import CVPN
from sog.nets.shape import NetworkShape

__all__ = ["by_slot", "with_legal_pairs"]


def by_slot(shape: NetworkShape, x: Tensor) -> list[Tensor]:
    """What lies as the network's logits do, [N, S, A], in parts whose slots follow one another.

    Of legal pairs, [N, 1, P], a part [N, S_p, K_p] for each player, K_p the most pairs of one of its slots; 0 or False
    where a slot has fewer. Otherwise x itself.
    """
    if not shape.legal_pairs:
        return [x]
    # The column after the last pair is 0.
    flat = nn.functional.pad(x[:, 0], (0, 1))
    return [flat[:, places.to(x.device)] for places in _places(shape.legal_pairs, shape.slots)]


@lru_cache(maxsize=8)
def _places(counts: tuple[int, ...], slots: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """int64[S_p, K_p] of each player: where each slot's pairs lie among all P, and P in unused places."""
    starts = torch.tensor([0, *accumulate(counts)])
    lengths, total = torch.tensor(counts), int(starts[-1])
    out = []
    for first, last in ((0, slots[0]), (slots[0], sum(slots))):
        steps = torch.arange(int(lengths[first:last].max()))
        places = starts[first:last, None] + steps
        out.append(torch.where(steps < lengths[first:last, None], places, total))
    return out[0], out[1]


def with_legal_pairs(network: CVPN, game: Game) -> CVPN:
    """A network with logits for the game's legal pairs alone, whose answers are those of `network`.

    SettingError for a network of another kind, and for a game that names no legal pairs.
    """
    shape, pairs = network.shape, game.legal_pairs
    if pairs is None or shape.legal_pairs or not isinstance(network.head, nn.Linear):
        raise SettingError(f"no network of legal pairs can be made of this one for {game.name}")
    out = CVPN(replace(shape, legal_pairs=pairs.counts))
    # Rows of the last layer: values first; of the logits those of the pairs.
    values, first = shape.head - shape.num_logits, [shape.first_policy_slot(player) for player in (0, 1)]
    slot = torch.from_numpy(pairs.slot).long() + torch.tensor(first)[torch.from_numpy(pairs.player).long()]
    rows = values + slot * shape.actions + torch.from_numpy(pairs.action).long()
    kept = torch.cat((torch.arange(values), rows))
    weights = network.state_dict()
    for name in ("head.weight", "head.bias"):
        weights[name] = weights[name][kept.to(weights[name].device)]
    out.load_state_dict(weights)
    return out

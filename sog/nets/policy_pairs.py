"""Policies by slot from the logits of a game's legal pairs."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

import torch
from torch import Tensor, nn

from sog.nets.shape import NetworkShape

__all__ = ["by_slot"]


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

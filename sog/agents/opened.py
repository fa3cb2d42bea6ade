"""A network with the game it plays, as it comes out of a checkpoint; it knows neither files nor algorithms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sog.games.base import Game
from sog.nets.cvpn import CVPN
from sog.nets.inference import network_evaluator
from sog.search.leaves.evaluator import Evaluator
from sog.train.settings import PLAIN, Variant

__all__ = ["Opened"]


@dataclass(frozen=True)
class Opened:
    """A network and the game it plays; trained: false for a fresh one.  variant, preset: of the run that trained it.
    folder: of the checkpoint, which may hold more; None for a fresh network.
    """

    game: Game
    network: CVPN
    trained: bool
    variant: Variant = PLAIN
    preset: str = ""
    folder: Path | None = None

    @cached_property
    def evaluator(self) -> Evaluator:
        """Answers searches with the network; made once."""
        return network_evaluator(self.network)

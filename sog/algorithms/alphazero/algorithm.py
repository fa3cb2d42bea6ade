"""AlphaZero as an entry in the table of learning algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from sog.algorithms.base import Choices, Learner, PlayBoard, Training, count_of

if TYPE_CHECKING:
    from sog.algorithms.base import Rules
    from sog.games.base import Game
    from sog.nets.cvpn import CVPN
    from sog.play.player import Player
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.settings import TrainSettings, Variant

__all__ = ["ALPHAZERO", "ENTRY"]

ALPHAZERO: Final = "alphazero"
_SIMULATIONS: Final = 400


def _preset(game: Rules, name: str) -> TrainSettings:
    from sog.algorithms.alphazero.presets import alphazero_preset

    return alphazero_preset(cast("Game", game), name)


def _measure(public: PublicTree, network: CVPN, variant: Variant, preset: str) -> float:
    from sog.measure.exploitability import network_exploitability

    return network_exploitability(public, network)


def _player(evaluator: Evaluator, choices: Choices, seed: int) -> Player:
    from sog.algorithms.alphazero.player import AlphaZeroPlayer

    return AlphaZeroPlayer(_label(choices), evaluator, _simulations(choices), seed=seed)


def _label(choices: Choices) -> str:
    return f"AlphaZero({_simulations(choices)})"


def _simulations(choices: Choices) -> int:
    return count_of("simulations", choices.simulations, _SIMULATIONS)


ENTRY: Final = Learner(
    ALPHAZERO,
    "AlphaZero",
    # Exploitability is that of Student of Games' search with AlphaZero's network: the same yardstick for both.
    Training(_preset, _measure, "search at (100,1), one seed"),
    board=PlayBoard(_player, ("simulations",), _label),
)

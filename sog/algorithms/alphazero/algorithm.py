"""AlphaZero as a learning algorithm: what can be set, how it trains and plays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from sog.algorithms.alphazero.actor import AlphaZeroActing
from sog.algorithms.alphazero.agent import AlphaZeroAgent
from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.algorithms.alphazero.presets import alphazero_preset
from sog.algorithms.base import Algorithm, MakeAgent, Rules, count_of
from sog.algorithms.boards.actor import BoardActing
from sog.algorithms.boards.searches import MctsSearch
from sog.errors import SettingError
from sog.games.base import Game
from sog.measure.exploitability import network_exploitability
from sog.training.settings import TrainSettings

if TYPE_CHECKING:
    from sog.nets.network import Network
    from sog.play.player import Player
    from sog.searches.leaves.evaluator import Evaluator
    from sog.searches.tree.public_tree import PublicTree
    from sog.training.opened import Opened

__all__ = ["ALPHAZERO", "AlphaZero"]

ALPHAZERO: Final = "alphazero"
_SIMULATIONS: Final = 400


@dataclass(frozen=True, kw_only=True)
class AlphaZero(Algorithm):
    """AlphaZero: MCTS with PUCT and a policy and value network, for games of perfect information (Science 2018).

    simulations: simulations of a move, in play (by default 400) and in training.
    """

    name: ClassVar[str] = ALPHAZERO
    title: ClassVar[str] = "AlphaZero"
    measure_is: ClassVar[str] = "search at (100,1), one seed"
    learns_with: ClassVar[tuple[type, ...]] = (TrainSettings, AlphaZeroActing, BoardActing, MctsSearch)
    plays_boards: ClassVar[bool] = True
    plays_unlisted: ClassVar[bool] = True

    simulations: int | None = None

    def preset(self, game: Rules, name: str) -> TrainSettings:
        assert isinstance(game, Game)
        return alphazero_preset(game, name)

    def measure(self, public: PublicTree, network: Network, preset: str) -> float:
        """Exploitability of Student of Games' search with AlphaZero's network: the same yardstick for both."""
        return network_exploitability(public, network)

    def agents(self, public: PublicTree, opened: Opened) -> MakeAgent:
        """Agents for games of chance with nothing hidden; SettingError where information is hidden."""
        if not public.game.perfect_information:
            raise SettingError(f"alphazero plays games of perfect information only, not {public.game.name}")
        simulations, evaluator = self._simulations, opened.evaluator
        return lambda player, seed: AlphaZeroAgent(public, player, simulations, evaluator, seed)

    def player(self, evaluator: Evaluator, seed: int) -> Player:
        return AlphaZeroPlayer(self.label, evaluator, self._simulations, seed=seed)

    @property
    def label(self) -> str:
        return f"AlphaZero({self._simulations})"

    @property
    def _simulations(self) -> int:
        return count_of("simulations", self.simulations, _SIMULATIONS)

"""What checks on fixed positions share: players with a network as points name them, the positions, and shares."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.alphazero.player import AlphaZeroPlayer
from sog.games.base import Game
from sog.measure.intervals import wilson
from sog.play.player import Player, PlayerSearch, Thought
from sog.searches.leaves.evaluator import Evaluator
from sog.training.checkpoint import load_meta
from soglab.papers.elo_matches import RatedAgent
from soglab.plots import Line, Style
from soglab.study import Key

NETWORK: Final = "network"


def network_player(key: Key, simulations: int) -> Player:
    """A player of the point's agent; the network alone plays its likeliest move."""
    algorithm = ALPHAZERO if key["agent"] == NETWORK else key["agent"]
    player = RatedAgent(algorithm, key["checkpoint"], key["network"], simulations or 1).maker()()
    return PolicyAlone(player.evaluator) if key["agent"] == NETWORK else player


class PolicyAlone(Player):
    """Plays the network's likeliest move, without a look at what it leads to."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(NETWORK, evaluator)
        self._asks = AlphaZeroPlayer(NETWORK, evaluator, 1)

    def new_game(self, game: Game) -> None:
        super().new_game(game)
        self._asks.new_game(game)

    def search_at(self, node: int, simulations: int | None) -> PolicyOfOne:
        return PolicyOfOne(self._asks.search(self.tree.moves, 1))


class PolicyOfOne:
    """A search of one simulation, which has asked the network about the position: its candidates by their shares."""

    def __init__(self, search: PlayerSearch) -> None:
        self._search, self.steps = search, search.steps

    @property
    def simulations(self) -> int:
        """How many were made."""
        return self._search.simulations

    def thought(self) -> Thought:
        """Every legal move, the likeliest first."""
        thought = self._search.thought()
        order = sorted(thought.candidates, key=lambda candidate: (-candidate.share, candidate.action))
        return replace(thought, candidates=tuple(order))


def inputs_of(key: Key) -> dict[str, str]:
    """{"inputs": what the point's network sees of a board}; empty where it is the game's usual, or no network."""
    game = load_meta(Path(key["checkpoint"])).game if key["checkpoint"] else ""
    return {"inputs": game.partition("(inputs=")[2].rstrip(")")} if "(inputs=" in game else {}


def agent_name(row: Key, effort: int) -> str:
    """An agent as tables show it: with its simulations or depth, and one of several checkpoints."""
    agent = f"{row['agent']}({effort})" if effort else str(row["agent"])
    return f"{agent} of {row['of']}" if row["of"] else agent


def file_id(file: Path) -> str:
    """Which positions a file holds, for the keys of points: other positions are other points."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]


def share_of(hits: float, count: float, name: str = "") -> dict[str, float]:
    """A share of `count` and its 95% interval as columns of a row: share, low and high behind `name`; 0 of none."""
    low, high = wilson(hits, count)
    return {f"{name}share": hits / count if count else 0.0, f"{name}low": low, f"{name}high": high}


def share_line(
    rows: Sequence[dict[str, Any]], x: Sequence[Any], label: str | None, style: Style | None = None, name: str = ""
) -> Line:
    """The shares of rows, %, with their intervals; columns are as `share_of` names them."""
    shares = [100 * row[f"{name}share"] for row in rows]
    bars = [[100 * abs(row[f"{name}share"] - row[f"{name}{end}"]) for row in rows] for end in ("low", "high")]
    return Line(x, shares, label, {"marker": "o"} if style is None else style, bars)

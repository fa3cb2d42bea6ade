"""What checks on fixed positions share: players with a network as points name them, and which positions there were."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.play.player import Player
from soglab.papers.elo_matches import Agent
from soglab.study import Key

NETWORK: Final = "network"


def network_player(key: Key, simulations: int) -> Player:
    """A player of the point's agent; the network alone is MCTS of one simulation, which is its policy's first move."""
    algorithm = ALPHAZERO if key["agent"] == NETWORK else key["agent"]
    return Agent(algorithm, key["checkpoint"], key["network"], simulations or 1).maker()()


def agent_name(row: Key, effort: int) -> str:
    """An agent as tables show it: with its simulations or depth, and one of several checkpoints."""
    agent = f"{row['agent']}({effort})" if effort else str(row["agent"])
    return f"{agent} of {row['of']}" if row["of"] else agent


def file_id(file: Path) -> str:
    """Which positions a file holds, for the keys of points: other positions are other points."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]

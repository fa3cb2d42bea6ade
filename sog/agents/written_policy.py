"""The policy in a file of `sog solve --out`, as an agent: looked up by the game's own words."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.arrays import Float64
from sog.errors import SettingError
from sog.files import bounded_json, open_regular, read_bounded, shown
from sog.games.base import Game
from sog.play.agent import Agent
from sog.searches.tree.public_tree import PublicTree

__all__ = ["WrittenPolicy", "WrittenPolicyAgent", "game_of_policy", "read_policy"]

_MOST_BYTES: Final = 2**31


@dataclass(frozen=True, eq=False)
class WrittenPolicy:
    """A file's policy: the probability of each action, by (player, state, infostate), all in the game's words.

    digest: of the file's bytes.
    """

    path: str
    rows: dict[tuple[int, str, str], dict[str, float]]
    digest: str


def game_of_policy(path: Path) -> str:
    """The game string of a file's policy; SettingError where it has none."""
    _, written = _read(path)
    game = written.get("game")
    if not isinstance(game, str):
        raise SettingError(f"{shown(path)} holds no policy of `sog solve --out`")
    return game


def _read(path: Path) -> tuple[bytes, dict[str, Any]]:
    """A file's bytes and the object in them; SettingError where there is none."""
    try:
        with open_regular(path, _MOST_BYTES) as (file, size):
            content = read_bounded(file, size)
        written = bounded_json(content)
    except OSError as error:
        raise SettingError(f"{shown(path)} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingError(f"{shown(path)} holds no policy of `sog solve --out`") from error
    if not isinstance(written, dict):
        raise SettingError(f"{shown(path)} holds no policy of `sog solve --out`")
    return content, written


def read_policy(path: Path, game: Game) -> WrittenPolicy:
    """The policy of a file; SettingError where it is for another game, or has two entries for the same words."""
    named = shown(path)
    content, written = _read(path)
    try:
        if written["game"] != game.name:
            raise SettingError(f"{named} is a policy of {shown(written['game'])}, not of {game.name}")
        rows = {_words(entry): dict(entry["policy"]) for entry in written["policy"]}
    except (ValueError, TypeError, KeyError) as error:
        raise SettingError(f"{named} holds no policy of `sog solve --out`") from error
    if len(rows) < len(written["policy"]):
        raise SettingError(f"{named} has two entries with the same words, and play cannot tell them apart")
    return WrittenPolicy(named, rows, hashlib.sha256(content).hexdigest()[:16])


def _words(entry: dict[str, Any]) -> tuple[int, str, str]:
    return int(entry["player"]), str(entry["state"]), str(entry["infostate"])


class WrittenPolicyAgent(Agent):
    """Plays what the file says; SettingError where it says nothing."""

    def __init__(self, public: PublicTree, player: int, policy: WrittenPolicy) -> None:
        super().__init__(public, player)
        self.written = policy

    def policy(self, node: int) -> Float64:
        """float64[A, I]: see `Agent.policy`. Infostates that chance rules out may be missing."""
        game, state, legal = self.game, self.state(node), self.legal(node)
        names = [game.action_name(state, int(action)) for action in game.actions(state)]
        name = game.state_name(state)
        out = np.zeros(legal.shape)
        for i in range(legal.shape[1]):
            held = game.infostate_name(state, self.player, i)
            row = self.written.rows.get((self.player, name, held))
            if row is None:
                raise SettingError(f"{self.written.path} has no policy for {name} with {held}")
            out[:, i] = [row.get(action, 0.0) for action in names]
        return out

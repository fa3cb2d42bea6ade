"""Games as text: what a record says, and the plain format of games without one of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sog.games.base import Game, State

__all__ = ["GameRecord", "plain_record", "states_of", "wrapped"]

_WIDTH: Final = 80


@dataclass(frozen=True)
class GameRecord:
    """One game of perfect information.

    players: who was player 0 and player 1.  date: as 2025-12-31.  round: the game's number in the event.
    moves: action identities.  utility: player 0's, in [-1, 1], None before the end.  why: how the game ended.
    """

    players: tuple[str, str]
    date: str
    event: str
    round: str
    moves: tuple[int, ...]
    utility: float | None
    why: str


def plain_record(game: Game, record: GameRecord) -> str:
    """Headings and the moves by their names, in lines of at most 80 letters."""
    states = states_of(game, record.moves)
    names = [game.action_name(state, action) for state, action in zip(states, record.moves, strict=True)]
    lines = [
        f"game: {game.name}",
        f"event: {record.event}, round {record.round}, {record.date}",
        f"player 0: {record.players[0]}",
        f"player 1: {record.players[1]}",
        f"player 0's utility: {'not known yet' if record.utility is None else f'{record.utility:g}'} ({record.why})",
        "",
        wrapped(names),
    ]
    return "\n".join(lines) + "\n"


def states_of(game: Game, moves: Sequence[int]) -> list[State]:
    """The state before each of these moves of a deterministic game."""
    states = [game.root()]
    for action in moves:
        states.append(game.child(states[-1], game.actions(states[-1]).tolist().index(action)))
    return states[:-1]


def wrapped(words: Sequence[str]) -> str:
    """Words in lines of at most 80 letters."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > _WIDTH:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])

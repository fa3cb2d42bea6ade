"""From UCI's `position` commands to a game and its moves.

Our rules end a game at the third repetition and after fifty quiet moves; UCI's clients may play on. Then the position
becomes the start of a new game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sog.errors import GameError
from sog.games.boards.chess import START, Chess
from sog.play.move_tree import MoveTree

__all__ = ["ChessBoard", "Setup", "read_position"]

# Castling by the rook's file, as Shredder writes it; on these files it is the game that we play.
_SHREDDERS: Final = "HAha"
_CASTLING: Final = str.maketrans(_SHREDDERS, "KQkq")
# Starts whose trees are kept. A game that continues past draws has a new start every few moves.
_MOST_TREES: Final = 16


@dataclass(frozen=True)
class Setup:
    """A position: a game and the actions played in it."""

    tree: MoveTree
    moves: tuple[int, ...] = ()

    @property
    def node(self) -> int:
        return self.tree.node_after(self.moves)

    @property
    def game(self) -> Chess:
        game = self.tree.public.game
        assert isinstance(game, Chess)
        return game

    def write(self, actions: Sequence[int]) -> list[str]:
        """Actions from this position on in UCI's notation."""
        public, words = self.tree.public, []
        for k, action in enumerate(actions):
            node = self.tree.node_after((*self.moves, *actions[:k]))
            words.append(self.game.action_name(public.states[node], action))
        return words


class ChessBoard:
    """The position that a client set up; trees of earlier starts are kept, so that a search can continue."""

    def __init__(self, game: Chess) -> None:
        self._inputs, self._trees = game.inputs, {game.fen: MoveTree(game)}
        self.setup: Setup | None = Setup(self._trees[game.fen])

    def set_up(self, fen: str, moves: Sequence[str]) -> None:
        """Play these moves, in UCI's notation, from a FEN.

        Raises GameError where the FEN is not a position or a move is illegal: `setup` is None then, until the next one.
        """
        self.setup = None
        at = Setup(self._tree(fen))
        for move in moves:
            at = self._unended(at)
            at = Setup(at.tree, (*at.moves, at.game.action(at.tree.public.states[at.node], move)))
        self.setup = self._unended(at)

    def forget(self) -> None:
        """What was to be set up could not be read."""
        self.setup = None

    def _unended(self, at: Setup) -> Setup:
        """The same position as a game's start where only a draw that clients may ignore has ended it."""
        if at.tree.result(at.node) != 0.0:
            return at
        placed, mover, castling, passed, _, number = at.tree.name(at.node).split()
        again = Setup(self._tree(f"{placed} {mover} {castling} {passed} 0 {number}"))
        return at if again.tree.result(0) is not None else again

    def _tree(self, fen: str) -> MoveTree:
        """A start's tree, the latest ones last; of the others only this many are kept."""
        tree = self._trees.pop(fen) if fen in self._trees else MoveTree(Chess(fen, self._inputs))
        self._trees[fen] = tree
        while len(self._trees) > _MOST_TREES:
            del self._trees[next(iter(self._trees))]
        return tree


def read_position(words: Sequence[str]) -> tuple[str, list[str]]:
    """The FEN and the moves of a `position` command's words; a FEN may lack its two counters, and castling
    may be written by the rooks' files.

    Raises GameError where neither `startpos` nor `fen` begins it.
    """
    split = list(words).index("moves") if "moves" in words else len(words)
    setup, moves = list(words[:split]), list(words[split + 1 :])
    if setup == ["startpos"]:
        return START, moves
    if setup[:1] != ["fen"]:
        raise GameError("position is followed by startpos or by fen and a FEN")
    fields = setup[1:]
    if len(fields) > 2 and set(fields[2]) <= set(_SHREDDERS):
        fields[2] = "".join(sorted(fields[2].translate(_CASTLING)))  # "KQkq" is in the alphabet's order
    return " ".join([*fields, *["0", "1"][len(fields) - 4 :]] if len(fields) in (4, 5) else fields), moves

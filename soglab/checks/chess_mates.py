"""Makes the sets of chess positions with a mate in one or in two moves, from a seed.

    python -m soglab.checks.chess_mates --out mates.csv.gz

Sixteen positions are drawn from each game, uniformly among those after its first ten moves. A position is taken where
the player to move has a forced mate in this many moves and no sooner, one of a kind from a game at most. Half of the
games are random; in the others the players take, every other time, a move after which they have the most material.
Every move is tried, and every answer to it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyspiel

from sog.errors import GameError
from sog.games.boards.chess import Chess
from sog.opponents.alpha_beta import material
from sog.opponents.chess.mates import SETS, Mate, mating_moves, write_mates

_FIRST: Final = 10  # moves of a game that are passed over
_DRAWN: Final = 16  # positions of a game
_REPORT_EVERY: Final = 20.0  # seconds


def played(rng: np.random.Generator) -> list[Any]:
    """OpenSpiel's states of a game before each of its moves."""
    state, states = pyspiel.load_game("chess").new_initial_state(), list[Any]()
    greedy = bool(rng.integers(2))
    while not state.is_terminal():
        states.append(state)
        moves = [state.child(action) for action in state.legal_actions()]
        if greedy and rng.integers(2):
            sign = 1.0 if state.current_player() == 0 else -1.0  # material is Black's, player 0's
            worth = [sign * material(after) for after in moves]
            moves = [after for after, value in zip(moves, worth, strict=True) if value == max(worth)]
        state = moves[int(rng.integers(len(moves)))]
    return states


def make_mates(sizes: Mapping[int, int], seed: int) -> list[Mate]:
    """This many positions for each number of moves, all different, in the order of `sizes`."""
    rng, by_moves = np.random.default_rng(seed), {moves: dict[str, Mate]() for moves in sizes}
    reported = time.monotonic()
    while any(len(by_moves[moves]) < size for moves, size in sizes.items()):
        states = played(rng)[_FIRST:]
        drawn = [states[int(k)] for k in rng.integers(len(states), size=_DRAWN)] if states else []
        mates = [mate for state in drawn if (mate := _mate_at(state, max(sizes))) is not None]
        for moves, mate in {mate.moves: mate for mate in mates}.items():
            if len(by_moves.get(moves, ())) < sizes.get(moves, 0):
                by_moves[moves].setdefault(mate.fen, mate)
        if time.monotonic() - reported > _REPORT_EVERY:
            reported = time.monotonic()
            print(", ".join(f"in {moves}: {len(own)}" for moves, own in by_moves.items()), file=sys.stderr, flush=True)
    return [mate for mates in by_moves.values() for mate in mates.values()]


def _mate_at(state: Any, most: int) -> Mate | None:
    """The quickest forced mate at a position, of this many moves at most, searched from its FEN; None without one."""
    fen = str(state.board().to_fen())
    try:
        game = Chess(fen)
    except GameError:
        return None
    root = pyspiel.load_game("chess").new_initial_state(fen)
    for moves in range(1, most + 1):
        if solutions := mating_moves(root, moves):
            return Mate(moves, fen, tuple(game.action_name(game.root(), action) for action in solutions))
    return None


def main() -> None:
    """Make the sets and write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    mates = make_mates(SETS, options.seed)
    write_mates(options.out, mates)
    print(json.dumps(dict(Counter(mate.moves for mate in mates))))


if __name__ == "__main__":
    main()

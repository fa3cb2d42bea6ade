"""`sog solve 'connect_four(moves=4433)'`: a position's value, its best moves and how long the game lasts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from sog.cli.frame import print_json, print_table, progress_bar, stdout
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.games.base import Game

__all__ = ["solve_position"]

_WORDS = {1: "wins", 0: "draws", -1: "loses"}
_ALMOST_FULL = (3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4)
_LOOK_SECONDS = 2.0  # of searching, before a time is estimated
_LONGEST_SECONDS = 3_600.0


def solve_position(game: Game, chosen: Mapping[str, Any], as_json: bool) -> None:
    """Solve a position of connect four and print every move's value.

    chosen: options of other solvers, which are refused. Raises SettingError where it would take more than an hour.
    """
    from sog.games.boards.connect_four import ConnectFour
    from sog.opponents.connect_four.solver import Board, ConnectFourSolver, plies_to_end, value_of

    assert isinstance(game, ConnectFour)
    if given := [option for option, value in chosen.items() if value]:
        raise SettingError(f"connect four is solved exactly, without {given[0]}")
    board, solver = Board.after(game.moves), ConnectFourSolver()
    solver.score(Board.after(_ALMOST_FULL))  # compiles before the timing starts
    started = time.perf_counter()
    with progress_bar("solve", None, "positions") as report:

        def stopped(searched: int) -> bool:
            report(searched, "")
            _refuse_hours(board.stones, searched, time.perf_counter() - started)
            return False

        scores = solver.scores(board, stopped)
    best = max(scores.values())
    sign = 1 if board.stones % 2 == 0 else -1  # player 0 moves first
    moves = [
        {"column": c + 1, "value": sign * value_of(s), "score": s, "plies_to_end": plies_to_end(board, s)}
        for c, s in scores.items()
    ]
    answer = {
        "game": game.name,
        "algorithm": "alpha-beta",
        "player": board.stones % 2,
        "value": sign * value_of(best),
        "score": best,
        "best": [c + 1 for c, s in scores.items() if s == best],
        "plies_to_end": plies_to_end(board, best),
        "moves": moves,
        "positions": solver.nodes,
        "seconds": time.perf_counter() - started,
    }
    if as_json:
        print_json(answer)
    else:
        _print(game.picture(game.root()), answer, sign)


def _refuse_hours(stones: int, searched: int, seconds: float) -> None:
    """SettingError where a position of so few stones is not expected to be solved within the hour at this speed."""
    from sog.opponents.connect_four.solver import expected_positions

    expected = expected_positions(stones)
    if seconds > _LOOK_SECONDS and expected * seconds / searched > _LONGEST_SECONDS:
        raise SettingError(
            f"a position of {stones} stones would take about {expected * seconds / searched / 3600:.0f} hours: "
            f"{expected:.1e} positions, from later ones, at {searched / seconds:.1e} a second measured here"
        )


def _print(picture: str, answer: Mapping[str, Any], sign: int) -> None:
    stdout().print(picture)
    mover = "xo"[answer["player"]]
    best = " or ".join(str(column) for column in answer["best"])
    result = _WORDS[sign * answer["value"]]
    left = answer["plies_to_end"]
    stdout().print(f"{mover} to move {result} in {left} moves with best play: column {best}")
    table = Table("column", "value", "score", "moves to the end", box=None, pad_edge=False)
    for move in answer["moves"]:
        words = (_WORDS[sign * move["value"]], f"{move['score']:+d}" if move["score"] else "0")
        table.add_row(str(move["column"]), *words, str(move["plies_to_end"]))
    print_table(table)
    stdout().print(
        "A winner's score is 22 less its stones at the end; moves are both players'. "
        f"{answer['positions']:,} positions in {answer['seconds']:.3g} seconds."
    )

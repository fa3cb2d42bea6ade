"""GTP knows no turns and no end of game: colours that move twice, passes that nobody made, play after two passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np
import pytest

from sog.algorithms.student.player import SogPlayer
from sog.errors import GameError
from sog.games.base import TERMINAL
from sog.games.boards.go import Go
from sog.games.boards.go_life import attacks, lives
from sog.games.boards.positions import BoardPosition
from sog.protocols.go_setup import GoBoard, read_vertex, write_vertex
from sog.protocols.gtp import GtpEngine

BLACK, WHITE = 0, 1
COLOURS = {"b": BLACK, "w": WHITE}


@pytest.fixture
def gtp(player: SogPlayer, talk: Callable[..., list[str]]) -> Callable[..., list[str]]:
    return partial(talk, lambda say: GtpEngine(player, Go(5, 7.5), say, simulations=60))


def played(plays: str, game: Go | None = None) -> GoBoard:
    """A board after plays such as `b C3 w pass`."""
    board, words = GoBoard(game or Go(5, 7.5)), plays.split()
    for colour, vertex in zip(words[::2], words[1::2], strict=True):
        board.play(COLOURS[colour], read_vertex(vertex, board.game.size))
    return board


def ends(board: GoBoard, colour: int, passes: int) -> bool:
    """Whether this many passes, from this colour on, end the game that a search would play."""
    position = board.turned(colour).position
    for _ in range(passes):
        assert position.actor != TERMINAL
        position = position.play(board.game.size**2)
    return position.actor == TERMINAL


@pytest.mark.parametrize(
    ("plays", "colour", "passes"),
    [
        ("", "b", 2), ("", "w", 2), ("w pass", "b", 1), ("b pass", "w", 1), ("b pass", "b", 2),
        ("b C3", "b", 2), ("b C3 b D4", "b", 2), ("b C3 w B2", "w", 2), ("w C3", "w", 2), ("b C3 b D4", "w", 2),
        ("b C3 w pass", "b", 1), ("b C3 w pass b pass", "w", 2), ("b C3 w pass b pass", "b", 2),
        ("b pass w pass", "b", 2), ("b pass w pass b pass w pass", "b", 2), ("w C3 w pass w pass", "w", 2),
        ("w C3 w pass", "b", 1),
    ],
)  # fmt: skip
def test_only_passes_that_were_made_end_a_game(plays: str, colour: str, passes: int) -> None:
    """After `b C3`, a search for Black takes two passes to its end: White's missing move is no pass."""
    board = played(plays)
    assert ends(board, COLOURS[colour], passes) and not ends(board, COLOURS[colour], passes - 1)


@pytest.mark.parametrize(
    "said",
    [
        ("play w pass", "genmove b"), ("play b D4", "play w C3", "genmove w"), ("genmove w",),
        ("play b D4", "play w C3", "play w pass", "genmove w"), ("play b pass", "play w pass", "genmove w"),
        ("play b C3", "play b pass", "play w pass", "genmove w"),
    ],
)  # fmt: skip
def test_the_program_passes_only_where_that_wins(gtp: Callable[..., list[str]], said: tuple[str, ...]) -> None:
    """With 2.5 points of komi to give Black loses by passing at any time, and White a board with a stone of Black's."""
    answer = gtp(f"komi {2.5 if 'genmove b' in said else -30}", *said)[-1]
    assert answer.startswith("= ") and "pass" not in answer


def test_a_client_may_play_on_after_two_passes(gtp: Callable[..., list[str]]) -> None:
    heard = gtp("play b pass", "play w pass", "play b D4", "final_status_list alive", "undo", "undo", "undo", "undo")
    assert heard == ["=\n"] * 3 + ["= D4\n"] + ["=\n"] * 3 + ["? cannot undo\n"]


def test_undo_takes_back_the_pass_that_was_played_last(gtp: Callable[..., list[str]]) -> None:
    said = ("komi -30", "play b C3", "play w pass", "play b pass", "reg_genmove b", "undo", "undo", "undo", "undo")
    assert gtp(*said)[-4:] == ["=\n"] * 3 + ["? cannot undo\n"]
    heard = gtp("play b C3", "play w pass", "play b pass", "genmove b", "undo", "final_status_list alive")
    assert heard[-1] == "= C3\n"


def test_a_search_of_a_colour_is_not_won_by_a_missing_move(gtp: Callable[..., list[str]]) -> None:
    """Without a stone on the board White has won by its komi where two have passed; one pass is not the end."""
    said = (f"{n}" for n in ("genmove w", "sog-value"))
    assert abs(float(gtp(*said)[-1].removeprefix("= "))) < 0.9


def test_a_position_is_set_up_colour_by_colour(gtp: Callable[..., list[str]]) -> None:
    """More stones than the longest game has moves: 3x3 is scored after 18, and 7x7 after 98."""
    board = GoBoard(Go(7, 7.5))
    for _ in range(3):
        for colour in (BLACK, WHITE):
            for k in range(24):
                board.play(colour, 7 * (k % 7) + k // 7 + 4 * colour if k < 21 else 49)
        assert not ends(board, WHITE, 1)
        for _ in range(48):
            board.undo()
    assert not board.stones.any()


def test_alternating_moves_go_beyond_the_longest_game() -> None:
    board, rng = GoBoard(Go(2, 0.5)), np.random.default_rng(0)
    for k in range(40):
        at = board.turned(k % 2)
        legal = [a for a in at.position.legal.tolist() if not board.repeats(at, a)]
        board.play(k % 2, int(rng.choice(legal)))


def test_alternating_moves_stay_one_game() -> None:
    """So a search continues from the last one."""
    board = played("b A1 w B2 b C3 w pass")
    assert board.at.game is board.game and len(board.at.moves) == 4
    twice = played("b A1 b B2")
    assert twice.turned(BLACK).game is twice.turned(BLACK).game is not twice.game
    twice.play(BLACK, read_vertex("C3", 5))
    first = twice.at.game
    twice.play(WHITE, read_vertex("D4", 5)), twice.play(BLACK, read_vertex("E5", 5))
    assert twice.at.game is first and len(twice.at.moves) == 3


@pytest.mark.parametrize("seed", range(6))
def test_turns_make_the_boards_that_a_plain_referee_makes(seed: int) -> None:
    """Random plays of either colour on 3x3 against rules written anew: captures, suicide, whole boards that return."""
    board, rng = GoBoard(Go(3, 0.5)), np.random.default_rng(seed)
    stones, seen = (0,) * 9, {(0,) * 9}
    for _ in range(120):
        colour, action = int(rng.integers(2)), int(rng.integers(10))
        after = placed(stones, action, 1 + colour) if action < 9 else stones
        legal = action == 9 or (after is not None and after not in seen)
        if legal:
            board.play(colour, action)
            assert after is not None
            stones = after
            seen.add(stones)
        else:
            with pytest.raises(GameError, match="illegal move"):
                board.play(colour, action)
        assert tuple(board.stones.ravel().tolist()) == stones


def placed(stones: tuple[int, ...], action: int, colour: int) -> tuple[int, ...] | None:
    """3x3 with one stone more; None where that is illegal."""
    if stones[action]:
        return None
    after = list(stones)
    after[action] = colour
    for owner in (3 - colour, colour):
        taken = [k for k in range(9) if after[k] == owner and not breathes(after, k)]
        if owner == colour and taken:
            return None
        for k in taken:
            after[k] = 0
    return tuple(after)


def breathes(stones: list[int], at: int) -> bool:
    reached, ahead = set[int](), [at]
    while ahead:
        k = ahead.pop()
        if stones[k] == 0:
            return True
        if k not in reached and stones[k] == stones[at]:
            reached.add(k)
            ahead += [j for j in range(9) if abs(j // 3 - k // 3) + abs(j % 3 - k % 3) == 1]
    return False


def test_a_resumed_game_is_scored_and_shown_as_any_other() -> None:
    """Komi from Black's side, the position before the last stone in the planes, a draw where a board returns."""
    for komi, result in ((8.5, 1.0), (9.0, 0.0), (9.5, -1.0)):
        board = played("b B2", Go(3, komi))
        over = board.turned(BLACK).position.play(9).play(9)
        assert board.game.payoff(over).scale == result
    game = Go(5, 0.5)
    own, own_before, other, other_before = game.features(played("b A1 w C3", game).turned(WHITE).position).reshape(
        game.planes
    )[:4]
    assert own[2, 2] == own.sum() == 1 and not own_before.any()  # White's stone is the last, and no pass after it
    assert other[0, 0] == other_before[0, 0] == other.sum() == 1
    ko = played("b B1 w C1 b A2 w D2 b B3 w C3 b C2 w E5 w B2", game)
    at = ko.turned(BLACK)
    retaken = at.position
    assert read_vertex("C2", 5) not in retaken.legal.tolist()
    resumed = cast(BoardPosition, ko.turned(WHITE).position)
    assert resumed.actor == WHITE


def test_a_resumed_game_has_as_many_moves_as_a_new_one() -> None:
    """On 3x3 eighteen: Black fills all but one point, White takes all stones there, and the board is scored."""
    position, passing = played("b A1", Go(3, 0.5)).turned(BLACK).position, 9
    moves = [move for point in range(1, 8) for move in (point, passing)]
    moves[-1] = 8
    for move in (*moves, 0, passing, 1, passing):
        assert position.actor != TERMINAL
        position = position.play(move)
    assert position.actor == TERMINAL


def test_another_komi_keeps_every_turn(gtp: Callable[..., list[str]]) -> None:
    said = ("play b A1", "play b B1", "play w pass", "play b pass", "play b C1", "komi 0", "final_score", "undo")
    assert gtp(*said, "final_status_list alive")[-1] == "= A1\nB1\n"
    assert gtp(*said)[6] == "= B+25\n"


def test_unconditional_life() -> None:
    """Two eyes live, one does not; a stone inside is dead where the group around it lives."""
    alive = board_of(". X . X .", "X X X X X", ". . . . .", ". . . . .", "O . . . .")
    assert len(lives(alive, 1)) == 7 and not lives(alive, 2)
    assert not lives(board_of(". X X X X", "X X . X X", ". . . . .", ". . . . .", ". . . . ."), 1)
    near, wide = attacks(alive, 1)
    assert {write_vertex(k, 5) for k in near} == {"A2", "B1"} and len(wide) == 12
    assert attacks(alive, 2)[0] == attacks(alive, 2)[1] == frozenset()


def board_of(*rows: str) -> np.ndarray:
    """int8[5, 5], the first row given is the top one."""
    return np.array([[".XO".index(stone) for stone in row.split()] for row in reversed(rows)], dtype=np.int8)


def test_a_cleanup_takes_what_is_dead_and_then_passes(gtp: Callable[..., list[str]]) -> None:
    """White's two stones cannot live in Black's corner; Black has two eyes."""
    black, white = "B5 D5 A4 B4 C4 D4 E4 A3 B3 C3 D3 E3", "C1 D1"
    said = [f"play b {v}" for v in black.split()] + [f"play w {v}" for v in white.split()]
    heard = gtp(*said, "komi 0.5", "play b pass", "play w pass", *["kgs-genmove_cleanup b", "play w pass"] * 12)
    answers = [answer.removeprefix("= ").strip() for answer in heard[len(said) + 3 :: 2]]
    taken = answers.index("pass")
    assert 3 <= taken <= 9 and set(answers[taken:]) == {"pass"}
    heard = gtp(*said, "komi 0.5", *["kgs-genmove_cleanup b"] * taken, "final_status_list alive")
    assert not {"C1", "D1"} & set(heard[-1].removeprefix("= ").split()) - set(answers)
    assert gtp("play b C3", "kgs-genmove_cleanup b")[-1] == "= pass\n"  # nothing is there to take


def test_the_program_passes_only_where_nothing_can_be_taken(gtp: Callable[..., list[str]]) -> None:
    """The same stones. With 30 points of komi for Black a pass wins, and yet White's stones are taken first."""
    black, white = "B5 D5 A4 B4 C4 D4 E4 A3 B3 C3 D3 E3", "C1 D1"
    said = [f"play b {v}" for v in black.split()] + [f"play w {v}" for v in white.split()]
    heard = gtp(*said, "komi -30", *["play w pass", "genmove b"] * 12)
    answers = [answer.removeprefix("= ").strip() for answer in heard[len(said) + 2 :: 2]]
    before = answers[: answers.index("pass")]
    alive = gtp(*said, "komi -30", *["play w pass", "genmove b"] * len(before), "final_status_list alive")[-1]
    assert not {"C1", "D1"} & (set(alive.removeprefix("= ").split()) - set(before))

"""Every native game that OpenSpiel has is OpenSpiel's game; a game that is not is found out."""

from __future__ import annotations

import numpy as np
import pytest

from sog.arrays import Int32
from sog.errors import GameError, SettingError
from sog.games.base import Fan, Game, Operator, Scaled, State, plain_moves
from sog.games.catalog import make_game
from sog.games.checks.openspiel import Comparison, compare_with_openspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.rps import RockPaperScissors

GOOFSPIEL = "goofspiel(imp_info=True,num_cards={},points_order={})"


@pytest.mark.parametrize(
    ("name", "histories", "infostates"),
    [
        ("kuhn_poker", 54, 12),
        ("leduc_poker", 9300, 936),
        ("liars_dice(numdice=1,dice_sides=3)", 1143, 192),
        ("liars_dice(numdice=1,dice_sides=4)", 8176, 1024),
        ("liars_dice(numdice=2,dice_sides=2)", 8176, 768),
        (GOOFSPIEL.format(3, "descending"), 67, 16),
        (GOOFSPIEL.format(3, "random"), 390, 90),
        (GOOFSPIEL.format(3, "random")[:-1] + ",returns_type=point_difference)", 390, 90),
        (GOOFSPIEL.format(4, "descending"), 1077, 162),
        (GOOFSPIEL.format(4, "ascending"), 1077, 162),
        (GOOFSPIEL.format(4, "random"), 24980, 3608),
    ],
)
def test_the_whole_game_is_openspiels(name: str, histories: int, infostates: int) -> None:
    seen = compare_with_openspiel(make_game(name))
    assert seen == Comparison(seen.game, seen.pairs, histories, infostates, infostates, True)
    assert seen.game == name


def test_unordered_rolls_stand_for_several_histories() -> None:
    seen = compare_with_openspiel(make_game("liars_dice(numdice=2,dice_sides=2)"))
    assert (seen.pairs, seen.histories) == (511 * 9, 511 * 16)


@pytest.mark.parametrize("name", ["tic_tac_toe", "liars_dice(numdice=2,dice_sides=6)", GOOFSPIEL.format(5, "random")])
def test_a_sample_of_a_larger_game_is_openspiels(name: str) -> None:
    seen = compare_with_openspiel(make_game(name), max_states=40)
    assert not seen.complete and seen.pairs >= 40


def test_what_cannot_be_compared_is_not_the_games_fault() -> None:
    class Divides(Kuhn):
        def history(self, s: State, i0: int, i1: int) -> list[int]:
            return [i0 // 0]

    with pytest.raises(SettingError, match="max_states is a whole number of at least 1"):
        compare_with_openspiel(Kuhn(), max_states=0)
    with pytest.raises(GameError, match=r"takes an object of a class derived from sog\.Game"):
        compare_with_openspiel("kuhn_poker")  # type: ignore[arg-type]
    with pytest.raises(GameError, match="Divides's code raised ZeroDivisionError"):
        compare_with_openspiel(Divides())


class HalfStakes(Kuhn):
    def payoff(self, s: State) -> Scaled:
        return Scaled(super().payoff(s).operator, 0.5 * super().payoff(s).scale)


class Dealt(Kuhn):
    """Kuhn poker on another deal."""

    def __init__(self, deal: list[list[float]]) -> None:
        super().__init__()
        self.deal = np.array(deal)

    def weights(self, s: State) -> Scaled:
        return Scaled(Operator(self.deal))

    def payoff(self, s: State) -> Scaled:
        return Scaled(Operator(super().payoff(s).dense() * 6 * self.deal))


class FaceUp(Kuhn):
    """Every card appears as two infostates that the player of the real game cannot tell apart."""

    def num_infostates(self, s: State) -> tuple[int, int]:
        return 6, 3

    def weights(self, s: State) -> Scaled:
        return Scaled(Operator(np.tile(super().weights(s).operator.matrix, (2, 1))))

    def fan(self, s: State) -> Fan:
        return Fan(super().fan(s).children, plain_moves(6, 2))

    def payoff(self, s: State) -> Scaled:
        return Scaled(Operator(np.tile(super().payoff(s).dense(), (2, 1))))

    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return super().history(s, i0 % 3, i1)


class NoBetting(Kuhn):
    def actions(self, s: State) -> Int32:
        return super().actions(s)[:1]

    def fan(self, s: State) -> Fan:
        return Fan(super().fan(s).children[:1], plain_moves(3, 1))


# Both players hold each card as often as they should, and the histories add up.
CYCLE = [[0, 1 / 3, 0], [0, 0, 1 / 3], [1 / 3, 0, 0]]


@pytest.mark.parametrize(
    ("game", "says"),
    [
        (HalfStakes(), r"utility -?(1|0.5), OpenSpiel's is -?(2|1)"),
        (
            Dealt([[0, 1 / 4, 1 / 4], [1 / 4, 0, 1 / 12], [1 / 12, 1 / 12, 0]]),
            "the weight is (1.5|0.5) times",
        ),
        (Dealt([[0, 1 / 6, 1 / 6], [1 / 6, 0, 1 / 6], [1 / 6, 0, 0]]), "has 45 histories"),
        # Both players hold each card as often as they should, and every count is right.
        (
            Dealt([[0, 1 / 3, 0], [0, 0, 1 / 3], [1 / 3, 0, 0]]),
            "weight (0|0.333333), OpenSpiel's is 0.166667",
        ),
        (FaceUp(), "also occurs elsewhere"),
        (NoBetting(), r"actions \[0\], OpenSpiel's are \[0, 1\]"),
        (RockPaperScissors(), "OpenSpiel does not load rps"),
    ],
)
def test_differences_are_found(game: Game, says: str) -> None:
    with pytest.raises(GameError, match=says) as error:
        compare_with_openspiel(game)
    assert "\n" not in str(error.value)


def test_a_game_that_merges_is_compared_without_the_weights_of_single_infostates() -> None:
    seen = compare_with_openspiel(Dealt(CYCLE), merges=True)
    assert (seen.pairs, seen.histories, seen.complete) == (27, 54, True)
    assert seen.infostates <= seen.openspiel_infostates == 12

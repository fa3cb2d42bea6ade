"""Games by histories: equal to their public faces and to OpenSpiel, their rows sound, their counts the papers'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sog.arrays import Float32, Int32
from sog.errors import GameError, SettingError
from sog.games.base import NATURE, TERMINAL, Game, Operator, Scaled, State
from sog.games.catalog import make_game, make_history_game
from sog.games.checks.histories import check_history_game
from sog.games.checks.public_states import check_game, walk
from sog.games.histories.base import HistoryGame, deal, drawn, replay
from sog.games.histories.kuhn import KuhnHistories
from sog.games.histories.listing import children, histories_of, list_histories
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.rps import RockPaperScissors
from soglab.checks.histories import COMPARED, compare_random_games

BATTLE = "board_width={0},board_height={1},ship_sizes=[{2}]"
TINY_BATTLE = f"battleship({BATTLE.format(2, 2, '2')},num_shots=4,allow_repeated_shots=False,returns_type=win_loss)"
BATTLE_3X3 = TINY_BATTLE.replace("=2,board_height=2", "=3,board_height=3").replace("[2]", "[2;2]").replace("=4", "=9")
BOTH_FACES = [
    "kuhn_poker",
    "leduc_poker",
    "liars_dice(numdice=1,dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "goofspiel(imp_info=True,num_cards=3,points_order=random)",
    "goofspiel(imp_info=True,num_cards=4,points_order=ascending,returns_type=point_difference)",
    TINY_BATTLE,
    "battleship(board_width=3,board_height=1,ship_sizes=[1;1],ship_values=[1;2],num_shots=2,"
    "allow_repeated_shots=False,loss_multiplier=1.0)",
    "openspiel:kuhn_poker",
]
LARGE = [
    BATTLE_3X3,
    "goofspiel(imp_info=True,num_cards=5,points_order=random)",
    "liars_dice(numdice=1,dice_sides=6)",
]


@pytest.mark.parametrize("name", BOTH_FACES)
def test_both_faces_of_a_game_are_equal(name: str) -> None:
    public = make_game(name.removeprefix("openspiel:"))
    found = check_history_game(make_history_game(name), public, games=50, max_states=100_000)
    assert found.pairs > 10 and found.infostates > 4


@pytest.mark.parametrize("name", LARGE)
def test_both_faces_of_a_large_game_are_equal_where_walked(name: str) -> None:
    assert check_history_game(make_history_game(name), make_game(name), 50, 40).pairs > 100


@pytest.mark.parametrize("name", [*BOTH_FACES, *LARGE, *COMPARED])
def test_every_game_keeps_the_promises_of_the_interface(name: str) -> None:
    found = check_history_game(make_history_game(name), games=100)
    assert found.games == 100 and found.moves > 300 and found.infostates >= 12


def count_moments(game: Game) -> int:
    """Pairs with weight at every public state where a player acts or the game is over."""
    visits = walk(game, 10**6, 0)
    return sum(int((game.weights(v.state).dense() > 0).sum()) for v in visits if game.actor(v.state) != NATURE)


@pytest.mark.parametrize("name", [name for name in BOTH_FACES if "numdice=2" not in name])
def test_there_are_as_many_histories_as_pairs(name: str) -> None:
    """Dice of one player aside, whose order makes several histories of a pair."""
    game = make_history_game(name)
    listed = list_histories(game)
    own = int((game.actors(listed.states) != NATURE).sum())
    assert own == count_moments(make_game(name.removeprefix("openspiel:")))


def test_counts_are_the_papers() -> None:
    """SePoT, Table 3: Leduc 9.4e3, Goofspiel 5 descending 1.8e4, where both bids of a round count as one move."""
    assert len(list_histories(make_history_game("leduc_poker"))) == 9457
    game = make_history_game("goofspiel(imp_info=True,num_cards=5,points_order=descending)")
    listed = list_histories(game)
    assert int((game.actors(listed.states) != 1).sum()) == 18_426


def _changed(method: str, change: Callable[[Any], Any]) -> HistoryGame:
    """Kuhn poker, one of whose methods answers something else."""

    class Broken(KuhnHistories):
        pass

    def answer(self: KuhnHistories, *arguments: Any) -> Any:
        return change(getattr(KuhnHistories, method)(self, *arguments))

    setattr(Broken, method, answer)
    return Broken()


def _changed_attribute(name: str, value: object) -> HistoryGame:
    game = KuhnHistories()
    setattr(game, name, value)
    return game


class _StepsOnACopy(KuhnHistories):
    def step(self, states: Int32, actions: Int32) -> None:
        super().step(states.copy(), actions)


BROKEN: list[tuple[HistoryGame, str]] = [
    (_changed_attribute("name", None), "the attribute name is not set"),
    (_changed_attribute("u_max", 0), "the attribute u_max is 0"),
    (_changed_attribute("u_max", 1.0), "a utility of 2, above u_max = 1"),
    (_changed_attribute("longest", 4), "more than longest = 4"),
    (_changed_attribute("num_inputs", 32), r"inputs are float32\[200, 11\], not float32\[200, 32\]"),
    (_changed_attribute("num_private", 12), "num_private is more than num_inputs"),
    (_changed_attribute("num_private", 1), "differ before their last num_private entries"),
    (_changed("legal", lambda x: x.astype(np.int32)), r"legal are int32\[200, 2\], not bool"),
    (_changed("legal", lambda x: ~x), "legal actions where no player acts"),
    (_changed("chances", lambda x: x / 2), "chances do not sum to 1"),
    (_changed("utilities", lambda x: x + 0.5), "a utility before the game is over"),
    (_changed("utilities", lambda x: x.astype(np.float32)), "utilities are float32"),
    (_changed("actors", lambda x: np.where(x == 1, 4, x).astype(np.int32)), "an actor is not"),
    (
        _changed("public", lambda x: np.where(x >= 0, (x >= 0).sum(axis=1)[:, None], -1).astype(np.int32)),
        "does not begin with that",
    ),
    (_changed("public", lambda x: np.zeros_like(x)), "two histories"),
    (_changed("private", lambda x: np.zeros_like(x)), "one infostate of player . .* have other inputs"),
    (_changed("inputs", lambda x: x * np.float32(np.nan)), "inputs are not finite"),
    (_changed("inputs", lambda x: x * np.float32(0)), "inputs never differ by the private row"),
    (_StepsOnACopy(), "step leaves a state as it was"),
    (_changed("actors", lambda x: 1 / 0), "Broken's code raised ZeroDivisionError"),
]


@pytest.mark.parametrize(("game", "fault"), BROKEN)
def test_a_broken_promise_is_named(game: HistoryGame, fault: str) -> None:
    with pytest.raises(GameError, match=fault) as error:
        check_history_game(game)
    assert "\n" not in str(error.value)


class Forgetful(KuhnHistories):
    """Shows how many actions there were and not which."""

    def public(self, states: np.ndarray) -> np.ndarray:
        return (states[:, 2:] >= 0).sum(axis=1, keepdims=True).astype(np.int32)


class Coupled(KuhnHistories):
    """Every game of a batch takes the first one's card."""

    def step(self, states: np.ndarray, actions: np.ndarray) -> None:
        super().step(states, actions)
        states[:, 0] = states[0, 0]


@pytest.mark.parametrize(
    ("game", "fault"),
    [(Forgetful(), "one public row have other"), (Coupled(), r"other pasts|other inputs|than alone|not legal")],
)
def test_what_a_player_forgets_and_games_that_share_are_found(game: HistoryGame, fault: str) -> None:
    with pytest.raises(GameError, match=fault):
        check_history_game(game)


class FirstRowForAll(KuhnHistories):
    def private(self, states: Int32, viewers: Int32) -> Int32:
        return np.repeat(super().private(states, viewers)[:1], len(states), axis=0)


class TwiceAsMany(KuhnHistories):
    def private(self, states: Int32, viewers: Int32) -> Int32:
        return np.repeat(super().private(states, viewers), 2, axis=0)


class LongPublic(KuhnHistories):
    def public(self, states: Int32) -> Int32:
        return super().public(states).astype(np.int64)  # type: ignore[return-value]


class FewerInBatches(KuhnHistories):
    def public(self, states: Int32) -> Int32:
        found = super().public(states).copy()
        return found if len(states) == 1 else np.minimum(found, 0)


class NoCritic(KuhnHistories):
    def critic_inputs(self, states: Int32) -> Float32:
        return super().critic_inputs(states) * np.float32("nan")


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        (FirstRowForAll, "public or private rows of a batch are others than alone"),
        (FewerInBatches, "public or private rows of a batch are others than alone"),
        (TwiceAsMany, "private rows are int32"),
        (LongPublic, "public rows are int64"),
        (NoCritic, "critic_inputs are not finite"),
    ],
)
def test_rows_of_batches_are_rows_alone(kind: type[HistoryGame], fault: str) -> None:
    for public in (None, make_game("kuhn_poker")):
        with pytest.raises(GameError, match=fault):
            check_history_game(kind(), public)


def test_both_forms_are_reported_alike() -> None:
    face = Kuhn()
    face.u_max = 5.0
    with pytest.raises(GameError, match=r"the attribute u_max is 2(\.0)?, of its public face 5\.0"):
        check_history_game(KuhnHistories(), face)


class FoldsToTheWrongPlayer(KuhnHistories):
    def utilities(self, states: np.ndarray) -> np.ndarray:
        found = super().utilities(states)
        return np.where(np.abs(found) == 1.0, -found, found)


def test_the_other_face_finds_wrong_rules() -> None:
    assert check_history_game(FoldsToTheWrongPlayer()).pairs == 0  # nothing alone could tell
    with pytest.raises(GameError, match=r"of the public face a pair's utility is -?1, by histories -?1"):
        check_history_game(FoldsToTheWrongPlayer(), make_game("kuhn_poker"))
    with pytest.raises(GameError, match="its public face is another game, rps"):
        check_history_game(KuhnHistories(), RockPaperScissors())
    with pytest.raises(GameError, match="has no `history`"):
        check_history_game(KuhnHistories(), SaysNoHistory())
    wrong = ((RockPaperScissors, "not the class RockPaperScissors"), (KuhnHistories(), "derived from sog.Game"))
    for public, says in wrong:
        with pytest.raises(GameError, match=says):
            check_history_game(KuhnHistories(), public)  # type: ignore[arg-type]


class SaysNoHistory(Kuhn):
    def history(self, s: State, i0: int, i1: int) -> None:
        return None


class KuhnWithoutAKing(Kuhn):
    """Two cards, each dealt more often: no pair is wrong but those that are missing."""

    def __init__(self) -> None:
        super().__init__()
        deal = np.zeros((3, 3))
        deal[0, 1] = deal[1, 0] = 0.5
        self._deal, self._showdown = Operator(deal), Operator(deal * np.sign(np.arange(3)[:, None] - np.arange(3)))


def test_the_other_face_misses_no_deal() -> None:
    """A face with fewer cards has larger weights, and none of its pairs alone is wrong."""
    assert check_game(KuhnWithoutAKing()).complete
    with pytest.raises(GameError, match="of the public face a pair that chance deals by histories is missing"):
        check_history_game(KuhnHistories(), KuhnWithoutAKing())


class HidesItsCards(KuhnHistories):
    def public(self, states: np.ndarray) -> np.ndarray:
        found = super().public(states)
        return np.concatenate((np.full((len(found), 1), -1, dtype=np.int32), found), axis=1)


def test_public_rows_have_no_holes_and_units_are_units() -> None:
    with pytest.raises(GameError, match="continues after a -1"):
        check_history_game(HidesItsCards())
    game = KuhnHistories()
    game.u_max = np.float32(2.0)  # type: ignore[assignment]
    check_history_game(game)
    game.unit = "chips"  # type: ignore[assignment]
    with pytest.raises(GameError, match=r"the attribute unit is 'chips', not a sog\.Unit"):
        check_history_game(game)
    with pytest.raises(SettingError, match="games is a whole number of at least 1"):
        check_history_game(KuhnHistories(), games=0)


class ForgetsItsHistory(Kuhn):
    def history(self, s: State, i0: int, i1: int) -> list[int]:
        return [*(super().history(s, i0, i1) or []), 1, 1, 1, 1, 1]


def test_a_history_that_cannot_be_played_is_named() -> None:
    with pytest.raises(GameError, match=r"the history of pair \(0, 1\) is .*, not a list of at most longest"):
        check_history_game(KuhnHistories(), ForgetsItsHistory())


class DealsTheKingMoreOften(KuhnHistories):
    def chances(self, states: np.ndarray) -> np.ndarray:
        found = super().chances(states)
        found[:, -1] *= 2.0
        return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-9)


def test_the_other_face_finds_other_chances() -> None:
    assert check_history_game(DealsTheKingMoreOften()).pairs == 0
    with pytest.raises(GameError, match=r"of the public face a pair has weight 0\.166667, by histories 0\.25"):
        check_history_game(DealsTheKingMoreOften(), make_game("kuhn_poker"))


class KuhnAtStakes(Kuhn):
    """A chip is worth `stake`."""

    def __init__(self, stake: float) -> None:
        super().__init__()
        self.stake, self.u_max = stake, 2.0 * stake

    def payoff(self, s: State) -> Scaled:
        payoff = super().payoff(s)
        return Scaled(payoff.operator, payoff.scale * self.stake)


class HistoriesAtStakes(KuhnHistories):
    def __init__(self, stake: float, most: float) -> None:
        """most: a chip's worth at most, which `stake` may be less than."""
        super().__init__()
        self.stake, self.u_max = stake, 2.0 * most

    def utilities(self, states: np.ndarray) -> np.ndarray:
        return super().utilities(states) * self.stake


@pytest.mark.parametrize("stake", [1e-12, 1e8 / 3, 1e14 / 3])
def test_utilities_are_compared_as_shares_of_the_largest(stake: float) -> None:
    assert check_history_game(HistoriesAtStakes(stake, stake), KuhnAtStakes(stake)).pairs
    with pytest.raises(GameError, match="of the public face a pair's utility is"):
        check_history_game(HistoriesAtStakes(stake * 0.999, stake), KuhnAtStakes(stake))


class KuhnWithARareKing(Kuhn):
    """The king is dealt to player 0 with a probability of 1e-10, or a multiple of it."""

    def __init__(self, times: float = 1.0) -> None:
        super().__init__()
        rare = times * 1e-10
        deal = np.array([[1 - rare], [1 - rare], [2 * rare]]) / 4 * (1 - np.eye(3))
        self._deal, self._showdown = Operator(deal), Operator(deal * np.sign(np.arange(3)[:, None] - np.arange(3)))


class HistoriesWithARareKing(KuhnHistories):
    def chances(self, states: np.ndarray) -> np.ndarray:
        chances = super().chances(states)
        chances[states[:, 0] < 0] = [(1 - 1e-10) / 2, (1 - 1e-10) / 2, 1e-10]
        return chances


@pytest.mark.parametrize("times", [0.5, 2.0])
def test_chances_however_small_are_compared(times: float) -> None:
    assert check_history_game(HistoriesWithARareKing(), KuhnWithARareKing()).pairs
    assert check_game(KuhnWithARareKing(times)).complete
    with pytest.raises(GameError, match="of the public face a pair has weight"):
        check_history_game(HistoriesWithARareKing(), KuhnWithARareKing(times))


def test_a_class_is_no_game() -> None:
    with pytest.raises(GameError, match=r"takes an object of a class derived from sog\.HistoryGame, not the class"):
        check_history_game(KuhnHistories)  # type: ignore[arg-type]


def test_public_states_list_their_histories() -> None:
    random = "goofspiel(imp_info=True,num_cards=4,points_order=random)"
    for name, decisions in (("leduc_poker", 2), (random, 5), (BATTLE_3X3, 7)):
        game, rng = make_history_game(name), np.random.default_rng(3)
        states, taken = game.begin(1), []
        for _ in range(decisions):
            assert deal(game, states, rng, taken)[0] < TERMINAL
            action = drawn(game.legal(states).astype(float), rng.random(1))
            game.step(states, action)
            taken.append(action)
        deal(game, states, rng, taken)
        listed = histories_of(game, game.public(states)[0])
        own = np.full(game.longest, -1)
        own[: len(taken)] = np.concatenate(taken)
        assert (listed.actions == own).all(axis=1).sum() == 1
        np.testing.assert_array_equal(replay(game, listed.actions), listed.states)
        if name != BATTLE_3X3:
            everything = list_histories(game).states
            assert len(listed) == (game.public(everything) == game.public(states)).all(axis=1).sum()


def test_a_history_with_an_illegal_action_is_refused() -> None:
    game = make_history_game("leduc_poker")
    for history in ([0, 0], [0, 1, 0], [0, 1, 1, 1, 1], [0, 1, 2, 0, 1], [7]):
        with pytest.raises(GameError, match="not legal"):
            replay(game, np.array([history]))
    assert replay(game, np.array([[0, 1, 2, 0, -1]])).shape == (1, 13)


def test_children_are_every_legal_step() -> None:
    game = make_history_game("kuhn_poker")
    found = children(game, game.begin(2))
    assert found.parent.tolist() == [0, 0, 0, 1, 1, 1] and found.action.tolist() == [0, 1, 2] * 2


@pytest.mark.parametrize("name", COMPARED)
def test_random_games_are_openspiels(name: str) -> None:
    found = compare_random_games(name, 40, np.random.default_rng(1))
    assert found.games == 40 and found.moves > 40


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("goofspiel(imp_info=True,num_cards=14)", "2 to 13 cards"),
        ("goofspiel(num_cards=4)", "hidden bids only"),
        ("chess", "chess is a game by public states alone"),
        ("liars_dice(numdice=0)", "numdice >= 1"),
        ("openspiel:chess_of_nobody", "OpenSpiel does not load"),
        ("battleship(board_width=8,board_height=8,allow_repeated_shots=False)", "1 to 62 cells"),
        ("battleship(board_width=1,board_height=1,ship_sizes=[2],num_shots=1,allow_repeated_shots=False)", "not fit"),
    ],
)
def test_what_is_no_game_is_refused(name: str, why: str) -> None:
    with pytest.raises(GameError, match=why):
        make_history_game(name)

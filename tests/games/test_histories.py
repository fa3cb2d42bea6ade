"""Games by histories: equal to their public faces and to OpenSpiel, their rows sound, their counts the papers'."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.experiments.checks.histories import COMPARED, compare_random_games
from sog.games.base import NATURE, TERMINAL, Game
from sog.games.catalog import make_game
from sog.games.check import walk
from sog.games.histories.base import HistoryGame, beginnings_of, deal, drawn, replay
from sog.games.histories.catalog import make_history_game
from sog.games.histories.listing import children, histories_of, list_histories

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


def keys(game: HistoryGame, states: np.ndarray, player: int) -> list[bytes]:
    """The infostates of a player as one bytes each."""
    viewers = np.full(len(states), player, dtype=np.int32)
    both = np.concatenate((game.public(states), game.private(states, viewers)), axis=1)
    return [row.tobytes() for row in both]


def compare_faces(name: str, most: int) -> tuple[int, int]:
    """Every pair of up to `most` public states, replayed by histories; the pairs and OpenSpiel's histories of them."""
    game, by_history = make_game(name), make_history_game(name)
    owners: dict[bytes, tuple[object, int, int]] = {}
    publics: dict[bytes, object] = {}
    pairs = 0
    for visit in walk(game, most, 0):
        s, actor = visit.state, game.actor(visit.state)
        if actor == NATURE:
            continue
        w = game.weights(s).dense()
        places = np.argwhere(w > 0)
        actions = [game.history(s, i0, i1) for i0, i1 in places.tolist()]
        histories = np.full((len(actions), by_history.longest), -1, dtype=np.int16)
        for row, history in zip(histories, actions, strict=True):
            assert history is not None
            row[: len(history)] = history
        states = replay(by_history, histories)
        assert (by_history.actors(states) == actor).all()
        pairs += len(places)
        if actor == TERMINAL:
            utility = game.payoff(s).dense()[tuple(places.T)] / w[tuple(places.T)]
            np.testing.assert_allclose(by_history.utilities(states), utility, atol=1e-9)
            continue
        assert visit.fan is not None and visit.fan.moves is not None
        legal = np.zeros((len(states), by_history.num_actions), dtype=np.bool_)
        legal[:, game.actions(s)] = visit.fan.moves.edge[places[:, actor]] >= 0
        np.testing.assert_array_equal(by_history.legal(states), legal)
        for row in by_history.public(states):
            assert publics.setdefault(row.tobytes(), s) == s
        for p in (0, 1):
            for key, i in zip(keys(by_history, states, p), places[:, p].tolist(), strict=True):
                assert owners.setdefault(bytes([p]) + key, (s, p, i)) == (s, p, i)
    # No infostate of the public face is two by histories: as many keys as places.
    assert len(owners) == len(set(owners.values()))
    if not name.startswith("openspiel:"):
        assert len(publics) == len(set(publics.values()))
    return pairs, len(owners)


@pytest.mark.parametrize("name", BOTH_FACES)
def test_both_faces_of_a_game_are_equal(name: str) -> None:
    pairs, owners = compare_faces(name.replace("openspiel:kuhn", "kuhn"), 100_000)
    assert pairs > 10 and owners > 4


@pytest.mark.parametrize("name", LARGE)
def test_both_faces_of_a_large_game_are_equal_where_walked(name: str) -> None:
    assert compare_faces(name, 60)[0] > 100


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


@pytest.mark.parametrize("name", [*BOTH_FACES, *LARGE, "goofspiel(imp_info=True,num_cards=13,points_order=random)"])
def test_rows_hold_what_they_promise(name: str) -> None:
    """Public rows grow; chance sums to 1; the critic's input tells histories apart where infostates do."""
    game, rng = make_history_game(name), np.random.default_rng(0)
    states, inputs = game.begin(200), {}
    before = game.public(states)
    longest = 0
    while (actors := game.actors(states)).min() < TERMINAL:
        np.testing.assert_allclose(game.chances(states).sum(axis=1)[actors == NATURE], 1.0)
        assert (game.legal(states).any(axis=1) == (actors < NATURE)).all()
        weights = np.zeros((len(states), max(game.num_actions, game.num_outcomes)))
        weights[:, : game.num_actions] = game.legal(states)
        weights[actors == NATURE, : game.num_outcomes] = game.chances(states[actors == NATURE])
        game.step(states, np.where(actors < TERMINAL, drawn(weights, rng.random(200)), -1))
        now = game.public(states)
        assert all(beginnings_of(before[b : b + 1], now[b]).all() for b in range(200))
        before, longest = now, longest + 1
        for p in (0, 1):
            rows = game.inputs(states, np.full(200, p, dtype=np.int32))
            assert rows.shape == (200, game.num_inputs) and np.isfinite(rows).all()
            for key, row in zip(keys(game, states, p), rows, strict=True):
                assert inputs.setdefault(bytes([p]) + key, row.tobytes()) == row.tobytes()
        assert game.critic_inputs(states).shape == (200, game.num_critic_inputs)
    assert longest <= game.longest
    assert np.abs(game.utilities(states)).max() <= game.u_max


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
        ("chess", "no game by histories is called chess"),
        ("liars_dice(numdice=0)", "numdice >= 1"),
        ("openspiel:chess_of_nobody", "OpenSpiel does not load"),
        ("battleship(board_width=8,board_height=8,allow_repeated_shots=False)", "1 to 62 cells"),
        ("battleship(board_width=1,board_height=1,ship_sizes=[2],num_shots=1,allow_repeated_shots=False)", "not fit"),
    ],
)
def test_what_is_no_game_is_refused(name: str, why: str) -> None:
    with pytest.raises(GameError, match=why):
        make_history_game(name)

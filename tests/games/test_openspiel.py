"""OpenSpiel games compiled into public states: the same NashConv, the native games' values, and refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL
from sog.games.catalog import make_game
from sog.games.checks.openspiel import compare_with_openspiel
from sog.games.checks.public_states import check_game, walk
from sog.games.compiled.tree import components, joint
from sog.games.openspiel.game import OpenSpielGame
from sog.games.openspiel.histories import list_histories
from sog.games.openspiel.partition import partition
from sog.measure import openspiel_table
from sog.measure.openspiel_table import OpenSpielRow, compare
from sog.searches.cfr import exact
from sog.searches.cfr.rules import DCFR
from sog.searches.tree.public_tree import PublicTree

BATTLESHIP = "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,{})"
SMALL = [
    ("kuhn_poker", "observer", 9),
    ("python_kuhn_poker", "observer", 9),
    ("misere(game=kuhn_poker())", "infostates", 9),
    ("leduc_poker(suit_isomorphism=True)", "observer", 240),
    ("liars_dice(numdice=1,dice_sides=3)", "infostates", 127),
    ("goofspiel(imp_info=True,num_cards=3,points_order=random)", "observer", 100),
    ("goofspiel(imp_info=False,num_cards=3,points_order=random)", "observer", 232),
    ("oshi_zumo(coins=3,size=1,horizon=3)", "observer", 395),
    ("matrix_rps", "infostates", 5),
    ("coordinated_mp", "observer", 5),
    ("zerosum(game=first_sealed_auction(max_value=3))", "infostates", 5),
    ("dark_hex(num_rows=2,num_cols=2)", "own turns", 218),
    ("dark_hex(num_rows=2,num_cols=2,gameversion=adh)", "infostates", 101),
    ("mnk(m=3,n=2,k=2)", "observer", 285),
    (BATTLESHIP.format("loss_multiplier=1.0"), "infostates", 479),
]
SILENT = [  # OpenSpiel has no infostates for these
    "repeated_game(stage_game=matrix_rps(),num_repetitions=2)",
    "markov_soccer(horizon=2)",
    "pig(winscore=5,diceoutcomes=2,horizon=6)",
]


@pytest.mark.parametrize(("name", "way", "states"), SMALL)
def test_nash_conv_is_openspiels(name: str, way: str, states: int) -> None:
    row = compare(name, seed=3)
    assert (row.public, row.states) == (way, states)
    assert row.agrees, row


@pytest.mark.parametrize("name", [*[name for name, _, _ in SMALL], *SILENT])
def test_conforms(name: str) -> None:
    report = check_game(OpenSpielGame(name), max_states=150)
    assert report.largest_value <= 1


# Not the auction: where bids tie, a pair stands for histories of different utilities.
@pytest.mark.parametrize("name", [name for name, _, states in SMALL if states < 250 and "auction" not in name])
def test_every_history_is_openspiels(name: str) -> None:
    seen = compare_with_openspiel(OpenSpielGame(name))
    assert seen.complete and seen.infostates == seen.openspiel_infostates


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker",
        "leduc_poker",
        "liars_dice(numdice=1,dice_sides=3)",
        "goofspiel(imp_info=True,num_cards=3,points_order=random)",
        "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    ],
)
def test_native_and_compiled_games_have_one_value(name: str) -> None:
    native, compiled = (_solved(PublicTree(game).list_all()) for game in (make_game(name), OpenSpielGame(name)))
    assert abs(native.value - compiled.value) <= native.exploitability + compiled.exploitability + 1e-12
    assert native.exploitability < 2e-3 and compiled.exploitability < 2e-3


def _solved(public: PublicTree) -> exact.Measure:
    return exact.measure(exact.solve(public, DCFR, 500))


# --- public states ---


def test_kuhn_is_the_native_tree() -> None:
    game = OpenSpielGame("kuhn_poker")
    s = game.root()
    assert game.num_infostates(s) == (3, 3)
    np.testing.assert_allclose(game.weights(s).dense(), (1 - np.eye(3)) / 6)
    fan = game.fan(s)
    assert fan.carry is None and fan.moves is not None and fan.moves.target is None
    assert [game.actor(child) for child in fan.children] == [1, 1]
    assert [game.action_name(s, a) for a in (0, 1)] == ["Pass", "Bet"]
    assert [game.infostate_name(s, 0, i) for i in range(3)] == ["0", "1", "2"]
    assert game.history(s, 2, 0) == [2, 0] and game.history(s, 1, 1) is None


def test_chance_before_the_first_decision_is_folded_only_where_it_is_private() -> None:
    dealt = OpenSpielGame("leduc_poker")
    assert dealt.actor(dealt.root()) == 0
    shown = OpenSpielGame("goofspiel(imp_info=True,num_cards=3,points_order=random)")
    assert shown.actor(shown.root()) == NATURE and len(shown.fan(shown.root()).children) == 3
    assert shown.num_infostates(shown.root()) == (1, 1)


def test_a_move_whose_result_depends_on_the_hidden_stone_goes_through_nature() -> None:
    game = OpenSpielGame("dark_hex(num_rows=2,num_cols=2,gameversion=adh)")
    kinds = {game.actor(v.state) for v in walk(game, 500)}
    assert kinds == {0, 1, NATURE, TERMINAL}


def test_several_histories_of_a_pair_are_summed() -> None:
    # The coin decides who is right and nobody sees it.
    game = OpenSpielGame("coordinated_mp")
    total = sum(float(game.weights(v.state).dense().sum()) for v in walk(game, 100) if game.actor(v.state) == TERMINAL)
    assert game.num_histories > total > 0
    assert all(game.u_max >= abs(game.payoff(v.state).dense()).max() for v in walk(game, 100) if v.fan is None)


@pytest.mark.parametrize("name", ["leduc_poker(suit_isomorphism=True)", "liars_dice(numdice=1,dice_sides=3)"])
def test_features_tell_public_states_apart(name: str) -> None:
    game = OpenSpielGame(name)
    live = [v.state for v in walk(game, 1000) if game.actor(v.state) != TERMINAL]
    assert len({game.features(s).tobytes() for s in live}) == len(live)


def test_the_same_game_twice() -> None:
    first, second = (OpenSpielGame("leduc_poker(suit_isomorphism=True)") for _ in range(2))
    for visit in walk(first, 300):
        s = visit.state
        assert first.num_infostates(s) == second.num_infostates(s)
        np.testing.assert_array_equal(first.weights(s).dense(), second.weights(s).dense())
        np.testing.assert_array_equal(first.features(s), second.features(s))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12))
def test_components_join_edges_that_share_an_end(edges: list[tuple[int, int]]) -> None:
    left, right = (np.array(side) for side in zip(*edges, strict=True))
    found = components(left, right)
    groups = list(range(len(edges)))  # merged by hand until nothing changes
    for _ in edges:
        for a in range(len(edges)):
            for b in range(len(edges)):
                if left[a] == left[b] or right[a] == right[b]:
                    groups[a] = groups[b] = min(groups[a], groups[b])
    assert [[x == y for x in found] for y in found] == [[x == y for x in groups] for y in groups]


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_joint_counts_different_rows_in_order(rows: list[tuple[int, int]]) -> None:
    ranks = {row: k for k, row in enumerate(sorted(set(rows)))}
    first, second = (np.array(side) for side in zip(*rows, strict=True))
    assert joint(first, second).tolist() == [ranks[row] for row in rows]


# --- game files ---


def written(name: str, path: Path) -> str:
    """The game string of OpenSpiel's game written out as an efg file."""
    game = pyspiel.load_game_as_turn_based(name)
    lines = [f'EFG 2 R "{name}" {{ "A" "B" }} ""']
    numbers: list[dict[str, int]] = [{}, {}]
    counts = {"chance": 0, "end": 0}

    def write(state: Any) -> None:
        if state.is_terminal():
            counts["end"] += 1
            won = " ".join(repr(float(x)) for x in state.returns())
            lines.append(f't "" {counts["end"]} "" {{ {won} }}')
            return
        if state.is_chance_node():
            counts["chance"] += 1
            moves = " ".join(f'"c{a}" {p!r}' for a, p in state.chance_outcomes())
            lines.append(f'c "" {counts["chance"]} "" {{ {moves} }} 0')
        else:
            p = state.current_player()
            number = numbers[p].setdefault(state.information_state_string(p), len(numbers[p]) + 1)
            moves = " ".join(f'"{p}a{a}"' for a in state.legal_actions())
            lines.append(f'p "" {p + 1} {number} "" {{ {moves} }} 0')
        for action in state.legal_actions():
            write(state.child(action))

    write(game.new_initial_state())
    path.write_text("\n".join(lines) + "\n")
    return f"efg_game(filename={path})"


@pytest.mark.parametrize(
    "name",
    [
        "kuhn_poker",
        "goofspiel(imp_info=True,num_cards=3,points_order=random)",
        "dark_hex(num_rows=2,num_cols=2,gameversion=adh)",
    ],
)
def test_an_efg_file_is_the_game_written_to_it(name: str, tmp_path: Path) -> None:
    row, original = compare(written(name, tmp_path / "game.efg")), compare(name)
    assert row.agrees, row
    assert row.public == "own turns"  # between turns OpenSpiel would say where the other player is
    assert (row.histories, row.infostates) == (original.histories, original.infostates)
    assert row.uniform == pytest.approx(original.uniform, abs=1e-12)


# --- refusals ---


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no_such_game", "OpenSpiel does not load no_such_game: Unknown game 'no_such_game'"),
        ("kuhn_poker(", "OpenSpiel does not load"),
        ("efg_game(filename=/nowhere.efg)", "OpenSpiel does not load"),
        ("nfg_game", "OpenSpiel does not load"),
        ("kuhn_poker(players=3)", "is not a two-player game: it has 3 players"),
        ("matrix_pd", "is not zero-sum: a game ends with 1 and 1; openspiel:zerosum(game=turn_based_simultaneous"),
        ("first_sealed_auction", "is not zero-sum"),
        ("tiny_hanabi", "is not zero-sum: both players get the same"),
        (BATTLESHIP.format("loss_multiplier=2.0"), "is not zero-sum: a game ends with 1 and -2"),
        ("negotiation", "cannot be enumerated: OpenSpiel only samples its chance"),
        ("phantom_ttt", "is too large to enumerate: about 10^10 histories, the limit is 1,000,000"),
        ("chess", "is too large to enumerate: about 10^"),
        ("dark_hex_ir(num_rows=2,num_cols=2)", "lacks perfect recall: infostate 'P1 xo ..' of player 1"),
        ("liars_dice_ir(numdice=1,dice_sides=3)", "lacks perfect recall"),
        ("restricted_nash_response(game=kuhn_poker(),fixed_player=0)", "has private turns: at infostate '1p'"),
    ],
)
def test_refusals(name: str, says: str) -> None:
    with pytest.raises(GameError) as error:
        OpenSpielGame(name)
    assert says in str(error.value) and "\n" not in str(error.value)
    assert name.split("(")[0] in str(error.value)


def test_a_game_of_chance_alone_is_refused(tmp_path: Path) -> None:
    """A coin decides it: two ends and no decision."""
    ends = ['t "" 1 "" { 1 -1 }', 't "" 2 "" { -1 1 }']
    lines = ['EFG 2 R "coin" { "A" "B" } ""', 'c "" 1 "" { "heads" 0.5 "tails" 0.5 } 0', *ends]
    (tmp_path / "coin.efg").write_text("\n".join(lines) + "\n")
    with pytest.raises(GameError, match="ends before anybody acts"):
        OpenSpielGame(f"efg_game(filename={tmp_path / 'coin.efg'})")


def test_a_game_above_the_limit_is_refused_with_its_size() -> None:
    assert len(list_histories("leduc_poker", limit=9300).parent) == 9300
    with pytest.raises(GameError, match="leduc_poker is too large to enumerate: more than 9,299 histories"):
        list_histories("leduc_poker", limit=9299)


def test_a_refusal_is_all_that_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(GameError):
        OpenSpielGame("no_such_game")
    assert capfd.readouterr() == ("", "")


def test_nobody_acts_with_a_hidden_turn() -> None:
    histories = list_histories("kuhn_poker")
    parts = partition(histories)
    acting = histories.actor < 2
    for s in range(int(parts.state.max()) + 1):
        assert len(set(histories.actor[acting & (parts.state == s)])) == 1


# --- the table ---


def test_the_table_has_a_row_for_each_game_and_a_reason_for_each_gap() -> None:
    games = ["kuhn_poker", "matrix_pd", "pig(winscore=5,diceoutcomes=2,horizon=6)"]
    made = openspiel_table.rows(games)
    table = [next(made), *made]
    assert [row.game for row in table] == games
    assert [row.agrees for row in table] == [True, False, False]
    assert table[1].refused == "is not zero-sum: a game ends with 1 and 1"
    assert table[2].uniform is not None and table[2].openspiel_uniform is None and table[2].refused
    assert openspiel_table.as_json(table)["agree"] == 1
    assert openspiel_table.rich_table(table).row_count == 3
    text = openspiel_table.as_markdown(table)
    assert "Compared: 1 games; equal within 1e-09:\n1; not compared: 2." in text
    assert "| `kuhn_poker` | observer | 54 | 9 | 12 |" in text
    assert "| `matrix_pd` | is not zero-sum: a game ends with 1 and 1 |" in text


def test_a_row_that_differs_is_not_taken_for_a_refused_one() -> None:
    row = compare("kuhn_poker")
    assert row.agrees and not row.differs
    wrong = replace(row, openspiel_random=row.random + 1e-8 if row.random is not None else None)
    assert wrong.differs and not wrong.agrees
    assert not OpenSpielRow("matrix_pd", refused="is not zero-sum").differs
    assert "Compared: 1 games; equal within 1e-09:\n0;" in openspiel_table.as_markdown([wrong])


def test_a_wrong_policy_is_found_out() -> None:
    public = PublicTree(OpenSpielGame("kuhn_poker")).list_all()
    uniform = exact.uniform_policy(public)
    other = openspiel_table.random_policy(uniform, seed=0)
    theirs = pyspiel.nash_conv(pyspiel.load_game("kuhn_poker"), openspiel_table.openspiel_policy(public, other))
    assert abs(2 * exact.measure_policy(public, uniform).exploitability - theirs) > 1e-3


def test_candidates_are_all_different() -> None:
    assert len(set(openspiel_table.CANDIDATES)) == len(openspiel_table.CANDIDATES)

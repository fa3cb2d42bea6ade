"""The conformance check: every game passes it, and every broken promise is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sog.arrays import Float32, Float64, Int32
from sog.errors import GameError, SettingError
from sog.games.base import NATURE, TERMINAL, Fan, Game, Links, Moves, Operator, Scaled, State, Unit, plain_moves, step
from sog.games.boards.connect_four import ConnectFour
from sog.games.boards.tic_tac_toe import TicTacToe
from sog.games.catalog import make_game
from sog.games.checks.public_states import check_game, walk
from sog.games.rules.goofspiel import Goofspiel
from sog.games.rules.kuhn import Kuhn
from sog.games.rules.leduc.game import Leduc
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.whole import check_listable

NO_LINKS: Any = Links(np.arange(3, dtype=np.int32), np.arange(3, dtype=np.int32))
SMALL = [
    "kuhn_poker",
    "leduc_poker",
    "rps",
    "liars_dice(numdice=1,dice_sides=3)",
    "liars_dice(numdice=2,dice_sides=2)",
    "goofspiel(imp_info=True,num_cards=2,points_order=random)",
    "goofspiel(imp_info=True,num_cards=3,points_order=descending)",
    "goofspiel(imp_info=True,num_cards=4,points_order=random)",
    "goofspiel(imp_info=True,num_cards=4,points_order=ascending,returns_type=point_difference)",
]
LARGE = [
    "tic_tac_toe",
    "liars_dice(numdice=2,dice_sides=6)",
    "goofspiel(imp_info=True,num_cards=5,points_order=random)",
]


@pytest.mark.parametrize("name", SMALL)
def test_small_games_conform(name: str) -> None:
    game = make_game(name)
    report = check_game(game)
    assert report.complete and report.terminals > 0
    assert report.listed == PublicTree(game).list_all().size
    if name != "leduc_poker":  # reports values in pots, which later bets exceed
        assert report.largest_value <= 1.0


@pytest.mark.parametrize("name", LARGE)
def test_a_sample_of_a_large_game_conforms(name: str) -> None:
    report = check_game(make_game(name), max_states=300)
    assert not report.complete and report.listed == 0
    assert report.decisions + report.chances + report.terminals == 300
    assert report.terminals > 20  # the walk goes down to the end of the game


def test_the_sample_spreads_over_the_game() -> None:
    states = [visit.state for visit in walk(make_game("tic_tac_toe"), 300)]
    assert len({s[0] for s in states if isinstance(s, tuple) and s}) >= 7  # of nine openings


def test_the_sample_follows_its_seed() -> None:
    game = make_game("tic_tac_toe")
    lines = [[visit.state for visit in walk(game, 50, seed)] for seed in (1, 1, 2)]
    assert lines[0] == lines[1] != lines[2]


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
@given(seed=st.integers(0, 2**32 - 1))
def test_random_playouts_end_within_the_bounds(name: str, seed: int) -> None:
    game = make_game(name)
    rng = np.random.default_rng(seed)
    s = game.root()
    w = game.weights(s).dense()
    pair: tuple[int, int] = divmod(int(rng.choice(w.size, p=w.ravel())), w.shape[1])
    while game.actor(s) != TERMINAL:
        if game.actor(s) == NATURE:
            s, i0, i1 = game.sample_chance(s, *pair, rng)
            pair = int(i0), int(i1)
        else:
            fan, actor = game.fan(s), game.actor(s)
            assert fan.moves is not None
            column = int(rng.choice(np.flatnonzero(fan.moves.edge[pair[actor]] >= 0)))
            edge, pair = step(fan, actor, pair, column)
            s = fan.children[edge]
        assert game.weights(s).dense()[pair] > 0
    assert abs(game.payoff(s).dense()[pair]) <= game.u_max * game.weights(s).dense()[pair] * (1 + 1e-9)


# --- broken promises: each replaces one method and is named by the check ---


def _moves(fan: Fan, **changes: Any) -> Fan:
    assert fan.moves is not None
    return Fan(fan.children, Moves(**({"edge": fan.moves.edge, "target": fan.moves.target} | changes)), fan.carry)


def _no_bet_with_a_jack(fan: Fan) -> Fan:
    return _moves(fan, edge=np.array([[-1, -1], [0, 1], [0, 1]], dtype=np.int32))


def _wild_links(fan: Fan) -> Fan:
    if fan.carry is None:
        return fan
    wild = Links(np.array([0], dtype=np.int32), np.array([6], dtype=np.int32))
    return Fan(fan.children, None, [(wild, wild) for _ in fan.children])


def _hidden_opponent_forgets(fan: Fan) -> Fan:
    nobody = Links(np.array([0, 1], dtype=np.int32), np.array([0, 1], dtype=np.int32))
    return Fan(fan.children, fan.moves, [(nobody, nobody) for _ in fan.children])


def _half(scaled: Scaled) -> Scaled:
    return Scaled(scaled.operator, scaled.scale / 2)


BROKEN: list[tuple[type[Game], str, Callable[[Any], Any], str]] = [
    (Kuhn, "root_ranges", lambda r: (r[0] / 2, r[1]), "root weights sum to 0.5"),
    (Kuhn, "root_ranges", lambda r: (2 * r[0], r[1] / 2), "root range 0 leaves"),
    (Kuhn, "actor", lambda a: 5 if a == TERMINAL else a, "actor 5 is not"),
    (Kuhn, "weights", lambda w: Scaled(Operator(w.dense()[:2])), r"weights are not float64\[3, 3\] but float64\[2"),
    (
        Kuhn,
        "weights",
        lambda w: Scaled(Operator(w.dense().astype(np.float32))),
        r"weights are not float64\[3, 3\] but float32\[3, 3\]",
    ),
    (
        Kuhn,
        "weights",
        lambda w: Scaled(Operator(w.dense().tolist())),
        "weights are an Operator of a value of type list",
    ),
    (Kuhn, "weights", lambda w: Scaled(Operator(w.dense())), "weights come with a new Operator at each call"),
    (Kuhn, "payoff", lambda w: Scaled(Operator(w.dense())), "payoffs come with a new Operator at each call"),
    (Kuhn, "slot", lambda x: x // 2, "slots of player 0 repeat"),
    (Kuhn, "slot", lambda x: x + np.int32(1), "slots of player 0 leave 0..2"),
    (Kuhn, "slot", lambda x: x.astype(np.int64), "slots 0 are not int32"),
    (Kuhn, "actions", lambda a: a[::-1], "actions do not ascend"),
    (Kuhn, "actions", lambda a: a + np.int32(1), "actions leave 0..1"),
    (Kuhn, "actions", lambda a: a[:0], "0 actions for actor 0"),
    (Kuhn, "features", lambda x: x[1:], r"no float32\[6\] features but float32\[5\]"),
    (Kuhn, "features", lambda x: x * np.float32(np.nan), "features are not finite"),
    (Kuhn, "features", lambda x: x * np.float32(0.0), "the same features as .*, where others act or act otherwise"),
    # Without the card on the board.
    (Leduc, "features", lambda x: np.r_[np.zeros(3, np.float32), x[3:]], "other pairs of infostates are likely"),
    (Kuhn, "value_unit", lambda u: 0.0, "value unit 0.0"),
    (
        Kuhn,
        "payoff",
        lambda u: Scaled(u.operator, 3.0),
        r"pair \(0, 1\): 0.5 > 2 \* 0.166667 = 0.333333; a payoff is the utility times the pair's weight W$",
    ),
    (Kuhn, "payoff", lambda u: Scaled(u.operator, 6.0 * u.scale), r"[12] > 2 \* 0.166667 = 0.333333"),
    (Kuhn, "payoff", lambda u: u.dense(), r"payoffs are float64\[3, 3\], not a Scaled"),
    (Kuhn, "weights", lambda w: w.dense(), r"weights are float64\[3, 3\], not a Scaled"),
    (Kuhn, "weights", lambda w: None, "weights are None, not a Scaled"),
    (Kuhn, "weights", lambda w: Scaled(w.dense()), r"weights are a Scaled of float64\[3, 3\], not of an Operator"),
    (Kuhn, "num_infostates", lambda n: [3, 3], r"num_infostates is \[3, 3\], not two counts"),
    (Kuhn, "num_infostates", lambda n: (3, 0), r"num_infostates is \(3, 0\), not two counts"),
    (Kuhn, "actions", lambda a: a.tolist(), "actions are not int32.A. but a value of type list"),
    (Kuhn, "actions", lambda a: None, "actions are not int32.A. but None"),
    (Kuhn, "features", lambda x: None, r"no float32\[6\] features but None"),
    (Kuhn, "fan", lambda f: f.children, "fan is a value of type list, not a Fan"),
    (Kuhn, "fan", lambda f: Fan(f.children, f.moves.edge), r"moves are int32\[3, 2\], not Moves"),
    (Kuhn, "fan", lambda f: Fan([list(c) for c in f.children], f.moves), "a state is a value of type list"),
    (Kuhn, "fan", lambda f: Fan(["", "b"], f.moves), "at 'start': edge 0 leads back to this same state"),
    (Kuhn, "payoff", lambda u: Scaled(Operator(np.eye(3))), r"payoff above u_max \* W, pair \(0, 0\)"),
    (Kuhn, "fan", lambda f: Fan([]), "a fan without children"),
    (Kuhn, "fan", lambda f: Fan(f.children), "the fan has no moves"),
    (Kuhn, "fan", lambda f: _moves(f, edge=f.moves.edge + np.int32(1)), r"edges leave -1\.\.1"),
    (Kuhn, "fan", lambda f: _moves(f, edge=f.moves.edge[:2]), "moves' edges are not int32"),
    (
        Kuhn,
        "fan",
        lambda f: _moves(f, target=np.full((3, 2), 3, np.int32)),
        r"targets over edge 0 leave 0\.\.2",
    ),
    (
        Kuhn,
        "fan",
        lambda f: _moves(f, target=np.full((3, 2), 2, np.int32)),
        r"changes its weight over edge 0",
    ),
    (Kuhn, "fan", _no_bet_with_a_jack, r"no legal action, infostate \(0,\)"),
    (Kuhn, "fan", _hidden_opponent_forgets, r"pair \(0, 2\) has not one follower over edge 0"),
    (ConnectFour, "features", lambda x: x * np.arange(len(x), dtype=np.float32), "a plane is not 0 or one value"),
    (TicTacToe, "value_unit", lambda u: 2.0, "with a value unit that is not u_max"),
    (TicTacToe, "weights", lambda w: Scaled(Operator(w.dense())), "with weights of its own"),
    (TicTacToe, "fan", lambda f: _moves(f, edge=f.moves.edge[:, ::-1]), "action a does not take edge a"),
    (Leduc, "fan", _wild_links, r"link targets of player 0 over edge 0 leave 0\.\.5"),
    (Leduc, "sample_chance", lambda c: (c[0], c[0].board, c[2]), "to a pair without weight"),
    (Leduc, "sample_chance", lambda c: (c[0], 6, c[2]), "to no infostate"),
    (Goofspiel, "fan", lambda f: Fan(f.children, f.moves), "changes player 0's infostates without links"),
    (Goofspiel, "fan", lambda f: Fan(f.children[:2], f.moves, f.carry and f.carry[:2]), "weights of pair"),
    (Goofspiel, "fan", lambda f: Fan(f.children, f.moves, f.carry and f.carry[1:]), "no carry for each of 3"),
    (
        Goofspiel,
        "fan",
        lambda f: Fan(f.children, f.moves and Moves(f.moves.edge), f.carry),
        "without targets",
    ),
    (Kuhn, "action_name", lambda name: "go", "two actions are called 'go'"),
    (Kuhn, "action_name", len, r"an action is called \d"),
    (Kuhn, "action_name", lambda name: "", "an action is called ''"),
    (Kuhn, "infostate_name", len, "an infostate's name is a value of type int, not text"),
    (Kuhn, "picture", len, "a picture is a value of type int, not text"),
]


def _broken(kind: type[Game], method: str, change: Callable[[Any], Any]) -> Game:
    """The game with what one method returns changed."""

    def changed(self: Game, *arguments: Any) -> Any:
        return change(getattr(super(broken, self), method)(*arguments))

    broken: Any = type("Broken", (kind,), {method: changed})
    game: Game = broken(3, "descending") if kind is Goofspiel else broken()
    return game


@pytest.mark.parametrize(("kind", "method", "change", "says"), BROKEN)
def test_a_broken_promise_is_named(kind: type[Game], method: str, change: Callable[[Any], Any], says: str) -> None:
    game = _broken(kind, method, change)
    with pytest.raises(GameError, match=says) as error:
        check_game(game)
    assert str(error.value).startswith(f"{game.name} at ") and "\n" not in str(error.value)


def test_only_games_are_checked() -> None:
    for what in (Kuhn, "kuhn_poker"):
        with pytest.raises(GameError, match=r"takes an object of a class derived from sog\.Game"):
            check_game(what)  # type: ignore[arg-type]


class Circle(Kuhn):
    """After pass and bet the first player begins again, by way of a state that two lines reach."""

    def fan(self, s: Any) -> Fan:
        fan = super().fan(s)
        return Fan(["p", "pb"], fan.moves) if s == "" else Fan(["pp", ""], fan.moves) if s == "pb" else fan


def test_a_state_that_comes_again_is_named() -> None:
    with pytest.raises(GameError, match=r"[23] edges later the same state comes again") as error:
        check_game(Circle())
    assert str(error.value).startswith("kuhn_poker at ")


def test_a_state_that_two_lines_reach_is_no_cycle() -> None:
    class Diamond(Kuhn):
        def fan(self, s: Any) -> Fan:
            return Fan(["pp", "bb"], super().fan(s).moves) if s == "pb" else super().fan(s)

    report = check_game(Diamond())
    assert report.complete
    assert report.listed == PublicTree(Diamond()).list_all().size == report.decisions + report.terminals + 2


@pytest.mark.parametrize("name", ["name", "u_max", "num_actions", "num_slots", "num_features"])
def test_an_attribute_that_is_not_set_is_named(name: str) -> None:
    game = Kuhn()
    delattr(game, name)
    with pytest.raises(GameError, match=f"Kuhn: the attribute {name} is not set; see help"):
        check_game(game)
    setattr(game, name, [1])
    with pytest.raises(GameError, match=f"attribute {name} is a value of type list"):
        check_game(game)


@pytest.mark.parametrize("u_max", [0.0, -1.0, float("nan"), float("inf")])
def test_a_u_max_that_bounds_nothing_is_named(u_max: float) -> None:
    game = Kuhn()
    game.u_max = u_max
    with pytest.raises(GameError, match=r"the attribute u_max is .*, no finite number above 0"):
        check_game(game)


@pytest.mark.parametrize("name", ["", " ", "two\nlines"])
def test_a_name_that_is_no_game_string_is_named(name: str) -> None:
    game = Kuhn()
    game.name = name
    with pytest.raises(GameError, match=r"Kuhn: the attribute name is .*, no game string"):
        check_game(game)


def test_a_root_that_cannot_be_hashed_is_named() -> None:
    with pytest.raises(GameError, match="a state is a value of type list, which cannot be hashed"):
        list(walk(_broken(Kuhn, "root", list), 10))


def test_weights_that_grow_after_chance_are_named() -> None:
    class Heavier(Leduc):
        def weights(self, s: Any) -> Scaled:
            return super().weights(s) if s.board != 3 else _half(super().weights(s))

    with pytest.raises(GameError, match=r"weights of pair \(0, 1\) sum to 0.0291667"):
        check_game(Heavier())


def test_what_a_game_of_ones_own_raises_names_its_class_and_line() -> None:
    class Raising(Kuhn):
        def features(self, s: State) -> Float32:
            raise IndexError("mine")

    place = r" \(test_check.py, line \d+\)$"
    with pytest.raises(GameError, match=r"^kuhn_poker at 'start': Raising's code raised IndexError: mine" + place):
        check_game(Raising())

    class Nameless(Raising):
        def state_name(self, s: State) -> str:
            raise KeyError("mine, too")

    with pytest.raises(GameError, match=r"^kuhn_poker at .*: Nameless's code raised IndexError: mine" + place):
        check_game(Nameless())


@pytest.mark.parametrize("method", ["fan", "payoff", "actor", "sample_chance", "weights"])
def test_what_a_game_raises_names_the_public_state_wherever_it_does(method: str) -> None:
    """The game's name and a state's come before the class, whichever method it was."""

    class Raising(Leduc):
        calls = 0

    def raising(self: Raising, *arguments: Any) -> Any:
        self.calls += 1
        if self.calls > 40 or method == "sample_chance":
            raise IndexError("mine")
        return getattr(Leduc, method)(self, *arguments)

    setattr(Raising, method, raising)
    with pytest.raises(GameError, match=r"^leduc_poker at '.*': Raising's code raised IndexError: mine \(test_"):
        check_game(Raising())


def test_the_line_that_is_named_is_the_games_own() -> None:
    class Reshaping(Kuhn):
        def features(self, s: State) -> Float32:
            return np.full(-1, 0.0, dtype=np.float32)

    with pytest.raises(GameError, match=r"ValueError: .* \(test_check\.py, line \d+\)"):
        check_game(Reshaping())


def test_an_error_of_several_lines_becomes_one() -> None:
    class Wordy(Kuhn):
        def features(self, s: State) -> Float32:
            raise GameError("one\n  two")

    with pytest.raises(GameError, match=r"^one two$"):
        check_game(Wordy())


@pytest.mark.parametrize(
    ("attribute", "value", "says"),
    [
        ("unit", "chips", "the attribute unit is a value of type str"),
        ("crossed", (99,), r"crossed features \(99,\) leave 0\.\.5"),
        ("longest", -3, "the attribute longest is -3, below 0"),
        ("planes", (6, 1, 1), "planes are the features of a game of perfect information"),
        ("num_slots", (3, 3, 3), "num_slots are two whole numbers of at least 1, not"),
        ("num_slots", (3.0, 3.0), "num_slots are two whole numbers of at least 1, not"),
    ],
)
def test_attributes_that_training_takes_for_granted_are_checked(attribute: str, value: Any, says: str) -> None:
    game = Kuhn()
    setattr(game, attribute, value)
    with pytest.raises(GameError, match=says):
        check_game(game)


@pytest.mark.parametrize("per_utility", [0.0, -1000.0, np.nan, np.inf, "1000"])
def test_a_unit_is_a_finite_number_above_0(per_utility: Any) -> None:
    with pytest.raises(GameError, match="a unit is a name and a finite number above 0"):
        Unit("mbb/h", per_utility)


@pytest.mark.parametrize(
    ("method", "value", "says"),
    [
        ("actor", float, "actor 0.0 is not the whole number"),
        ("fan", lambda fan: replace(fan, carry=[NO_LINKS] * 2), "carry over edge 0 .* not a pair"),
    ],
)
def test_slips_of_a_newcomer_are_named(method: str, value: Any, says: str) -> None:
    with pytest.raises(GameError, match=says):
        check_game(_broken(Kuhn, method, value))


def test_a_check_looks_at_something() -> None:
    with pytest.raises(SettingError, match="max_states is a whole number of at least 1, not 0"):
        check_game(Kuhn(), 0)


def test_a_value_unit_that_is_no_number_is_named() -> None:
    class Wordy(Kuhn):
        def value_unit(self, s: State) -> float:
            return "one"  # type: ignore[return-value]

    with pytest.raises(GameError, match="value unit one is not a positive number"):
        check_game(Wordy())


def test_weights_that_are_an_array_where_chance_is_not_listed_are_named() -> None:
    class Unlisted(Kuhn):
        def actor(self, s: State) -> int:
            return NATURE

        def listable(self, s: State) -> bool:
            return False

        def weights(self, s: State) -> Scaled:
            return np.ones((3, 3))  # type: ignore[return-value]

        def root_ranges(self) -> tuple[Float64, Float64]:
            return np.ones(3), np.ones(3)

    with pytest.raises(GameError, match=r"weights are float64\[3, 3\], not a Scaled"):
        check_game(Unlisted())


class Endless(Kuhn):
    """The first player passes for ever; a state is how often."""

    def root(self) -> Any:
        return 0

    def actor(self, s: Any) -> int:
        return 0

    def fan(self, s: Any) -> Fan:
        return Fan([s + 1], plain_moves(3, 1))

    def actions(self, s: Any) -> Int32:
        return np.zeros(1, dtype=np.int32)

    def weights(self, s: Any) -> Scaled:
        return super().weights("")

    def features(self, s: Any) -> Float32:
        return super().features("")

    def num_infostates(self, s: Any) -> tuple[int, int]:
        return super().num_infostates("")

    def state_name(self, s: Any) -> str:
        return str(s)


def test_a_game_without_an_end_is_named() -> None:
    with pytest.raises(GameError, match=r"a line of 2,000 public states does not end"):
        check_game(Endless(), 2_000)
    with pytest.raises(GameError, match=r"too large to list: a line of 10,000 public states does not end"):
        check_listable(Endless())


class Forgetful(Kuhn):
    """Every other call of one method has another answer; `method` says of which."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self.method, self.calls = method, 0

    def odd(self, method: str) -> bool:
        self.calls += method == self.method
        return method == self.method and self.calls % 2 == 1

    def features(self, s: Any) -> Float32:
        return super().features(s) + np.float32(self.odd("features"))

    def weights(self, s: Any) -> Scaled:
        weights = super().weights(s)
        return replace(weights, scale=weights.scale * (1 + 1e-12 * self.odd("weights")))

    def payoff(self, s: Any) -> Scaled:
        payoff = super().payoff(s)
        return replace(payoff, scale=payoff.scale / (1 + self.odd("payoff")))

    def value_unit(self, s: Any) -> float:
        return super().value_unit(s) * (1 + self.odd("value_unit"))

    def fan(self, s: Any) -> Fan:
        fan = super().fan(s)
        return Fan(fan.children, fan.moves, [(NO_LINKS, NO_LINKS)] * len(fan.children)) if self.odd("fan") else fan


@pytest.mark.parametrize("method", ["features", "weights", "payoff", "value_unit", "fan"])
def test_an_answer_that_changes_from_call_to_call_is_named(method: str) -> None:
    assert check_game(Forgetful("none")).complete
    with pytest.raises(GameError, match=rf"{method} answers differently when it is called again"):
        check_game(Forgetful(method))


class Nodes(Kuhn):
    """Kuhn poker whose states are objects, each line's made anew and the same as itself alone."""

    class Node:
        def __init__(self, line: str) -> None:
            self.line = line

    def root(self) -> Any:
        return Nodes.Node("")

    def actor(self, s: Any) -> int:
        return super().actor(s.line)

    def num_infostates(self, s: Any) -> tuple[int, int]:
        return super().num_infostates(s.line)

    def actions(self, s: Any) -> Int32:
        return super().actions(s.line)

    def fan(self, s: Any) -> Fan:
        fan = super().fan(s.line)
        return Fan([Nodes.Node(child) for child in fan.children], fan.moves, fan.carry)

    def weights(self, s: Any) -> Scaled:
        return super().weights(s.line)

    def payoff(self, s: Any) -> Scaled:
        return super().payoff(s.line)

    def features(self, s: Any) -> Float32:
        return super().features(s.line)


class Swapped(Nodes):
    calls = 0

    def fan(self, s: Any) -> Fan:
        fan, self.calls = super().fan(s), self.calls + 1
        return Fan(fan.children[:: 1 if self.calls % 2 else -1], fan.moves, fan.carry)


def test_states_that_are_objects_are_told_apart_by_what_is_seen_of_them() -> None:
    assert check_game(Nodes()).terminals > 0
    with pytest.raises(GameError, match="fan answers differently"):
        check_game(Swapped())


def test_draws_of_chance_are_the_fans() -> None:
    class Switches(Leduc):
        def sample_chance(self, s: Any, i0: int, i1: int, rng: np.random.Generator) -> tuple[Any, int, int]:
            child, j0, j1 = super().sample_chance(s, i0, i1, rng)
            w = self.weights(child).dense()
            other = next((j for j in range(len(w)) if j != j0 and w[j, j1] > 0), j0)
            return child, other, j1

    with pytest.raises(GameError, match=r"sample_chance leads infostate \d+ of player 0 to \d+, which it does not"):
        check_game(Switches())


def test_moves_and_children_are_all_of_use() -> None:
    class Nothing(Kuhn):
        def fan(self, s: Any) -> Fan:
            fan = super().fan(s)
            moves = fan.moves
            return fan if moves is None else replace(fan, moves=replace(moves, edge=np.zeros_like(moves.edge)))

    class First(TicTacToe):
        def child(self, s: Any, edge: int) -> Any:
            return super().child(s, 0)

    with pytest.raises(GameError, match=r"no move takes edge \(1,\)"):
        check_game(Nothing())
    with pytest.raises(GameError, match=r"child\(1\) is another state than the fan's"):
        check_game(First(), 20)


def test_the_identity_is_among_a_games_symmetries() -> None:
    game = TicTacToe()
    game.symmetries = game.symmetries[1:3]
    with pytest.raises(GameError, match="the identity is not among its symmetries"):
        check_game(game, 20)


def test_a_negative_seed_is_not_the_games_fault() -> None:
    with pytest.raises(SettingError, match="seed is a whole number of at least 0"):
        check_game(Kuhn(), seed=-1)


def with_last_plane(value: float) -> Any:
    """Connect four's features with one value in the whole last plane."""
    features = make_game("connect_four").features

    def changed(s: Any) -> Float32:
        x = features(s).copy()
        x[-42:] = value
        return x

    return changed


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"features": with_last_plane(0.0)}, "the last plane is not 1 everywhere, as where player 0 acts"),
        ({"features": with_last_plane(1.0)}, "the last plane is not 0 everywhere, as where player 1 acts"),
        ({"features": with_last_plane(2.5)}, "the last plane is not 1 everywhere"),
        ({"planes": (6, 42)}, r"planes are the features of a game .* not \(6, 42\)"),
        ({"policy_planes": 5}, "policy_planes is a whole number, of 42 actions each and 7 in all, not 5"),
        ({"policy_planes": -1}, "policy_planes is a whole number"),
        ({"policy_planes": 1.0}, "policy_planes is a whole number"),
        ({"ownership": True, "owners": lambda s: np.zeros(4)}, r"owners are not float32\[42\]"),
    ],
)
def test_promises_about_planes_are_checked(changed: dict[str, Any], says: str) -> None:
    """A residual network takes the side to move from the last plane: another one there turns values round."""
    game = make_game("connect_four")
    check_game(game, 200)
    for name, value in changed.items():
        setattr(game, name, value)
    with pytest.raises(GameError, match=says):
        check_game(game, 200)


def test_code_that_ends_the_program_is_named() -> None:
    class Leaves(Kuhn):
        def payoff(self, s: Any) -> Any:
            raise SystemExit(3)

    with pytest.raises(GameError, match=r"Leaves's code ended the program \(sys.exit\)"):
        check_game(Leaves())

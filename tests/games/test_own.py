"""Games of a person's own: modules that SOG_GAMES names, their games by name, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path

import pytest

import sog
from sog.cli.app import main
from sog.errors import GameError, SettingError
from sog.games.catalog import make_game, make_history_game, public_face
from sog.games.own import is_own
from sog.games.rules.kuhn import Kuhn

MINE = """
from sog.games.rules.kuhn import Kuhn
from sog.games.histories.kuhn import KuhnHistories

class Small(Kuhn):
    def __init__(self, cards=3):
        super().__init__()
        self.name = "small_poker" if cards == 3 else f"small_poker(cards={cards})"

class SmallHistories(KuhnHistories):
    def __init__(self):
        super().__init__()
        self.name = "small_poker"

class Wrong(Kuhn):
    def __init__(self):
        super().__init__()
        self.name = "wrong_poker"

class WrongHistories(KuhnHistories):
    def __init__(self):
        super().__init__()
        self.name = "wrong_poker"

    def utilities(self, states):
        return -super().utilities(states)

class LikeHoldem(Kuhn):
    def __init__(self):
        super().__init__()
        self.name = "holdem_mini"

class LikeConnectFour(Kuhn):
    def __init__(self):
        super().__init__()
        self.name = "connect_four_cards"

class Forgets(Kuhn):
    def __init__(self, cards=3, stake=1):
        super().__init__()
        self.name = "forgets" if cards == 3 else f"forgets(cards={cards})"

class Rich(Kuhn):
    u_max = 0.5

    def __init__(self):
        super().__init__()
        self.name, self.u_max = "rich_poker", 0.5

GAMES = {"wrong_poker": Wrong, "small_poker": Small, "other_name": Small, "no_game": dict, "forgets": Forgets}
GAMES |= {"rich_poker": Rich, "leduc_poker": Small, "holdem_mini": LikeHoldem, "connect_four_cards": LikeConnectFour}
HISTORY_GAMES = {"small_poker": SmallHistories, "wrong_poker": WrongHistories, "leduc_poker": SmallHistories}
HISTORY_GAMES["by_histories"] = SmallHistories

class FallsOver(Kuhn):
    def __init__(self):
        self.nothing.here = 1

class FallsOverHistories(KuhnHistories):
    def __init__(self):
        super().__init__()
        self.name = "falls_over"

GAMES["falls_over"], HISTORY_GAMES["falls_over"] = FallsOver, FallsOverHistories
"""


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "games_of_mine.py").write_text(MINE)
    (tmp_path / "broken_games.py").write_text("1 / 0")
    (tmp_path / "unread_games.py").write_text("GAMES = (:")
    (tmp_path / "no_games.py").write_text("x = 1")
    (tmp_path / "odd_games.py").write_text("GAMES = {'a': 3}")
    (tmp_path / "keyed_games.py").write_text("GAMES = {'my-game': dict}")
    (tmp_path / "twice_games.py").write_text("GAMES = {'small_poker': dict}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOG_GAMES", "games_of_mine")
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_a_module_of_mine_adds_games() -> None:
    assert make_game("small_poker").name == "small_poker"
    assert make_game("small_poker(cards=4)").name == "small_poker(cards=4)"
    by_history = make_history_game("small_poker")
    face = public_face(by_history)
    assert face is not None and type(face).__name__ == "Small"
    assert is_own("small_poker", "HISTORY_GAMES") and not is_own("kuhn_poker", "HISTORY_GAMES")


def test_a_fault_of_the_public_face_is_not_the_lack_of_one() -> None:
    with pytest.raises(GameError, match="falls_over's constructor raised AttributeError"):
        public_face(make_history_game("falls_over"))


def test_games_of_mine_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["games", "--json"]) == 0
    listed = {row["game"]: row for row in json.loads(capsys.readouterr().out)["games"]}
    assert "SOG_GAMES" in listed["small_poker"]["description"] and listed["small_poker"]["histories"]


def test_a_wrong_game_by_histories_is_not_trained(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"wrong_poker: .* of the public face a pair's utility is"):
        sog.train(sog.Run("wrong_poker", algorithm="rnad"), tmp_path / "run", rounds=1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", [["solve", "rich_poker"], ["train", "rich_poker", "--rounds", "1"]])
def test_a_wrong_game_is_not_solved_or_trained(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command) == 2
    assert "rich_poker" in (said := capsys.readouterr().err) and "u_max" in said and said.count("\n") == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("algorithm", ["sog", "rebel"])
def test_the_library_trains_on_no_wrong_game_either(algorithm: str, tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"rich_poker .*u_max"):
        sog.train(sog.Run("rich_poker", algorithm=algorithm), tmp_path / "run", rounds=1)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["holdem_mini", "connect_four_cards"])
def test_a_game_of_mine_may_be_called_like_one_with_a_solver_of_its_own(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", name, "--iterations", "100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(-1 / 18, abs=0.01)


def test_a_name_may_leave_out_defaults_only() -> None:
    assert make_game("forgets(cards=4,stake=1)").name == "forgets(cards=4)"
    with pytest.raises(GameError, match=r"forgets with stake=2 has the name 'forgets', .* its name must say stake"):
        make_game("forgets(stake=2)")


@pytest.mark.parametrize("make", [make_game, make_history_game])
def test_a_name_of_this_program_is_not_mine_to_take(
    make: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GameError, match="leduc_poker is a game of this program; give yours another name"):
        make("leduc_poker")
    assert make("kuhn_poker")
    monkeypatch.setenv("SOG_GAMES", "broken_games")  # which is no matter to a game of this program
    assert make("leduc_poker")


@pytest.mark.parametrize(
    ("modules", "game", "says"),
    [
        ("games_of_mine", "small_poker(dice=2)", "small_poker has no parameter dice; known: cards"),
        ("games_of_mine", "other_name", "has the name 'small_poker', not the game string"),
        ("games_of_mine", "no_game", "not a Game"),
        ("games_of_mine", "by_histories", "by_histories is a game by histories alone (it is in HISTORY_GAMES"),
        ("games_of_mine", "smal_poker", "did you mean small_poker"),
        ("", "xyzzy", "in modules that SOG_GAMES names"),
        ("", "phantom_ttt", "OpenSpiel's is openspiel:phantom_ttt; known: "),
        ("nowhere_games", "xyzzy", "SOG_GAMES=nowhere_games: No module named"),
        ("broken_games", "xyzzy", "the module broken_games raised ZeroDivisionError"),
        ("no_games", "xyzzy", "neither GAMES nor HISTORY_GAMES"),
        ("odd_games", "xyzzy", "no dictionary from names to classes"),
        ("games_of_mine,twice_games", "xyzzy", "several modules have a game called small_poker"),
        ("", "games_of_mine:Small", "games_of_mine:Small names a class, not a game; with GAMES"),
        ("../up", "xyzzy", "names modules, such as my_games"),
        ("games_of_mine.py", "xyzzy", "names modules, such as my_games"),
        ("keyed_games", "xyzzy", "GAMES of keyed_games calls a game 'my-game', which is no word"),
        ("unread_games", "xyzzy", "SyntaxError: invalid syntax (unread_games.py, line 1)"),
    ],
)
def test_what_is_no_game_of_mine_is_refused(
    modules: str, game: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOG_GAMES", modules)
    with pytest.raises(GameError) as error:
        make_game(game)
    assert says in str(error.value) and "\n" not in str(error.value) and "frozen" not in str(error.value)


def test_what_is_wrong_with_ones_own_games_is_no_matter_to_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOG_GAMES", "nowhere_games")
    assert main(["solve", "kuhn_poker", "--iterations", "2"]) == 0
    assert main(["games"]) == 0
    shown = capsys.readouterr()
    assert "leduc_poker" in shown.out and "SOG_GAMES=nowhere_games: No module named" in shown.err
    assert main(["solve", "xyzzy"]) == 2


def test_a_game_by_public_states_alone_says_what_policies_need() -> None:
    with pytest.raises(GameError, match="chess is a game by public states alone; policies learn games by histories"):
        make_history_game("chess")


def test_a_folder_with_the_name_of_a_game_says_how_to_mean_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "leduc_poker").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOG_GAMES", raising=False)
    assert main(["exploit", "leduc_poker", "-s", "2", "-c", "1", "--workers", "1"]) == 2
    assert "write leduc_poker() for the game of that name" in capsys.readouterr().err
    assert main(["exploit", "leduc_poker()", "-s", "2", "-c", "1", "--workers", "1"]) == 0


def small_poker() -> sog.Game:
    """A game that no module has."""

    class Lent(Kuhn):
        def __init__(self) -> None:
            super().__init__()
            self.name = "lent_poker"

    return Lent()


def test_a_game_that_no_module_has_is_trained_on_in_this_process(tmp_path: Path) -> None:
    game = small_poker()
    assert copy_context().run(sog.train, game, tmp_path / "run", rounds=2).round == 2
    with pytest.raises(GameError, match="lent_poker"):
        make_game("lent_poker")  # not lent here
    context = copy_context()
    run = sog.Run("lent_poker", algorithm="rebel")
    assert context.run(sog.train, run, tmp_path / "rebel", rounds=1, game=game).round == 1
    # The program that lent it opens its run.
    agent = context.run(sog.load_agent, tmp_path / "run")
    assert agent.game.name == "lent_poker" and context.run(make_game, "lent_poker") is game


class Raised(Kuhn):
    """Kuhn poker for other stakes, which its name says or not."""

    def __init__(self, stake: int, name: str = "") -> None:
        super().__init__()
        self.name, self.stake = name or f"raised_poker(stake={stake})", stake


def test_a_run_is_of_the_object_that_was_given(tmp_path: Path) -> None:
    """Of several games of one class, and of two with one name of the newest."""
    context = copy_context()
    one, two = Raised(1), Raised(2)
    for k, game in enumerate((one, two)):
        context.run(sog.train, game, tmp_path / str(k), rounds=1)
    assert context.run(sog.load_agent, tmp_path / "0").game is one
    assert context.run(sog.load_agent, tmp_path / "1").game is two
    with pytest.raises(GameError, match=r"the games called raised_poker in this process are raised_poker\(stake=1\)"):
        context.run(make_game, "raised_poker")
    for k, game in enumerate((Raised(3, "plain_poker"), Raised(4, "plain_poker")), start=2):
        context.run(sog.train, game, tmp_path / str(k), rounds=1)
        assert context.run(make_game, "plain_poker") is game


def test_what_cannot_be_lent_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, out = small_poker(), tmp_path / "run"
    with pytest.raises(SettingError, match="SOG_GAMES"):
        sog.train(sog.Run("lent_poker", workers=2), out, game=game)
    with pytest.raises(SettingError, match="the run is of kuhn_poker, and the game is lent_poker"):
        sog.train("kuhn_poker", out, game=game)
    with pytest.raises(SettingError, match="derived from"):
        sog.train("kuhn_poker", out, game="kuhn_poker")  # type: ignore[arg-type]
    game.name = "kuhn_poker"
    context = copy_context()
    with pytest.raises(GameError, match="is a game of this program"):
        context.run(sog.train, game, out, rounds=1)
    assert type(context.run(make_game, "kuhn_poker")) is Kuhn
    assert not out.exists()
    # A game of this program is trained on as its name is.
    assert sog.train(make_game("kuhn_poker"), out, rounds=1).round == 1

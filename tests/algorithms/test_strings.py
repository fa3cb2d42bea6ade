"""Algorithm strings: they read as they are written, and can set all of training."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sog
from sog.algorithms.base import Algorithm
from sog.algorithms.settings import changed, described, value_of
from sog.algorithms.table import ALGORITHMS, find, read, settings_of
from sog.cli.app import main
from sog.errors import SettingError
from sog.games.catalog import make_game

GAMES = ("leduc_poker", "connect_four", "tic_tac_toe")


def presets(kind: type[Algorithm]) -> list[Any]:
    """The settings of an algorithm on a few games, by every preset that the game has."""
    found = []
    for game in ("leduc_poker", "kuhn_poker") if kind.alone else GAMES:
        if not kind.plays_hidden and game == "leduc_poker":
            continue
        found += [kind().settings(kind().rules(game), preset) for preset in kind.presets]
    if kind.name == "sepot":
        found += [settings_of(kind().rules("kuhn_poker"), "demo", f"sepot(policy={name})") for name in ("mmd", "rnad")]
    return found


OTHER = {int: lambda x: x + 2, float: lambda x: x / 2 + 0.25, bool: lambda x: not x}


def taken(having: list[Any], name: str, value: Any) -> tuple[Any, Any] | None:
    """The first settings that take another value, and they with it; None where none do."""
    for settings in having:
        with contextlib.suppress(SettingError):
            after = changed(settings, {name: value})
            if value_of(after, name) != value_of(settings, name):
                return settings, after
    return None


@pytest.mark.parametrize("kind", ALGORITHMS, ids=lambda kind: kind.name)
def test_every_setting_of_training_can_be_given(kind: type[Algorithm]) -> None:
    """For some game and preset; then that setting alone is another."""
    all_presets, never = presets(kind), []
    for name, setting in kind.settings_of_training().items():
        having = [settings for settings in all_presets if value_of(settings, name) is not None]
        if not having or setting.kind not in OTHER:
            never += [name] * (not having)
            continue
        before = value_of(having[0], name)
        candidates = (OTHER[setting.kind](before) if before != float("inf") else 1.0, before and before / 2, 4, 0.5)
        after = next(filter(None, (taken(having, name, setting.kind(value)) for value in candidates)), None)
        if after is None:  # of no use without another setting
            assert name in ("momentum", "pull", "warm", "simultaneous", "prune")
            continue
        settings, other = after
        assert changed(other, {name: value_of(settings, name)}) == settings
    assert [name for name in never if not name.startswith("window_")] == []  # windows grow on boards alone


@pytest.mark.parametrize("kind", ALGORITHMS, ids=lambda kind: kind.name)
def test_every_setting_has_words(kind: type[Algorithm]) -> None:
    """Users see them by `sog algorithms`."""
    assert not [name for name, setting in kind.settings_of_training().items() if not setting.text]
    words = described(Algorithm) | described(kind)
    assert not [name for name in kind.own() if not words.get(name)]


@given(
    st.sampled_from(["fp", "cfr-d", "cfr-ave"]),
    st.integers(1, 500),
    st.floats(0, 1),
    st.integers(1, 10**9),
    st.booleans(),
)
def test_a_string_reads_as_it_is_written(solver: str, half: int, share: float, replay: int, shared: bool) -> None:
    text = f"rebel(solver={solver},updates={2 * half},recycle={share},replay={replay},share={shared})"
    algorithm = read(text)
    assert read(str(algorithm)) == algorithm
    assert dict(algorithm.training) == {"replay": replay, "share": shared}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dqn", "no learning algorithm is called dqn; known: sog"),
        ("sog(", r"^not an algorithm string: .sog\(.; write it like rebel\(solver=fp,warm=15\)$"),
        ("sog(foo=1)", "sog has no setting foo; `sog algorithms sog` lists them"),
        ("sog(replay=many)", "replay is a whole number, not many"),
        ("sog(replay=0.5)", "replay is a whole number"),
        ("sog(queries=True)", "queries is a number, not True"),
        ("sog(simulations=0)", "simulations is a whole number of at least 1"),
        ("sog(alpha=2)", r"alpha must lie in \[0, 1\]"),
        ("sog(purify=2)", r"purify must lie in \[0, 1\]"),
        ("sog(paper=other)", "paper is sog or pog, not other"),
        ("sog(rule=best)", "rule is one of cfr, .*, not best"),
        ("rebel(updates=3)", "positive even number"),
        ("rebel(warm=9999)", "must be shorter"),
        ("sepot(gadget=none)", "no gadget is called none"),
        ("sog(alpha=0.1,alpha=0.2)", "alpha occurs twice in the algorithm string"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(SettingError, match=says) as error:
        read(text)
    assert "\n" not in str(error.value)


def test_settings_of_play_and_of_training_are_told_apart() -> None:
    game = make_game("leduc_poker")
    with pytest.raises(SettingError, match="paper is a setting of how sog plays, not of its training"):
        settings_of(game, "demo", "sog(paper=sog)")
    with pytest.raises(SettingError, match="replay is a setting of sog's training"):
        sog.load_agent("leduc_poker", algorithm="sog(replay=5)")
    with pytest.raises(SettingError, match="discount does not apply to this game"):
        settings_of(game, "demo", "sog(discount=0.5)")
    assert value_of(settings_of(game, "demo", "sog(simulations=7)"), "simulations") == 7  # of both


def test_the_command_lists_algorithms_and_their_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["algorithms", "--json"]) == 0
    assert {row["name"] for row in json.loads(capsys.readouterr().out)["algorithms"]} == {k.name for k in ALGORITHMS}
    assert main(["algorithms", "rebel", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["settings"]}
    assert rows["solver"]["value"] == "cfr-d" and rows["replay"]["value"] == 300_000
    assert all(row["what"] for row in rows.values()) and set(rows) >= set(find("rebel").own())
    assert main(["algorithms", "sog"]) == 0
    assert "q_search" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ALGORITHMS, ids=lambda kind: kind.name)
def test_the_command_lists_any_algorithm_by_its_name_alone(
    kind: type[Algorithm], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its preset is that of a game which it learns."""
    assert main(["algorithms", kind.name, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["game"] == ("leduc_poker" if kind.plays_hidden or kind.alone else "tic_tac_toe")
    assert listed["settings"]


def test_training_refuses_what_it_never_reads() -> None:
    with pytest.raises(sog.SettingError, match="every_decision is a setting of how sog plays, not of its training"):
        settings_of(make_game("kuhn_poker"), "demo", "sog(every_decision=True)")

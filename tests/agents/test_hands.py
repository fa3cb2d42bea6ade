"""`sog.match` from Python: the same hands as the command's, for agents and classes too, and one line for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

import sog
from sog.agents.hands import MatchFigures
from sog.cli.app import main
from sog.errors import SettingError, TooLarge

LEDUC = "leduc_poker"


def test_it_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", LEDUC, "random", "--game", LEDUC, "--hands", "8", "--seed", "3", "-s", "5", "-c", "1", "--json"]
    assert main(words) == 0
    printed = json.loads(capsys.readouterr().out)
    figures = sog.match(LEDUC, "random", LEDUC, hands=8, seed=3, simulations=5, per_update=1.0)
    assert (figures.mean, list(figures.interval95 or ()), len(figures.won)) == (
        printed["mean"],
        printed["interval95"],
        printed["hands"],
    )
    assert figures.won.shape == (8,) and f"{figures.mean:.4g} a hand" in repr(figures)


def test_a_loaded_agent_plays_as_its_text_does() -> None:
    agent = sog.load_agent(LEDUC, simulations=5, per_update=1.0)
    by_text = sog.match(LEDUC, "random", LEDUC, hands=8, seed=3, simulations=5, per_update=1.0)
    assert np.array_equal(sog.match(agent, "random", LEDUC, hands=8, seed=3).won, by_text.won)


def test_a_class_plays_and_swapped_sides_win_the_opposite() -> None:
    there = sog.match(sog.UniformAgent, "always-fold", "holdem", hands=40)
    back = sog.match("always-fold", sog.UniformAgent, "holdem", hands=40)
    # Each deal is played both ways round: hands 2k and 2k + 1 are exchanged.
    assert np.array_equal(there.won.reshape(-1, 2)[:, ::-1].ravel(), -back.won)
    assert isinstance(there, MatchFigures) and sog.match("random", "random", "kuhn_poker", hands=2).interval95 is None


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: sog.match("random", "random", LEDUC, hands=3), "an even number, not 3"),
        (lambda: sog.match("random", "random", LEDUC, hands=0), "hands is a whole number of at least 2"),
        (lambda: sog.match("random", "random", "chess"), "sog tournament` plays it"),
        (
            lambda: sog.match("random", "random", LEDUC, simulations=5),
            "neither A nor B is a text whose agent takes sim",
        ),
        (
            lambda: sog.match(3, "random", LEDUC),
            "A is an agent of load_agent, what solve found, a class derived from sog.Agent or a text",
        ),  # type: ignore[arg-type]
        (lambda: sog.match("random", sog.load_agent("kuhn_poker"), LEDUC), "kuhn_poker"),
    ],
)
def test_what_cannot_play_is_refused(call: Callable[[], MatchFigures], why: str) -> None:
    with pytest.raises((SettingError, TooLarge), match=why):
        call()

"""`sog.match` from Python: the same hands as the command's, for agents and classes too, and one line for the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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


class TwoLines(sog.Game):
    """Player 0 has a good or a bad card. A good one goes left or right, a bad one right or gives up, which costs 1.

    Left and right lead to one public state "m", where player 1 folds, which costs 1, or calls for 3.
    """

    def __init__(self) -> None:
        self.name, self.u_max = "two_lines", 3.0
        self.num_actions, self.num_slots, self.num_features = 3, (2, 1), 2
        chance = np.array([[0.5], [0.5]])
        self._chance, self._card = sog.Operator(chance), sog.Operator(chance * np.array([[1.0], [-1.0]]))

    def root(self) -> str:
        return ""

    def actor(self, s: Any) -> int:
        return {"": 0, "m": 1}.get(s, sog.TERMINAL)

    def actions(self, s: Any) -> Any:
        return np.arange({"": 3, "m": 2}.get(s, 0), dtype=np.int32)

    def num_infostates(self, s: Any) -> tuple[int, int]:
        return 2, 1

    def fan(self, s: Any) -> sog.Fan:
        if s == "":
            return sog.Fan(["m", "m", "g"], sog.Moves(edge=np.array([[0, 1, -1], [-1, 1, 2]], dtype=np.int32)))
        return sog.Fan(["f", "c"], sog.Moves(edge=np.array([[0, 1]], dtype=np.int32)))

    def weights(self, s: Any) -> sog.Scaled:
        return sog.Scaled(self._chance)

    def payoff(self, s: Any) -> sog.Scaled:
        return {"f": sog.Scaled(self._chance, 1.0), "g": sog.Scaled(self._chance, -1.0)}.get(
            s, sog.Scaled(self._card, 3.0)
        )

    def features(self, s: Any) -> Any:
        return np.array([s == "", s == "m"], dtype=np.float32)


class GoesLeft(sog.Agent):
    """With a good card left, with a bad one it gives up."""

    def policy(self, node: int) -> Any:
        return np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]) if self.state(node) == "" else np.array([[0.5], [0.5]])


def test_a_solution_tells_lines_apart_that_lead_to_one_public_state() -> None:
    game = TwoLines()
    solution = sog.solve(game, iterations=500)
    left, right = (solution.policy[solution.public.child(0, edge)][:, 0] for edge in (0, 1))
    assert left[0] > 0.99 and abs(right[0] - 0.5) < 0.1  # only a good card goes left
    # Left wins a folded 1 in half of the hands, and giving up costs 1 in the other half.
    assert sog.match(GoesLeft, solution, game, hands=400).won[0::2].mean() == pytest.approx(0.0, abs=0.2)

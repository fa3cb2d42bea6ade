"""Tour, 6 of 6. A game of your own: matching pennies in thirty lines, checked, solved, searched and measured.

The same, with every method explained and other kinds of games, is docs/extending.md.
"""

from __future__ import annotations

import numpy as np
import pytest

import sog
from sog import TERMINAL, Fan, Game, Moves, Operator, Scaled

HEADS, TAILS = 0, 1


class Pennies(Game):
    """Both choose a side, player 0 first and in secret. Player 0 wins 2 for two heads and 1 for two tails, or loses 1.

    Public states: "" (player 0 chooses), "?" (player 1 chooses), "?h" and "?t" (the end). What player 0 chose is its
    infostate from then on; player 1 knows nothing.
    """

    def __init__(self) -> None:
        self.name, self.u_max = "pennies", 2.0
        self.num_actions, self.num_slots, self.num_features = 2, (2, 1), 2
        self._start, self._chosen = Operator(np.ones((1, 1))), Operator(np.ones((2, 1)))
        self._pays = {"?h": Operator(np.array([[2.0], [-1.0]])), "?t": Operator(np.array([[-1.0], [1.0]]))}

    def root(self) -> str:
        return ""

    def actor(self, s: object) -> int:
        return {"": 0, "?": 1}.get(str(s), TERMINAL)

    def num_infostates(self, s: object) -> tuple[int, int]:
        return (1, 1) if s == "" else (2, 1)

    def actions(self, s: object) -> np.ndarray:
        return np.arange(0 if s in self._pays else 2, dtype=np.int32)

    def fan(self, s: object) -> Fan:
        """Both of player 0's choices take one edge, which hides them, and lead to the infostate of that choice."""
        if s == "":
            return Fan(["?"], Moves(np.array([[0, 0]], dtype=np.int32), np.array([[HEADS, TAILS]], dtype=np.int32)))
        return Fan(["?h", "?t"], Moves(np.array([[0, 1]], dtype=np.int32)))

    def weights(self, s: object) -> Scaled:
        return Scaled(self._start if s == "" else self._chosen)

    def payoff(self, s: object) -> Scaled:
        return Scaled(self._pays[str(s)])

    def features(self, s: object) -> np.ndarray:
        return np.array([s == "", s == "?"], dtype=np.float32)


def test_the_game_keeps_the_promises_of_the_interface() -> None:
    assert sog.check_game(Pennies()).complete


def test_it_is_solved() -> None:
    """Player 0 plays heads with 2/5, and so does player 1; the value is 1/5."""
    solution = sog.solve(Pennies(), algorithm="dcfr", iterations=2000)
    assert solution.value == pytest.approx(1 / 5, abs=1e-3) and solution.exploitability < 1e-3
    for node in (0, 1):
        assert solution.policy[node][HEADS, 0] == pytest.approx(2 / 5, abs=0.01)


def test_it_is_searched() -> None:
    found = sog.search(Pennies(), sog.Budget(300, 0.1))
    assert found.policy[HEADS, 0] == pytest.approx(2 / 5, abs=0.03)


def test_an_agent_of_your_own_is_measured_on_it() -> None:
    """The uniform agent: player 1 answers tails and wins nothing, player 0 answers heads and wins a half."""
    assert sog.exploitability(sog.UniformAgent, Pennies()) == pytest.approx(0.25)


def test_a_broken_promise_is_named() -> None:
    class Wrong(Pennies):
        def payoff(self, s: object) -> Scaled:
            return Scaled(Operator(np.full((2, 1), 3.0)))  # more than u_max

    with pytest.raises(sog.GameError, match="u_max"):
        sog.check_game(Wrong())

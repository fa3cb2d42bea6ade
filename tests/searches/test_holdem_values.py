"""What hands of a solved spot are worth: by pairs of hands, by theory, and both players together."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from sog.arrays import Float64
from sog.games.base import NATURE, TERMINAL
from sog.games.holdem.cards import CARDS, HIGH, LOW, hand_name, hand_number, live_hands, parse_cards
from sog.games.holdem.game import Holdem, HoldemState
from sog.games.holdem.lines import follow
from sog.games.holdem.strength import ladder
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from sog.searches.holdem.hand_values import HandValues, hand_values
from sog.searches.holdem.locks import read_locks
from sog.searches.holdem.solver import HoldemSolver
from sog.searches.holdem.view import View, view

RANGES = 'range0="AA,KQs:0.5,QhJh",range1="JJ,AQs,KsTs,44"'
RIVER = f"holdem(board=2s2h7d9cKs,pot=1000,stacks=4000,bets=0.5;1.0;allin,{RANGES})"
TURN = f"holdem(board=2s2h7d9c,pot=1000,stacks=2000,bets=1.0;allin,{RANGES})"
POLARISED = 'holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=1.0;allin,range0="AA,KQo",range1="JJ")'


def game(text: str) -> Holdem:
    return holdem_from(parse_game(text)[1])


def solved(text: str, iterations: int, lock: bytes | None = None) -> HoldemSolver:
    spot = game(text)
    solver = HoldemSolver(spot, locks=() if lock is None else read_locks(spot, lock))
    solver.iterate(iterations)
    return solver


def valued(solver: HoldemSolver, line: str = "") -> tuple[View, HandValues]:
    seen = view(solver, follow(solver.game, line))
    return seen, hand_values(solver, seen)


def number(name: str) -> int:
    return hand_number(*parse_cards(name))


class Pairs:
    """What a pair of hands wins and how often it wins, by recursion over public states, one pair at a time."""

    def __init__(self, solver: HoldemSolver) -> None:
        self.game, self.policy = solver.game, lru_cache(maxsize=None)(solver.policy)

    def won(self, s: HoldemState, pair: tuple[int, int]) -> float:
        """Chips that player 0 wins of the hand on average."""
        actor, chips = self.game.actor(s), self.game.spot.pot / 2 + s.betting.matched
        if s.betting.folded >= 0:
            return chips if s.betting.folded == 1 else -chips
        if actor == TERMINAL:
            return chips * sign(s.board, pair)
        if actor == NATURE:
            return float(np.mean([self.won(self.game.deal(s, (card,)), pair) for card in left(s.board, pair)]))
        taken = self.policy(s)[:, pair[actor]]
        children = [self.game.after(s, int(a)) for a in self.game.actions(s)]
        return sum(float(x) * self.won(child, pair) for x, child in zip(taken, children, strict=True) if x > 0)


def sign(board: tuple[int, ...], pair: tuple[int, int]) -> float:
    places = ladder(board).places()
    return float(np.sign(places[pair[0]] - places[pair[1]]))


def left(board: tuple[int, ...], pair: tuple[int, int]) -> list[int]:
    held = {*board, *(int(side[h]) for side in (LOW, HIGH) for h in pair)}
    return [card for card in range(CARDS) if card not in held]


def met_by(hand: int, other: Float64) -> list[int]:
    """The opponent's hands that share no card with this one."""
    return [int(j) for j in np.flatnonzero(other * live_hands((int(LOW[hand]), int(HIGH[hand]))))]


@pytest.mark.parametrize(
    ("text", "line"),
    [(RIVER, ""), (RIVER, "check, bet 0.5"), (TURN, "check"), (TURN, "bet 1"), (TURN, "check, check, 5h")],
)
def test_every_pair_of_hands_by_itself(text: str, line: str) -> None:
    solver = solved(text, 15)
    seen, values = valued(solver, line)
    pairs, p = Pairs(solver), seen.actor
    hand = seen.numbers()[-1]
    weights, won, beaten = [], [], []
    for j in met_by(hand, seen.other):
        pair = (hand, j) if p == 0 else (j, hand)
        weights.append(float(seen.other[j]))
        won.append((1 if p == 0 else -1) * pairs.won(seen.state, pair))
        boards = [(*seen.state.board, c) for c in left(seen.state.board, pair)]
        signs = [sign(b, pair) for b in (boards if len(seen.state.board) < 5 else [seen.state.board])]
        beaten.append((1 + (1 if p == 0 else -1) * np.mean(signs)) / 2)
    assert values.met[hand] == pytest.approx(sum(weights))
    ev = np.average(won, weights=weights) + solver.game.spot.pot / 2 + seen.state.betting.paid[p]
    assert values.ev[hand] == pytest.approx(ev, abs=0.01)
    assert values.equity[hand] == pytest.approx(np.average(beaten, weights=weights), abs=1e-9)


@pytest.mark.parametrize(
    ("text", "line"), [(RIVER, "bet 1"), (TURN, ""), (TURN, "bet allin"), (TURN, "check, check, 5h")]
)
def test_both_players_share_the_pot(text: str, line: str) -> None:
    solver = solved(text, 15)
    seen, values = valued(solver, line)
    turned = replace(seen, actor=1 - seen.actor, reach=seen.other, other=seen.reach)
    mine, theirs = values.means(seen), hand_values(solver, turned).means(turned)
    assert mine[0] + theirs[0] == pytest.approx(values.pot, abs=0.01)
    assert values.pot == 1000 + sum(seen.state.betting.paid)
    assert mine[1] + theirs[1] == pytest.approx(1.0)


def test_a_bluff_catcher_by_theory() -> None:
    """A bet of the pot with one bluff to two values, called half the time: aces 1,500, bluffs 0, jacks to the bet 0."""
    solver = solved(POLARISED, 2_000)
    seen, values = valued(solver)
    worth = {name: float(values.ev[number(name)]) for name in ("AdAc", "KdQc")}
    assert worth == pytest.approx({"AdAc": 1500.0, "KdQc": 0.0}, abs=5.0)
    assert values.means(seen)[0] == pytest.approx(500.0, abs=2.0)
    seen, values = valued(solver, "bet allin")
    assert {hand_name(h) for h in seen.numbers()} == {hand_name(h) for h in np.flatnonzero(values.met * seen.reach)}
    assert values.means(seen) == pytest.approx((0.0, 1 / 3), abs=0.01 * values.pot)
    assert values.equity[number("JdJc")] == pytest.approx(1 / 3, abs=0.01)


def test_values_are_those_of_the_locked_policy() -> None:
    """Jacks that never call: a bluff takes the whole pot."""
    lock = b'{"line": "bet allin", "hands": {"JJ": {"fold": 1}}}'
    solver = solved(POLARISED, 200, lock)
    assert valued(solver)[1].ev[number("KdQc")] == pytest.approx(1000.0, abs=2.0)


def test_hands_that_meet_nobody_are_worth_nothing() -> None:
    solver = solved('holdem(board=2s2h2d7c9c,pot=1000,stacks=1000,bets=allin,range0="AA",range1="AdAc")', 5)
    _, values = valued(solver)
    met = live_hands(solver.game.spot.board) & (values.met > 0)
    assert np.isfinite(values.ev).all() and values.ev[~met].max() == values.equity[~met].max() == 0.0
    assert met[number("AsAh")] and not met[number("AhAd")]

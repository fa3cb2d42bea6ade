"""What is common to poker games: folds, calls, bets, chips, and win chances, against the games' own payoffs."""

from __future__ import annotations

import numpy as np
import pytest

from sog.errors import GameError
from sog.games.base import NATURE, TERMINAL, Game, State
from sog.games.catalog import make_game
from sog.games.holdem.cards import hand_number, parse_cards
from sog.games.holdem.game import Holdem
from sog.games.poker import NONE, Stakes, poker_of
from sog.games.rules.leduc.abstract import AbstractLeduc
from sog.games.rules.leduc.game import LeducState
from sog.games.rules.leduc.ranks import LeducRanks

RIVER = "holdem(board=2s2h2d7c9c,pot=1000,stacks=900;600,bets=0.5;allin)"
SMALL: dict[str, Game] = {
    "kuhn": make_game("kuhn_poker"),
    "leduc": make_game("leduc_poker"),
    "ranks": LeducRanks(4),
    "abstract": AbstractLeduc(),
}


def decisions(game: Game) -> list[State]:
    waiting, found = [game.root()], []
    while waiting:
        s = waiting.pop()
        if game.actor(s) < NATURE:
            found.append(s)
        waiting += game.fan(s).children if game.actor(s) != TERMINAL else ()
    return found


@pytest.mark.parametrize("name", SMALL)
def test_folds_and_calls_are_named_so(name: str) -> None:
    game = SMALL[name]
    poker = poker_of(game)
    for s in decisions(game):
        names = ["fold" if a == 0 else "call" if a == 1 else "raise" for a in game.actions(s)]
        if name == "kuhn":
            asked = str(s).endswith("b")
            names = ["fold", "call"] if asked else ["call", "raise"]
        assert poker.fold(s) == (names.index("fold") if "fold" in names else NONE)
        assert poker.call(s) == names.index("call")
        assert list(poker.bets(s)) == [k for k, each in enumerate(names) if each == "raise"]


def test_chips_of_leduc() -> None:
    poker = poker_of(SMALL["leduc"])
    assert poker.stakes(LeducState()) == Stakes(2.0, 0.0)
    assert poker.stakes(LeducState("r")) == Stakes(4.0, 2.0)
    assert poker.stakes(LeducState("rr")) == Stakes(8.0, 2.0)
    assert poker.stakes(LeducState("rrc", 3, "cr")) == Stakes(14.0, 4.0)
    assert poker.added(LeducState("r"), 2) == 2.0 and poker.added(LeducState("rc", 0), 1) == 4.0
    assert poker.street(LeducState("rrc", 3)) == 1 and poker.street(LeducState("rr")) == 0


def test_chips_of_holdem() -> None:
    game = make_game(RIVER)
    assert isinstance(game, Holdem)
    poker = poker_of(game)
    root = game.root()
    bet = game.after(root, 2)
    assert poker.stakes(root) == Stakes(1000.0, 0.0) and poker.added(root, 1) == 500.0
    assert poker.stakes(bet) == Stakes(1500.0, 500.0) and poker.added(bet, 2) == 100.0
    called = game.after(bet, 1)
    assert poker.settled(called) and poker.lost(called) == 1000.0
    folded = game.after(bet, 0)
    assert not poker.settled(bet) and not poker.settled(folded) and poker.lost(folded) == 500.0


@pytest.mark.parametrize("name", SMALL)
def test_equities_are_the_payoffs_if_both_check_or_call(name: str) -> None:
    """By drawing the chance events to come; exactly where there are none."""
    game = SMALL[name]
    poker, rng = poker_of(game), np.random.default_rng(0)
    for s in decisions(game)[::5]:
        weights = game.weights(s).dense()
        pairs = np.argwhere(weights > 0)
        i0, i1 = (int(i) for i in pairs[rng.integers(len(pairs))])
        sure = all(game.actor(child) != NATURE for child in [s]) and getattr(s, "board", 0) >= 0
        results = [_called(game, s, (i0, i1), rng) for _ in range(1 if sure else 400)]
        mean, error = np.mean(results), np.std(results) / len(results) ** 0.5
        assert abs(poker.equities(s, 0, i0)[i1] - (1 + mean) / 2) <= 3 * error + 1e-9
        assert poker.equities(s, 1, i1)[i0] == pytest.approx(1 - poker.equities(s, 0, i0)[i1])


def _called(game: Game, s: State, pair: tuple[int, int], rng: np.random.Generator) -> float:
    """Player 0's sign at a showdown after checks and calls."""
    poker = poker_of(game)
    while (actor := game.actor(s)) != TERMINAL:
        if actor == NATURE:
            s, *rest = game.sample_chance(s, *pair, rng)
            pair = rest[0], rest[1]
        else:
            s = game.child(s, poker.call(s))
    return float(np.sign(round(game.payoff(s).entry(*pair), 12)))


def test_equities_of_holdem() -> None:
    game = make_game(RIVER)
    aces, kings = hand_number(*parse_cards("AsAh")), hand_number(*parse_cards("KsKh"))
    assert poker_of(game).equities(game.root(), 0, aces)[kings] == 1.0


def test_other_games_are_no_poker() -> None:
    with pytest.raises(GameError, match="no poker game"):
        poker_of(make_game("liars_dice(numdice=1,dice_sides=3)"))

"""ReBeL's turn endgame: the spot of the paper, a short line on a small one, what is printed."""

from __future__ import annotations

from sog.games.holdem.cards import cards_name, live_hands
from sog.games.holdem.strings import holdem_from
from sog.games.strings import parse_game
from soglab.papers import rebel_endgame
from soglab.study import Options, Result, StudyPoint

SMALL = 'holdem(board=3s7hTdKs,pot=2000,stacks=3000,bets=allin,range0="AA,QJs,76s",range1="KQ,T9s:0.5")'


def test_the_spot_is_the_papers() -> None:
    """C.2: 1,000 from each player in the pot, 20,000 behind, the board, every hand, its sizes."""
    (key, *_) = rebel_endgame.plan(Options(), print)
    game = holdem_from(parse_game(key["game"])[1])
    spot = game.spot
    assert (cards_name(spot.board), spot.pot, spot.stacks) == ("3s7hTdKs", 2000, (20_000, 20_000))
    assert all((r == live_hands(spot.board)).all() for r in game.root_ranges())
    root = game.root()
    assert [amount for _, amount in game.raises(root)] == [1000, 2000, 20_000]
    raised = game.after(root, int(game.actions(root)[1]))
    assert [amount for _, amount in game.raises(raised)] == [1000 + 3000, 20_000]  # 0.75 of the pot after a call


def test_a_short_line() -> None:
    for name in rebel_endgame.RULES:
        found = rebel_endgame.compute({"game": SMALL, "rule": name, "iterations": 125})
        chips = list(found["chips"].values())
        assert list(found["chips"]) == list(found["seconds"]) and list(found["chips"])[-1] == "125"
        assert chips[-1] < chips[0] / 20
        assert list(found["seconds"].values()) == sorted(found["seconds"].values())


def test_what_is_printed() -> None:
    key = {"game": SMALL, "rule": "DCFR", "iterations": 1000}
    lines = {"chips": {"125": 20.0, "1000": 0.5}, "seconds": {"125": 12.5, "1000": 100.0}}
    result: Result = {**lines, "threads": 2, "memory_mb": 184}
    outcome = rebel_endgame.present([StudyPoint(key, result)])
    assert outcome.beside[0].ours == "20 after 125, 0.5 after 1000 (0.1 s an iteration, 2 threads, 184 MB)"
    assert [row["percent_of_pot"] for row in outcome.rows] == [1.0, 0.025]

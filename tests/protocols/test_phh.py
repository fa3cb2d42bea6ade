"""Hand histories: from records and logs and back, the same chips by PokerKit's rules and by ours, and refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sog.cli.app import main
from sog.errors import SettingError
from sog.play.hand_match import read_records
from sog.protocols.acpc_states import REVERSE_BLINDS, AcpcGame
from sog.protocols.phh import PlayedHand, read_phh, written_phh
from sog.protocols.phh_sources import hands_of_log, hands_of_records
from tests.protocols.acpc_table import log_of, raiser

# PokerKit's own notation, by hand: p1 is the big blind.
KNOWN = """variant = 'NT'
ante_trimming_status = true
antes = [0, 0]
blinds_or_straddles = [50, 100]
min_bet = 100
starting_stacks = [20000, 5000]
actions = ['d dh p1 AsKs', 'd dh p2 7c7d', 'p2 cbr 300', 'p1 cc', 'd db 7h8h9h', 'p1 cc', 'p2 cbr 500', 'p1 f']
players = ['left', 'right']
"""
SHORT = AcpcGame((400, 151), (2, 1))


def of_log(tmp_path: Path, game: AcpcGame = REVERSE_BLINDS, hands: int = 60) -> list[PlayedHand]:
    return list(hands_of_log(log_of(tmp_path, raiser(1), raiser(2), game=game, hands=hands), game))


def test_a_known_hand() -> None:
    (hand,) = read_phh(KNOWN)
    assert (hand.won, hand.players, hand.stacks, hand.line) == (
        -300,
        ("left", "right"),
        (20_000, 5_000),
        (300, 1, 1, 800, 0),
    )
    *_, end = hand.states()
    words = hand.game.state_name(end)
    assert words == "board 7h8h9h, raise to 300, call, 7h8h9h, check, bet 500, fold"
    assert read_phh(written_phh([hand])) == [hand]


@pytest.mark.parametrize("game", [REVERSE_BLINDS, SHORT, AcpcGame((300, 300), (5, 10), (0, 1, 1, 1))])
def test_a_log_becomes_hand_histories_and_comes_back(game: AcpcGame, tmp_path: Path) -> None:
    hands = of_log(tmp_path, game)
    assert len(hands) == 60 and {hand.players for hand in hands} == {("A", "B"), ("B", "A")}
    assert read_phh(written_phh(hands)) == hands


@pytest.mark.parametrize("game", ["holdem(stacks=2000)", "holdem(stacks=2000;900,bets=0.33;1)", "holdem(stacks=150)"])
def test_records_become_hand_histories_and_come_back(game: str, tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    words = ["random", "always-call", "--game", game.replace(")", ",inputs=paper)"), "--hands", "20"]
    assert main(["match", *words, "--records", str(path)]) == 0
    hands = list(hands_of_records(path))
    records = list(read_records(path))
    assert [hand.won for hand in hands] == [r.won if r.a == 0 else -r.won for r in records]
    assert {hand.players for hand in hands} == {("A", "B"), ("B", "A")}
    assert read_phh(written_phh(hands)) == hands


def test_chips_that_are_not_paid_are_named(tmp_path: Path) -> None:
    hand = of_log(tmp_path, hands=1)[0]
    wrong = replace(hand, won=hand.won + 1)
    with pytest.raises(SettingError, match="by our rules"):
        wrong.check()
    with pytest.raises(SettingError, match="PokerKit pays"):
        written_phh([wrong])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("'p1 f'", "'p1 cc'"), "is not over"),
        (("variant = 'NT'", "variant = 'FT'"), "PokerKit cannot replay|no-limit"),
        (("antes = [0, 0]", "antes = [5, 5]"), "no antes"),
        (("p2 cbr 300", "p2 cbr 150"), "PokerKit cannot replay"),
        (("p2 cbr 300", "p2 cbr 300.5"), r"whole chips, not 300\.5"),
        (("players =", "finishing_stacks = [1, 2]\nplayers ="), "of the file ends with the stacks"),
        (("AsKs", "7cKs"), "has a card twice: 7cKs7c7d7h8h9h"),
        (("actions", "doings"), "PokerKit cannot replay"),
        (("'NT'", "NT"), "PokerKit cannot replay"),
    ],
)
def test_what_is_no_finished_hand_is_refused(change: tuple[str, str], why: str) -> None:
    with pytest.raises(SettingError, match=why):
        read_phh(KNOWN.replace(*change))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("STATE:0:cc/:AsKs|7c7d:1|-1:A|B", "has not all of its actions"),
        ("STATE:0:x:AsKs|7c7d:1|-1:A|B", "not a hand of this game"),
        ("STATE:0:f", "it has not six parts"),
        ("STATE:0:f:AsKs|7c7d:60|-60:A|B", "the big blind wins 60 chips, by our rules 50"),
    ],
)
def test_lines_that_are_no_hands_are_refused(line: str, why: str) -> None:
    with pytest.raises(SettingError, match=why):
        list(hands_of_log(f"# a log\n{line}\n", REVERSE_BLINDS))


def test_records_of_other_games_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "hands.jsonl"
    assert main(["match", "random", "random", "--game", "kuhn_poker", "--hands", "2", "--records", str(path)]) == 0
    with pytest.raises(SettingError, match="these are of kuhn_poker"):
        list(hands_of_records(path))

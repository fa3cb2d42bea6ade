"""The ACPC dealer: its game files, what it does with faults, its clocks, its log by PokerKit's rules, and resuming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sog.errors import SettingError
from sog.protocols.acpc_dealer import Clocks, Dealer, DealerFiles, DealtMatch
from sog.protocols.acpc_states import REVERSE_BLINDS, VERSION, AcpcGame, AcpcHand, MatchState, read_game
from tests.protocols.acpc_table import Played, Says, calls, log_of, raiser

LIMIT = AcpcGame((2**31 - 1,) * 2, (10, 5), (1, 0, 0, 0), (10, 10, 20, 20), (3, 4, 4, 4))
SHORT = AcpcGame((400, 150), (2, 1))


# --- game files ---


@pytest.mark.parametrize("game", [REVERSE_BLINDS, LIMIT, SHORT, AcpcGame((500, 500), (1, 2), (0, 1, 1, 1))])
def test_a_game_file_is_read_as_it_is_written(game: AcpcGame) -> None:
    assert read_game(game.text()) == game


def test_comments_and_blanks_of_a_game_file() -> None:
    text = (
        REVERSE_BLINDS.text().replace("numRounds = 4", "# four rounds\n\nNUMROUNDS=4   # as ever").replace("\n", "\r\n")
    )
    assert read_game(text) == REVERSE_BLINDS


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("GAMEDEF", "GAME"), "begins with GAMEDEF"),
        (("numPlayers = 2", "numPlayers = 3"), "numplayers = 2"),
        (("numRounds = 4", "numRounds = 2"), "numrounds = 4"),
        (("stack = 20000 20000", "stack = 20000"), "stack of this game file has 2 numbers, not 1"),
        (("stack = 20000 20000", "stack = 100 100"), "larger than the larger blind"),
        (("blind = 100 50", "blind = 0 0"), "at least one of them is 1 chip"),
        (("blind = 100 50", ""), "names blinds"),
        (("nolimit", "limit"), "raiseSize where the game is limit"),
        (("nolimit", ""), "says limit or nolimit"),
        (("firstPlayer = 2 1 1 1", "firstPlayer = 3 1 1 1"), "1 or 2 in every round"),
        (("firstPlayer = 2 1 1 1", "firstPlayer = 2 1 1 1\nrake = 5"), "not a line of a game file"),
        (("firstPlayer = 2 1 1 1", "firstPlayer = two"), "not a line of a game file"),
    ],
)
def test_what_is_no_game_file_is_refused(change: tuple[str, str], why: str) -> None:
    with pytest.raises(SettingError, match=why):
        read_game(REVERSE_BLINDS.text().replace(*change))


# --- betting ---


@pytest.mark.parametrize(
    ("game", "betting", "limits", "actor"),
    [
        (REVERSE_BLINDS, "", (200, 20_000), 1),
        (REVERSE_BLINDS, "c", (200, 20_000), 0),
        (REVERSE_BLINDS, "cr300", (500, 20_000), 1),
        (REVERSE_BLINDS, "cr300c/", (400, 20_000), 0),
        (REVERSE_BLINDS, "cr300c/cr1000", (1_700, 20_000), 0),
        (REVERSE_BLINDS, "r19999", (20_000, 20_000), 0),
        (REVERSE_BLINDS, "r20000", (0, 0), 0),
        (LIMIT, "r", (30, 30), 0),
        (LIMIT, "rrr", (0, 0), 0),
        (LIMIT, "rrrc/rc/", (70, 70), 0),
        (LIMIT, "rc/rrrr", (0, 0), 0),
        (SHORT, "r150", (0, 0), 0),
        (SHORT, "cr300", (0, 0), 1),
    ],
)
def test_limits_of_raises(game: AcpcGame, betting: str, limits: tuple[int, int], actor: int) -> None:
    hand = AcpcHand.begun(game).played(betting)
    assert (hand.limits, hand.betting.actor) == (limits, actor)


@pytest.mark.parametrize("betting", ["f", "r20000c///", "cc/cc/cc/cc", "cr300f", "cc/cc/r200c/r20000c"])
def test_ends_of_hands(betting: str) -> None:
    hand = AcpcHand.begun(REVERSE_BLINDS).played(betting)
    assert hand.over and hand.shown_down == ("f" not in betting)


@pytest.mark.parametrize(
    "betting", ["x", "r", "r150", "cf", "cc", "r20000c", "cc/cc//", "r20001", "fc", "cc/rc/", "c c"]
)
def test_what_is_no_betting_is_refused(betting: str) -> None:
    if betting in ("cc", "r20000c"):  # it has its rounds elsewhere
        assert AcpcHand.begun(REVERSE_BLINDS).played(betting + {"cc": "/", "r20000c": "///"}[betting])
    with pytest.raises(ValueError):
        AcpcHand.begun(REVERSE_BLINDS).played(betting)


# --- faults ---

# The game, the betting so far, what the player to act says ({} is its state), the betting after it, and the warning.
# The reference server reads lines of the player to act alone. A line that does not begin with that player's state is
# skipped with a warning, and the next one is read in the same time. An action that cannot be read or is not legal is
# made a call, with a warning; a raise outside of the limits is moved to the nearest one.
FAULTS = {
    "a good action": (REVERSE_BLINDS, "", ["{}:r300\r\n"], "r300", ""),
    "a line's end without its carriage return": (REVERSE_BLINDS, "", ["{}:r300\n"], "r300", ""),
    "a line in pieces": (REVERSE_BLINDS, "", ["{}", ":r3", "00\r", "\n"], "r300", ""),
    "a comment": (REVERSE_BLINDS, "", ["# well\r\n", "; now\r\n", "{}:r300\r\n"], "r300", ""),
    "garbage": (REVERSE_BLINDS, "", ["hello\r\n", "\x00\xff\r\n", "\r\n", "{}:r300\r\n"], "r300", "another state"),
    "a long line": (REVERSE_BLINDS, "", ["x" * 300_000, "\r\n", "{}:r300\r\n"], "r300", "another state"),
    "another hand's state": (REVERSE_BLINDS, "", ["MATCHSTATE:1:7::|AsKs:r900\r\n{}:c\r\n"], "c", "another state"),
    "an earlier state": (REVERSE_BLINDS, "cr300", ["MATCHSTATE:1:0::|AsKs:f\r\n{}:c\r\n"], "cr300c/", "another state"),
    "the state alone": (REVERSE_BLINDS, "", ["{}\r\n", "{}:r300\r\n"], "r300", "another state"),
    "no such action": (REVERSE_BLINDS, "", ["{}:x\r\n"], "c", "'x' is no action: a call"),
    "an empty action": (REVERSE_BLINDS, "", ["{}:\r\n"], "c", "is no action: a call"),
    "a raise without a size": (REVERSE_BLINDS, "", ["{}:r\r\n"], "c", "is no action: a call"),
    "a raise with a sign": (REVERSE_BLINDS, "", ["{}:r-300\r\n"], "c", "is no action: a call"),
    "too small a raise": (REVERSE_BLINDS, "", ["{}:r101\r\n"], "r200", "raises are from 200 to 20000: r200"),
    "too large a raise": (REVERSE_BLINDS, "", ["{}:r99999999999999999999\r\n"], "r20000", "raises are from 200"),
    "a raise where nobody may": (REVERSE_BLINDS, "r20000", ["{}:r20000\r\n"], "r20000c///", "nobody may raise: a call"),
    "a fold with nothing to call": (REVERSE_BLINDS, "c", ["{}:f\r\n"], "cc/", "nothing to call: a call"),
    "a limit raise": (LIMIT, "", ["{}:r\r\n"], "r", ""),
    "a limit raise with a size": (LIMIT, "", ["{}:r30\r\n"], "c", "is no action: a call"),
    "a limit raise too many": (LIMIT, "rrr", ["{}:r\r\n"], "rrrc/", "nobody may raise: a call"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_are_let_pass(name: str) -> None:
    game, before, said, after, warning = FAULTS[name]
    actions = AcpcHand.begun(game).following(before)

    def says(state: MatchState, hand: AcpcHand) -> list[bytes]:
        done = len(AcpcHand.begun(game).following(state.betting))
        if done < len(actions):
            return [f"{state.line()}:{actions[done]}\r\n".encode()]
        if done > len(actions):
            return calls(state, hand)
        return [piece.replace("{}", state.line()).encode("latin-1") for piece in said]

    played = Played((says, says), game)
    assert not played.fault
    assert played.clients[0].seen[len(actions) + 1].betting == after
    assert [warning in line for line in played.warned] == [True] * len(played.warned)
    assert bool(played.warned) == bool(warning)


# An odd version is an error message and no end; without three numbers there is no match.
@pytest.mark.parametrize(
    ("version", "warning", "fault"),
    [
        ("VERSION:2.0.0", "", ""),
        ("VERSION:2.0.9", "", ""),
        ("VERSION:2.7.0", "B: VERSION:2.7.0 is not VERSION:2.0.0", ""),
        ("VERSION:1.0.0", "B: VERSION:1.0.0 is not VERSION:2.0.0", ""),
        ("VERSION:2.0", "", "B says no version"),
        ("hello", "", "B says no version"),
    ],
)
def test_versions(version: str, warning: str, fault: str) -> None:
    played = Played((calls, calls), versions=(VERSION, version))
    assert played.fault.startswith(fault) and bool(played.fault) == bool(fault)
    assert [line.startswith(warning) for line in played.warned] == [True] * bool(warning)


def hangs_up(state: MatchState, hand: AcpcHand) -> list[bytes] | None:
    return None


def is_silent(state: MatchState, hand: AcpcHand) -> list[bytes] | None:
    return []


def babbles(state: MatchState, hand: AcpcHand) -> list[bytes] | None:
    return [b"MATCHSTATE:1:0::|AsKs:c\r\n" * 500] * 500


# The clock runs on while lines are skipped; hanging up and running out of time end the match for both.
@pytest.mark.parametrize(
    ("says", "clocks", "fault"),
    [
        (hangs_up, Clocks(), "B has hung up"),
        (is_silent, Clocks(response=200), "B has used up its time for an action"),
        (is_silent, Clocks(hand=200), "B has used up its time for a hand"),
        (is_silent, Clocks(per_hand=200), "B has used up its time for the match"),
        (babbles, Clocks(response=300), "B has used up its time for an action"),
    ],
)
def test_silence_and_hanging_up_end_the_match(says: Says, clocks: Clocks, fault: str) -> None:
    played = Played((calls, says), clocks=clocks)
    assert played.fault == fault
    assert played.dealer.totals == [0, 0]


def test_who_does_not_connect_ends_the_match() -> None:
    match = DealtMatch("match", REVERSE_BLINDS, "holdem.game", 1, 0, ("A", "B"))
    with pytest.raises(Exception, match="A has not connected in time"):
        Dealer(match, Clocks(start=50), DealerFiles(), print).play()


# --- what is sent, and the log ---


def test_a_player_sees_the_others_cards_at_a_showdown_alone() -> None:
    played = Played((raiser(1), raiser(2)), hands=60)
    shown = 0
    for client in played.clients:
        for state in client.seen:
            hand = AcpcHand.begun(REVERSE_BLINDS).played(state.betting)
            assert len(state.cards.holes[state.position]) == 2
            assert bool(state.cards.holes[1 - state.position]) == hand.shown_down
            shown += hand.shown_down
    assert shown > 20
    states = [[(s.hand, s.betting, s.cards.board) for s in client.seen] for client in played.clients]
    assert states[0] == states[1]


def pokerkit_game(game: AcpcGame) -> Any:
    from pokerkit import FixedLimitTexasHoldem, NoLimitTexasHoldem

    blinds = (min(game.blinds), max(game.blinds))
    if game.limit:
        return FixedLimitTexasHoldem((), True, 0, blinds, game.raise_sizes[0], game.raise_sizes[2])
    return NoLimitTexasHoldem((), True, 0, blinds, blinds[1])


@pytest.mark.parametrize(("game", "hands"), [(REVERSE_BLINDS, 300), (AcpcGame((400, 400), (2, 1)), 300), (LIMIT, 100)])
def test_pokerkit_parses_the_log_and_agrees_on_every_chip(game: AcpcGame, hands: int, tmp_path: Path) -> None:
    from pokerkit import HandHistory

    log = log_of(tmp_path, raiser(1), raiser(2), game=game, hands=hands)
    stack = 10_000 if game.limit else game.stacks[0]
    found = list(HandHistory.from_acpc_protocol(pokerkit_game(game), stack, log, error_status=True))
    totals = {"A": 0, "B": 0}
    for number, history in enumerate(found):
        *_, end = history
        assert history.hand == number and list(end.payoffs) == history.user_defined_fields["_results"]
        for player, won in zip(history.players, end.payoffs, strict=True):
            totals[player] += won
    assert len(found) == hands
    assert log.splitlines()[-1] == f"SCORE:{totals['A']}|{totals['B']}:A|B"


def test_a_seed_deals_the_same_cards_with_the_names_swapped(tmp_path: Path) -> None:
    logs = [tmp_path / "one.log", tmp_path / "two.log"]
    for path, players in zip(logs, (("A", "B"), ("B", "A")), strict=True):
        assert not Played((calls, calls), hands=20, files=DealerFiles(path), players=players).fault
    first, second = ([line.split(":") for line in path.read_text().splitlines() if "STATE" in line] for path in logs)
    assert [hand[:5] for hand in first] == [hand[:5] for hand in second]
    assert [hand[5] for hand in first] == ["|".join(hand[5].split("|")[::-1]) for hand in second]
    assert {hand[5] for hand in first} == {"A|B", "B|A"}


# --- resuming ---


@pytest.mark.parametrize("cut", [0, 1, 7])
def test_a_match_that_was_ended_is_resumed(cut: int, tmp_path: Path) -> None:
    """The log is that of a match that ran through, also where both files lost their last bytes."""
    whole = log_of(tmp_path, calls, calls, hands=40)
    files = DealerFiles(tmp_path / "match.log", tmp_path / "match.actions")
    assert files.log is not None and files.transactions is not None
    left = 33

    def leaves(state: MatchState, hand: AcpcHand) -> list[bytes] | None:
        nonlocal left
        left -= 1
        return calls(state, hand) if left else None

    ended = Played((calls, leaves), hands=40, files=files)
    assert ended.fault == "B has hung up"
    for path in (files.log, files.transactions) if cut else ():
        content = path.read_bytes()
        path.write_bytes(content[:-cut])
    with pytest.raises(SettingError, match="continue it with --resume"):
        Played((calls, calls), hands=40, files=files)
    again = DealerFiles(files.log, files.transactions, resume=True)
    resumed = Played((calls, calls), hands=40, files=again)
    assert not resumed.fault
    assert files.log.read_text() == whole
    assert resumed.clients[0].seen[0].hand > 2  # what was played is not sent again
    with pytest.raises(SettingError, match="is of another match"):
        Played((calls, calls), hands=40, files=again, seed=6)


def test_the_time_of_a_resumed_match_counts_from_its_beginning(tmp_path: Path) -> None:
    actions = tmp_path / "actions"
    match = DealtMatch("match", REVERSE_BLINDS, "holdem.game", 2, 5, ("A", "B"))
    actions.write_text(f"{match.decided_by()}\n0 1 c 1990\n")
    files = DealerFiles(None, actions, resume=True)
    played = Played((calls, is_silent), hands=2, files=files, clocks=Clocks(per_hand=1_000))
    assert played.fault == "B has used up its time for the match"


@pytest.mark.parametrize("line", ["0 0 c 5", "0 1 r101 5", "0 1 c"])
def test_actions_of_another_match_are_refused(line: str, tmp_path: Path) -> None:
    actions = tmp_path / "actions"
    match = DealtMatch("match", REVERSE_BLINDS, "holdem.game", 1, 5, ("A", "B"))
    actions.write_text(f"{match.decided_by()}\n{line}\n")
    with pytest.raises(SettingError, match=r"not those of this match|no file of a match's actions"):
        Played((calls, calls), files=DealerFiles(None, actions, resume=True))


@pytest.mark.parametrize("name", ["", "a:b", "a|b", "a b", "a\n"])
def test_names_that_a_log_cannot_have_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match="a log has no name"):
        DealtMatch("match", REVERSE_BLINDS, "holdem.game", 1, 0, ("A", name))

"""`sog phh`: hands of poker as PHH hand histories, from records and logs; and a hand of such a file shown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from sog.cli.frame import JsonOption, check_new, facts_table, print_json, stdout, write_unless_there
from sog.cli.options import plain_file
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.protocols.phh import PlayedHand

__all__ = ["HISTORIES", "phh", "show_hand"]

HISTORIES: Final = (".phh", ".phhs")  # how files of hand histories end
_LARGEST: Final = 2**28  # bytes of a file of hands


def phh(
    hands: Annotated[
        Path,
        typer.Argument(
            metavar="HANDS",
            callback=plain_file,
            help="Records of `sog match`, a log of `sog dealer`, or hand histories (.phh, .phhs).",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="New file for the hand histories: .phh for one hand, .phhs for many.")
    ] = None,
    game_file: Annotated[
        Path | None,
        typer.Option(callback=plain_file, help="Of a log: its game file; by default blinds 50 and 100, stacks 20000."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check hands of two-player no-limit hold'em by PokerKit's rules and write them as PHH hand histories.

    Every hand is played again by PokerKit and by our rules; the first one that either refuses, or pays otherwise than
    it says, is named. Needs PokerKit: pip install 'sog[poker]'.
    """
    from sog.protocols.phh import written_phh

    if out is not None:
        check_new(out)
        if out.suffix not in HISTORIES:
            raise SettingError(f"hand histories are files .phh and .phhs, not {out.name}")
    histories = _read(hands, game_file)
    if not histories:
        raise SettingError(f"{hands} has no hands")
    if out is not None and out.suffix == ".phh" and len(histories) > 1:
        raise SettingError(f"a .phh file has one hand, and these are {len(histories):,}: name a .phhs file")
    text = written_phh(histories)
    if out is not None:
        write_unless_there(out, text.removeprefix("[1]\n") if out.suffix == ".phh" else text)
    won: Counter[str] = Counter()
    for hand in histories:
        for player, sign in zip(hand.players, (1, -1), strict=True):
            won[player] += sign * hand.won
    if as_json:
        print_json({"hands": len(histories), "chips": dict(won)})
        return
    facts = {"hands": f"{len(histories):,}, as PokerKit plays them"}
    stdout().print(facts_table(facts | {f"{player} wins": f"{chips:,} chips" for player, chips in won.items()}))


def show_hand(path: Path, number: int, as_json: bool) -> None:
    """A hand of a file of hand histories, by its place from 0: cards, line of play, what was won."""
    histories = _read(path, None)
    if number >= len(histories):
        raise SettingError(f"{path} has the hands 0 to {len(histories) - 1:,}, not {number:,}")
    hand = histories[number]
    answer: dict[str, Any] = {
        "hand": hand.number,
        "players": list(hand.players),
        "hands": [_cards(hand, p) for p in (0, 1)],
        "stacks": list(hand.stacks),
        "blinds": list(hand.blinds),
        "line": _line(hand),
        "won": [hand.won, -hand.won],
    }
    if as_json:
        print_json(answer)
        return
    facts = {"hand": str(hand.number), "blinds": f"{hand.blinds[0]} and {hand.blinds[1]}"}
    for p, (player, blind) in enumerate(zip(hand.players, ("big blind", "small blind"), strict=True)):
        won = hand.won if p == 0 else -hand.won
        facts[player] = f"{answer['hands'][p]}, {blind}, stack {hand.stacks[p]:,}, {won:+,} chips"
    stdout().print(facts_table(facts | {"line": _line(hand)}))


def _cards(hand: PlayedHand, player: int) -> str:
    from sog.games.holdem.cards import cards_name

    return cards_name(hand.holes[player]) or "????"


def _line(hand: PlayedHand) -> str:
    """Every action and board card in words."""
    *_, end = hand.states()
    return hand.game.state_name(end)


def _read(path: Path, game_file: Path | None) -> list[PlayedHand]:
    """The hands of a file of any kind."""
    from sog.cli.acpc import read_game_file
    from sog.files import open_regular, read_bounded
    from sog.protocols.acpc_states import REVERSE_BLINDS
    from sog.protocols.phh import read_phh
    from sog.protocols.phh_sources import hands_of_log, hands_of_records

    try:
        with open_regular(path, _LARGEST) as (file, size):
            text = read_bounded(file, size).decode("utf-8", "replace")
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}") from error
    is_log = path.suffix not in HISTORIES and not text.startswith("{")
    if game_file is not None and not is_log:
        raise SettingError("--game-file is for a log, which does not say its stacks")
    if is_log:
        return list(hands_of_log(text, REVERSE_BLINDS if game_file is None else read_game_file(game_file)))
    return read_phh(text) if path.suffix in HISTORIES else list(hands_of_records(path))

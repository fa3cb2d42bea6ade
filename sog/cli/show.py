"""`sog show`: an agent's policy and beliefs along a line of play, a solved spot, a hand, or a chase of a match."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from sog.cli.frame import JsonOption, LimitOption, check_new
from sog.cli.holdem import show_spot
from sog.cli.options import AlgorithmOption, PerUpdateOption, SimulationsOption, plain_file, seed_of, word
from sog.cli.phh import HISTORIES, show_hand
from sog.errors import SettingError

__all__ = ["show"]

POLICY: Final = ".json"  # how the file of a solved policy ends
_FILES: Final = (*HISTORIES, ".npz", ".jsonl")  # how files of ours end, whether they exist or not


def show(
    shown: Annotated[
        str,
        typer.Argument(
            metavar="AGENT_OR_FILE",
            help="A run's folder, a game: its shipped network, or a policy of `sog solve ... --out`; or a hold'em spot "
            "of it, records of `sog match`, or hand histories.",
        ),
    ],
    line: Annotated[
        str, typer.Option(help='The actions and cards so far, such as "check, bet 0.5, call, 5h" or "raise, call".')
    ] = "",
    hands: Annotated[
        str | None,
        word("Of hold'em: also list these hands one by one, such as AKs,QQ+ or full; --json has all."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Also draw the policy or the map into this new file.")] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", help="Of a spot: also write the hands to this new file.")
    ] = None,
    whole: Annotated[
        Path | None,
        typer.Option(
            help="Of a spot: also write every decision from this one on to this new file: JSON that `sog solve --lock` "
            "reads, or a table where its name ends in .csv."
        ),
    ] = None,
    hand: Annotated[int | None, typer.Option(min=0, help="Of records or hand histories: which hand, from 0.")] = None,
    move: Annotated[int | None, typer.Option(min=0, help="After how many moves of the hand; by default all.")] = None,
    other: Annotated[
        str | None, word("Of an agent: a game to play that the same network plays, such as another board.", "--game")
    ] = None,
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    algorithm: AlgorithmOption = None,
    seed: Annotated[int, seed_of("Of an agent: the seed of its searches.")] = 0,
    limit_gb: LimitOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what an agent does and believes in a position, a solved hold'em spot, a poker hand, or a recorded chase.

    An agent: after each action of the line how likely it was and what a player's range then is, and at its end the
    policy, the range and the values of whoever acts, by infostate; on a board the moves that it considers. It plays
    both seats and searches each decision on the way, as in a game. A solved policy is shown alike.
    Hold'em: a 13 x 13 grid of hands. Suited hands are above the diagonal; each cell shows how often its most frequent
    action is taken, and its colour mixes those of all actions. In a solved spot EV is the chips that a hand takes out
    of the pot on average from here on, less those that it still pays, so that a fold is worth 0, and equity how often
    it beats the opponent's range here.
    Scotland Yard (with --hand): the stations where Mr X can be with the belief in each, tickets and the log. The belief
    is exact where the records have the policies of Mr X (`sog match --policies`); elsewhere all possible stations are
    alike in it. --svg draws the map; its places are computed from the links alone.
    Hand histories (.phh, .phhs): the cards, the line of play and what was won, of the hand that --hand names.
    """
    searches = any(option is not None for option in (other, simulations, per_update, algorithm, limit_gb)) or seed
    result = Path(shown)
    is_file = result.suffix in _FILES or (os.path.exists(shown) and not os.path.isdir(shown))
    if result.suffix == POLICY or not is_file:
        from sog.cli.show_agent import AgentShown, show_agent

        if any(option is not None for option in (csv_file, whole, hand, move)):
            raise SettingError("--csv, --whole, --hand and --move are for a file: a solved spot, records or histories")
        if svg is not None:
            check_new(svg)
        search_options = other, simulations, per_update, algorithm, seed, limit_gb
        show_agent(AgentShown(shown, *search_options, line, hands, svg, as_json))
        return
    if searches:
        raise SettingError("--game, -s, -c, --algorithm, --seed and --limit-gb are for an agent: a game or a folder")
    plain_file(result)
    if result.suffix in HISTORIES:
        if line or move is not None or any(option is not None for option in (hands, csv_file, svg, whole)):
            raise SettingError("a hand history is shown in words: of the options, --hand and --json are for it")
        show_hand(result, hand or 0, as_json)
        return
    if hand is not None:
        from sog.cli.chase import show_chase

        if line or any(option is not None for option in (hands, csv_file, whole)):
            raise SettingError("--line, --hands, --csv and --whole are for a solved hold'em spot")
        if svg is not None:
            check_new(svg)
        show_chase(result, hand, move, svg, as_json)
        return
    if move is not None:
        raise SettingError("--move is a hand's: name the hand of the records with --hand")
    show_spot(result, line, hands, svg, csv_file, whole, as_json)

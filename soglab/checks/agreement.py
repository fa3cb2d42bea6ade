"""Random games that are to agree with another program's: a study of them, which fails where one differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from soglab.plots import DOTS, Line, Panel, Picture, Scale
from soglab.study import Beside, Key, Note, Options, Outcome, Result, Study, StudyPoint

_BATCH: Final = 250


def agreement_study(picture: str, games: Sequence[str], compute: Callable[[Key], Result]) -> Study:
    """1,000 random games of each, 10,000 with --full.

    compute: of a key's game, number of games and seed: agreed and moves, counts, and difference, a line or "".
    """
    return Study(partial(_plan, games), compute, partial(agreement, games, picture), takes=("full",))


def _plan(games: Sequence[str], options: Options, note: Note) -> list[Key]:
    """Batches with seeds of their own."""
    count = 50 if options.quick else 10_000 if options.full else 1_000
    size = min(_BATCH, count)
    return [{"game": game, "seed": seed, "games": size} for seed in range(count // size) for game in games]


def agreement(games: Sequence[str], picture: str, points: list[StudyPoint]) -> Outcome:
    """Games that agreed to the end, of all played, for each game, and the differences; failed where there are any."""
    beside, lines = [], []
    for game in games:
        batches = [p for p in points if p.key["game"] == game]
        agreed, played = sum(p.result["agreed"] for p in batches), sum(p.key["games"] for p in batches)
        moves = sum(p.result["moves"] for p in batches)
        beside.append(Beside(game, "", f"{agreed:,} of {played:,} games agree, {moves:,} moves"))
        beside += [Beside(game, "", p.result["difference"]) for p in batches if p.result["difference"]]
        lengths = [p.result["moves"] / max(p.result["agreed"], 1) for p in batches]
        lines.append(Line(range(len(batches)), lengths, game, DOTS))
    failed = any(p.result["difference"] for p in points)
    title, legend = "random games that agree with OpenSpiel", {"fontsize": 6}
    panel = Panel(lines, Scale("batch"), Scale("moves a game"), title, legend=legend, grid=None)
    return Outcome([p.row for p in points], {picture: Picture([panel])}, beside, failed)

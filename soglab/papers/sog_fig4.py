"""SoG Fig. 4: how the strength of Student of Games and of AlphaZero grows with the number of simulations.

Both search with the same network, which one training run left; SoG of the fewest simulations has Elo 0, as in the
paper. Every agent meets its neighbours: those of the next numbers of simulations, and the other algorithm's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.measure.elo import Ratings
from sog.training.checkpoint import load_meta
from soglab.papers.elo_matches import (
    Agent,
    describe,
    match_keys,
    play_match,
    rated_agents,
    rating_row,
    said_of,
)
from soglab.runs import checkpoint_of, runs_there
from soglab.study import Beside, Draw, Key, Note, Options, Outcome, Point, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The first of these folders that is there, unless a run is named.
RUNS: Final = (
    Path("runs/connect_four"),
    Path("runs/go-board_size-7-komi-7-5"),
    Path("runs/connect_four-alphazero"),
)
SIMULATIONS: Final = (25, 50, 100, 200, 400)
MORE: Final = (800, 1_600)  # with --full
COMPARED: Final = (SOG, ALPHAZERO)  # the first one's fewest simulations have Elo 0
QUICK: Final = (4, 8, 16)
_LINES: Final = {SOG: ("SoG(s, 1)", "o"), ALPHAZERO: ("AlphaZero(s)", "s")}  # label and marker
BATCHES: Final = 6  # of 16 games a pair; SoG: 200 games a pair
OPENINGS: Final = 8


def plan(options: Options, note: Note) -> list[Key]:
    """Every pair of neighbours, BATCHES times (--seeds for another number)."""
    checkpoint = _checkpoint(options, note)
    game = load_meta(checkpoint).game
    if not make_game(game).perfect_information:
        raise SettingError(f"sog-fig4 needs a game of perfect information, not {game}")
    numbers = QUICK if options.quick else (*SIMULATIONS, *(MORE if options.full else ()))
    batches = options.seeds or (1 if options.quick else BATCHES)
    return match_keys(game, _pairs(str(checkpoint), numbers), batches, 2 if options.quick else OPENINGS)


def _checkpoint(options: Options, note: Note) -> Path:
    """The run's latest network, the same one for both algorithms."""
    if len(options.runs) > 1:
        raise SettingError("sog-fig4 takes one --run: both algorithms search with its network")
    run = (options.runs or runs_there(RUNS, "connect_four"))[0]
    note(f"both algorithms search with the network of {run}")
    return checkpoint_of(run)


def _pairs(checkpoint: str, numbers: Sequence[int]) -> list[tuple[Agent, Agent]]:
    """Equal numbers of simulations, and neighbouring ones within and between the algorithms."""
    network = load_meta(Path(checkpoint)).network_id
    sog, alphazero = ([Agent(algorithm, checkpoint, network, s) for s in numbers] for algorithm in COMPARED)
    pairs = list(zip(sog, alphazero, strict=True))
    for one in (sog, alphazero):
        for other in (sog, alphazero):
            pairs += zip(one[:-1], other[1:], strict=True)
    return pairs


def present(points: list[Point]) -> Outcome:
    """Elo over simulations, a line for each algorithm, and what each step to more of them brings."""
    agents, ratings = rated_agents(points)
    anchor = min(range(len(agents)), key=lambda k: (COMPARED.index(agents[k].algorithm), agents[k].simulations))
    rows = []
    by_algorithm: dict[str, list[int]] = {algorithm: [] for algorithm in sorted(COMPARED)}
    for k in sorted(range(len(agents)), key=lambda k: agents[k].simulations):
        by_algorithm[agents[k].algorithm].append(k)
    for own in by_algorithm.values():
        for before, k in zip([None, *own], own, strict=False):
            rows.append({**rating_row(agents, ratings, k, anchor), **_gain(ratings, k, before)})
    games = sum(sum(point.result.values()) for point in points)
    beside = [*(Beside(row["agent"], "", _said(row)) for row in rows), *said_of(ratings)]
    title = f"{points[0].key['game']}: {games:,} games, 95% intervals, one network"
    return Outcome(rows, {"sog-fig4": _picture(title, rows)}, beside)


def _gain(ratings: Ratings, k: int, before: int | None) -> dict[str, float | None]:
    """Elo of agent k over agent `before`, that of the next fewer simulations, and half of its 95% interval."""
    if before is None:
        return {"gain": None, "gain_interval": None}
    gain, half = ratings.difference(k, before)
    return {"gain": gain, "gain_interval": half}


def _said(row: dict[str, Any]) -> str:
    elo = f"{row['elo']:+.0f} ± {row['interval']:.0f}"
    return elo if row["gain"] is None else f"{elo}; {row['gain']:+.0f} ± {row['gain_interval']:.0f} over the one before"


def _picture(title: str, rows: Sequence[dict[str, Any]]) -> Draw:
    def draw(figure: Figure) -> None:
        axis = figure.subplots()
        lines: dict[str, list[dict[str, Any]]] = {algorithm: [] for algorithm in _LINES}
        for row in rows:
            lines[row["algorithm"]].append(row)
        for own, (label, marker) in zip(lines.values(), _LINES.values(), strict=True):
            axis.errorbar(
                [row["simulations"] for row in own],
                [row["elo"] for row in own],
                [row["interval"] for row in own],
                label=label,
                marker=marker,
                capsize=3,
            )
        axis.set(xscale="log", xlabel="simulations s", ylabel="Elo, SoG of the fewest simulations = 0", title=title)
        numbers = sorted({row["simulations"] for row in rows})
        axis.set_xticks(numbers, [f"{s:,}" for s in numbers], minor=False)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
        axis.legend()

    return draw


STUDY: Final = Study(plan, play_match, present, takes=("full", "seeds", "runs"), describe=describe)

"""SoG Fig. 4: how the strength of Student of Games and of AlphaZero grows with the number of simulations.

Both search with the same network, which one training run left; SoG of the fewest simulations has Elo 0, as in the
paper. Every agent meets its neighbours: those of the next numbers of simulations, and the other algorithm's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from sog.algorithms.alphazero.algorithm import ALPHAZERO
from sog.algorithms.base import SOG
from sog.errors import SettingError
from sog.games.catalog import make_game
from sog.measure.elo import Ratings
from sog.training.checkpoint import load_meta
from soglab.papers import elo_matches as elo
from soglab.plots import Panel, Picture, Scale, line_of, log_scale
from soglab.runs import checkpoint_of, runs_there
from soglab.study import Beside, Experiment, Key, Note, Options, Outcome, Study, StudyPoint, grouped

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
    pairs = _pairs(str(checkpoint), numbers)
    return elo.match_keys(game, pairs, options.num_seeds(BATCHES), 2 if options.quick else OPENINGS)


def _checkpoint(options: Options, note: Note) -> Path:
    """The run's latest network, the same one for both algorithms."""
    if len(options.runs) > 1:
        raise SettingError("sog-fig4 takes one --run: both algorithms search with its network")
    run = (options.runs or runs_there(RUNS, "connect_four"))[0]
    note(f"both algorithms search with the network of {run}")
    return checkpoint_of(run)


def _pairs(checkpoint: str, numbers: Sequence[int]) -> list[tuple[elo.RatedAgent, elo.RatedAgent]]:
    """Equal numbers of simulations, and neighbouring ones within and between the algorithms."""
    network = load_meta(Path(checkpoint)).network_id
    sog, alphazero = ([elo.RatedAgent(algorithm, checkpoint, network, s) for s in numbers] for algorithm in COMPARED)
    pairs = list(zip(sog, alphazero, strict=True))
    for one in (sog, alphazero):
        for other in (sog, alphazero):
            pairs += zip(one[:-1], other[1:], strict=True)
    return pairs


def present(points: list[StudyPoint]) -> Outcome:
    """Elo over simulations, a line for each algorithm, and what each step to more of them brings."""
    agents, ratings = elo.rated_agents(points)
    anchor = min(range(len(agents)), key=lambda k: (COMPARED.index(agents[k].algorithm), agents[k].simulations))
    order = sorted(range(len(agents)), key=lambda k: (agents[k].algorithm, agents[k].simulations))
    rows, lines = [], []
    for algorithm, own in grouped(order, lambda k: agents[k].algorithm).items():
        gains = [_gain(ratings, k, before) for before, k in zip([None, *own], own, strict=False)]
        line = [elo.rating_row(agents, ratings, k, anchor) | gain for k, gain in zip(own, gains, strict=True)]
        label, marker = _LINES[algorithm]
        rows += line
        lines.append(line_of(line, "simulations", "elo", label, {"marker": marker}, "interval"))
    beside = [*(Beside(row["agent"], "", _elo_text(row)) for row in rows), *elo.notes_on(ratings)]
    axes = (log_scale("simulations s"), Scale("Elo, SoG of the fewest simulations = 0"))
    numbers = sorted({row["simulations"] for row in rows})
    panel = Panel(lines[::-1], *axes, elo.title_of(points, ", one network"), ticks=numbers)
    return Outcome(rows, {"sog-fig4": Picture([panel])}, beside)


def _gain(ratings: Ratings, k: int, before: int | None) -> dict[str, float | None]:
    """Elo of agent k over agent `before`, that of the next fewer simulations, and half of its 95% interval."""
    if before is None:
        return {"gain": None, "gain_interval": None}
    gain, half = ratings.difference(k, before)
    return {"gain": gain, "gain_interval": half}


def _elo_text(row: dict[str, Any]) -> str:
    gain = "" if row["gain"] is None else f"; {row['gain']:+.0f} ± {row['gain_interval']:.0f} over the one before"
    return elo.rating_text(row) + gain


EXPERIMENT: Final = Experiment(
    id="sog-fig4",
    paper="SoG",
    figure="Fig. 4",
    minutes=60,
    what="Elo of SoG(s,1) and AlphaZero(s) with the network of --run, s = 25 to 400 (--full: 1,600), 96 games a pair",
    study=Study(plan, elo.play_match, present, takes=("full", "seeds", "runs"), describe=elo.describe),
)

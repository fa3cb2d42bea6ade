"""`sog bench`: how a benchmark is run and printed, and its commands with their options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from sog.cli.frame import JsonOption, Report, progress_bar, say, show_rows
from sog.cli.options import LARGEST_COUNT, above_zero, all_above_zero, not_blank

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from sog.nets.network import Network
    from sog.searches.gtcfr.settings import Budget
    from soglab.bench.form import Benchmark

_Row = TypeVar("_Row", bound="DataclassInstance")


def run(
    form: Benchmark, total: int | None, measure: Callable[[Report], Iterable[DataclassInstance]], as_json: bool
) -> None:
    """Measure and print.  total: of what progress counts.  measure: yields the rows."""
    show(form, measured(form, total, measure), as_json)


def measured(form: Benchmark, total: int | None, measure: Callable[[Report], Iterable[_Row]]) -> list[_Row]:
    """The rows, behind a progress bar."""
    with progress_bar(form.name, total, form.counted) as report:
        return list(measure(report))


def show(
    form: Benchmark, rows: Sequence[DataclassInstance], as_json: bool, more: Mapping[str, Any] | None = None
) -> None:
    """Print the rows as a table, or as JSON with what else a machine should know, which a title may name too."""
    from soglab.bench.form import table

    show_rows(rows, as_json, lambda: table(form, rows, more or {}), more)


def _count(help: str) -> Any:
    return typer.Option(min=1, max=LARGEST_COUNT, help=help)


def _seconds(help: str) -> Any:
    return typer.Option(callback=above_zero, help=help)


# What is measured is a command's argument, and its size are options, named as in `sog exploit` and `sog train`.
GamesArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[GAME]...", help="Game strings; by default a built-in list.")
]
SimulationsOption = Annotated[
    list[int] | None,
    typer.Option("--simulations", "-s", min=1, max=LARGEST_COUNT, help="s: expansions per search; repeat for several."),
]
PerUpdateOption = Annotated[
    list[float] | None,
    typer.Option(
        "--per-update",
        "-c",
        callback=all_above_zero,
        help="c: expansions per regret update; repeat for several. Every s is measured with every c.",
    ),
]

bench = typer.Typer(help="Measure speed: beside other programs, and part by part.", epilog="Example: sog bench cfr")


@bench.callback()
def _bench() -> None:
    pass


@bench.command("cfr", epilog='Example: sog bench cfr leduc_poker "liars_dice(numdice=1,dice_sides=5)"')
def bench_cfr(
    games: GamesArgument = None,
    quick: Annotated[bool, typer.Option("--quick", help="Five small games instead of all.")] = False,
    rounds: Annotated[int, _count("How many times the solvers take turns.")] = 9,
    as_json: JsonOption = False,
) -> None:
    """CFR+ on whole games, ours, OpenSpiel's and LiteEFG's: microseconds per iteration, seconds to exploitability 1e-3.

    The solvers take turns in one run; medians of processor time count. Exploitability is the mean over both players,
    in the game's utilities (chips in poker); measuring it is not counted, nor is setting up, which has its own column.
    LiteEFG is left out where it is not installed.
    """
    from soglab.bench.cfr import CFR, GAMES, QUICK_GAMES, bench_games
    from soglab.bench.cfr_solvers import check_game, has_liteefg

    chosen = games or (QUICK_GAMES if quick else GAMES)
    for name in games or ():
        check_game(name)  # before the work
    if not has_liteefg():
        say("LiteEFG is not installed (pip install 'sog[bench]'): left out")
    run(CFR, len(chosen), partial(bench_games, chosen, rounds), as_json)


@bench.command("search", epilog="Example: sog bench search leduc_poker -s 100 -c 1 --no-training")
def bench_search(
    checkpoint: Annotated[
        str, typer.Argument(metavar="[CHECKPOINT_OR_GAME]", help="A run's folder, or a game.")
    ] = "leduc_poker",
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    rounds: Annotated[int, _count("Batches of games; the median is shown.")] = 5,
    batch_seconds: Annotated[float, _seconds("About how long a batch of games lasts.")] = 1.0,
    no_training: Annotated[
        bool, typer.Option("--no-training", help="Profile no training from scratch, by one process and by all cores.")
    ] = False,
    training_seconds: Annotated[float, _seconds("Seconds that each of the two training runs lasts.")] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Where the time of a search and of a minute of training goes.

    Searches re-solve, as self-play does where information is hidden; on boards self-play searches the position itself
    (see `sog bench simulations`). A game without a shipped checkpoint gets an untrained network, as fast as a trained
    one.
    """
    from sog.games.catalog import make_game
    from soglab.bench.search import BUDGETS, SEARCHES, SIDE_BY_SIDE, bench_searches
    from soglab.bench.training_minute import TRAINING_MINUTE, profile_training

    budgets = _budgets(simulations, per_update) or BUDGETS
    name, network = _network(checkpoint)
    game = make_game(name)
    search = partial(bench_searches, game, network, budgets, rounds, batch_seconds)
    rows = measured(SEARCHES, len(budgets) * len(SIDE_BY_SIDE), search)
    profile = partial(profile_training, game.name, "full", training_seconds, os.cpu_count() or 1)
    parts = measured(TRAINING_MINUTE, int(2 * training_seconds), profile) if not no_training else []
    show(SEARCHES, rows, as_json, {"training": [asdict(part) for part in parts]})
    if parts and not as_json:
        show(TRAINING_MINUTE, parts, as_json, {"game": game.name})


@bench.command("root", epilog="Example: sog bench root 'holdem(bets=0.5;1.0;allin)' -s 10 -c 0.1")
def bench_root_search(
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="A game string.")] = "holdem(bets=0.5;1.0;allin)",
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    network: Annotated[
        str, typer.Option(callback=not_blank, help="Hidden layers x width of the untrained network.")
    ] = "3x256",
    rounds: Annotated[int, _count("Searches with each budget; the median is shown.")] = 3,
    chance_leaves: Annotated[
        bool, typer.Option("--chance-leaves", help="Never open a leaf where chance is to move.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Seconds and memory of a search from a game's first decision, and where the time goes.

    By default the whole of heads-up no-limit hold'em, 1,326 hands a player.
    """
    from sog.games.catalog import make_game
    from sog.nets.network import untrained
    from sog.nets.shape import network_size, shape_for
    from soglab.bench.root import BUDGETS, ROOT, bench_root

    budgets = _budgets(simulations, per_update) or BUDGETS
    made = make_game(game)
    depth, width = network_size(network)
    fresh = untrained(shape_for(made, width, depth, crossed=made.crossed))
    rows = measured(ROOT, len(budgets), partial(bench_root, made, fresh, budgets, rounds, chance_leaves))
    show(ROOT, rows, as_json, {"load": os.getloadavg()[0]})


@bench.command("simulations", epilog="Example: sog bench simulations connect_four -s 400")
def bench_board_search(
    games: GamesArgument = None,
    simulations: Annotated[
        int, typer.Option("--simulations", "-s", min=1, max=LARGEST_COUNT, help="Of each search.")
    ] = 400,
    rounds: Annotated[int, _count("Searches of each kind; the median is shown.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Simulations a second on boards: GT-CFR's and AlphaZero's search beside OpenSpiel's MCTS, in turn on one core.

    All begin at the game's first position. Rows that name a network use it untrained; the others' is constant.
    """
    from soglab.bench.simulations import GAMES, SIMULATIONS, bench_simulations, board

    chosen = [board(name) for name in games or GAMES]
    run(SIMULATIONS, len(chosen), partial(bench_simulations, chosen, simulations, rounds), as_json)


@bench.command("pimbot", epilog="Example: sog bench pimbot 'scotland_yard(map=glasses)'")
def bench_scotland_yard(
    games: GamesArgument = None,
    simulations: Annotated[
        int, typer.Option("--simulations", "-s", min=1, max=LARGEST_COUNT, help="Of each search.")
    ] = 20_000,
    rounds: Annotated[int, _count("Searches of each kind; the median is shown.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Simulations a second of PimBot in Scotland Yard from the first deal, beside playouts without a tree; one core."""
    from soglab.bench.pimbot import GAMES, PIMBOT, bench_pimbot

    chosen = games or GAMES
    run(PIMBOT, len(chosen), partial(bench_pimbot, chosen, simulations, rounds), as_json)


@bench.command("network", epilog="Example: sog bench network connect_four")
def bench_one_network(
    game: Annotated[str, typer.Argument(metavar="[GAME]", callback=not_blank, help="A game string.")] = "leduc_poker",
    as_json: JsonOption = False,
) -> None:
    """Rows a second of the networks that searches ask, by size and batch: our kernels beside other programs, one core.

    From beliefs to evaluations, on boards from planes to outputs; beside PyTorch, and ONNX Runtime and OpenVINO where
    they are installed (pip install 'sog[bench]'). Least times of several turns; a star marks what searches use.
    """
    from soglab.bench.network import BACK_ENDS, bench_game

    run(BACK_ENDS, None, partial(bench_game, game), as_json)


@bench.command("histories", epilog="Example: sog bench histories leduc_poker --seconds 2")
def bench_by_histories(
    games: GamesArgument = None,
    network: Annotated[
        str, typer.Option(callback=not_blank, help="Hidden layers x width of the actor's network.")
    ] = "2x256",
    seconds: Annotated[float, _seconds("Of each figure, at least.")] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Episodes a second of one core: random play, the actor with a network, and R-NaD's play and learning together."""
    from sog.nets.shape import network_size
    from soglab.bench.histories import GAMES, HISTORIES, bench_histories

    size = network_size(network)
    chosen = _history_games(games or GAMES)
    run(HISTORIES, len(chosen), partial(bench_histories, chosen, size, seconds), as_json)


@bench.command("sepot", epilog="Example: sog bench sepot leduc_poker --played 4")
def bench_sepot_search(
    games: GamesArgument = None,
    played: Annotated[int, _count("Random games, each of whose public states is searched.")] = 6,
    histories: Annotated[int | None, _count("The most histories of a searched subgame; by default 25,000.")] = None,
    updates: Annotated[int | None, _count("CFR+ iterations of a search; by default 800.")] = None,
    as_json: JsonOption = False,
) -> None:
    """SePoT's search by the size of its subgame: milliseconds, where they go, and memory; untrained networks, one core.

    The last row of a game is what its public states with too many histories cost that are left to the network.
    """
    from sog.algorithms.sepot.search import SepotSearchSettings
    from soglab.bench.sepot_search import GAMES, SEPOT, bench_sepot

    chosen, plain = _history_games(games or GAMES), SepotSearchSettings()
    settings = SepotSearchSettings(updates or plain.iterations, most=histories or plain.most)
    run(SEPOT, len(chosen), partial(bench_sepot, chosen, played, settings), as_json)


@bench.command("rebel", epilog="Example: sog bench rebel 'liars_dice(numdice=1,dice_sides=4)' --seconds 5")
def bench_rebel(
    games: GamesArgument = None,
    seconds: Annotated[float, _seconds("Seconds of work for each row, at least.")] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Depth-limited subgames (1,024 updates, depth 2) that one core solves per second, and the network's share."""
    from sog.games.catalog import make_game
    from soglab.bench.rebel import GAMES, REBEL, row_count
    from soglab.bench.rebel import bench_rebel as measure

    chosen = [make_game(name) for name in games or GAMES]
    run(REBEL, row_count(len(chosen)), partial(measure, chosen, seconds), as_json)


@bench.command("training", epilog="Example: sog bench training connect_four --played 64")
def bench_training(
    checkpoints: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CHECKPOINT_OR_GAME]...", help="Runs' folders, or games; by default a built-in list."),
    ] = None,
    played: Annotated[int | None, _count("Self-play games of each game; else as set for it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """A round of self-play examined: do its searches grow, are its policy targets more than one move.

    One round with the settings of the preset demo and the run's network, of a game the shipped one or an untrained one.
    searches: of self-play's moves. grown: the share of them that grew their budget or all that was left of the game; an
    expansion counts if its trajectory drew a world at the searched state. one-hot: policy targets with a move above
    0.99, where there is a choice. distinct: public states among the states visited. won: games not drawn or cut short.
    """
    from sog.games.catalog import make_game
    from soglab.bench.rounds import GAMES, ROUNDS, bench_rounds

    chosen = []
    for text in checkpoints or GAMES:
        trained, network = _network(text)
        name = trained if Path(text).exists() else make_game(text).name  # a network may play at another komi, too
        chosen.append((name, network, played or GAMES.get(name, 16)))
    run(ROUNDS, len(chosen), partial(bench_rounds, chosen), as_json)


@bench.command("holdem", epilog="Example: sog bench holdem river")
def bench_holdem_spots(
    spots: Annotated[
        list[str] | None, typer.Argument(metavar="[SPOT]...", help="river or turn; by default both.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Milliseconds per iteration and seconds to 0.5% of the pot on a river and a turn spot, every hand in both ranges.

    One thread and two take turns; figures are medians. The seconds include measuring exploitability every 20
    iterations.
    """
    from soglab.bench.holdem import HOLDEM, bench_holdem, chosen, steps

    timed = chosen(spots or ())
    rows = measured(HOLDEM, sum(map(steps, timed)), partial(bench_holdem, timed))
    show(HOLDEM, rows, as_json, {"cores": os.cpu_count()})


def _history_games(names: Sequence[str]) -> Sequence[str]:
    """The names; GameError, before any work, where one names no game by histories."""
    from sog.games.catalog import make_history_game

    for name in names:
        make_history_game(name)
    return names


def _budgets(simulations: list[int] | None, per_update: list[float] | None) -> list[Budget]:
    """Every s with every c that were asked for, as `sog exploit` completes one without the other; none if neither."""
    from sog.searches.gtcfr.settings import Budget

    if not simulations and not per_update:
        return []
    return [Budget(s, c) for s in simulations or (100,) for c in per_update or (1.0,)]


def _network(checkpoint: str) -> tuple[str, Network]:
    """The game and the network that a checkpoint or a game string names, a new one where none is shipped."""
    from sog.algorithms.table import settings_of
    from sog.games.catalog import make_game
    from sog.nets.network import untrained
    from sog.training.opened import value_network
    from sog.training.shipped import named_checkpoint

    folder = named_checkpoint(checkpoint)
    if folder is None:
        game = make_game(checkpoint)
        say(f"no checkpoint is shipped for {game.name}: an untrained network")
        return game.name, untrained(settings_of(game, "full").shape)
    return value_network(folder)

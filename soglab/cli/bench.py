"""`sog bench`: our speed beside other solvers', and where our own time goes."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sog.cli.frame import JsonOption, progress_bar, show_rows, stderr, stdout
from sog.cli.options import LARGEST_COUNT, above_zero, all_above_zero, not_blank
from soglab.cli.bench_tables import (
    cfr_table,
    histories_table,
    rebel_table,
    root_table,
    rounds_table,
    search_table,
    sepot_table,
    simulations_table,
    training_table,
)

if TYPE_CHECKING:
    from sog.nets.cvpn import CVPN
    from sog.searches.gtcfr.search import Budget
    from soglab.bench.training_minute import Part

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

HistoriesOption = Annotated[
    int | None,
    typer.Option(min=1, max=LARGEST_COUNT, help="Search subgames of at most so many histories; by default 25,000."),
]
UpdatesOption = Annotated[
    int | None, typer.Option(min=1, max=LARGEST_COUNT, help="CFR+ iterations of a search; by default 800.")
]

bench = typer.Typer(help="Measure speed: beside other programs, and part by part.", epilog="Example: sog bench cfr")


@bench.callback()
def _bench() -> None:
    pass


@bench.command("cfr", epilog='Example: sog bench cfr leduc_poker "liars_dice(numdice=1,dice_sides=5)"')
def bench_cfr(
    games: GamesArgument = None,
    quick: Annotated[bool, typer.Option("--quick", help="Five small games instead of all.")] = False,
    rounds: Annotated[int, typer.Option(min=1, max=LARGEST_COUNT, help="How many times the solvers take turns.")] = 9,
    as_json: JsonOption = False,
) -> None:
    """CFR+ on whole games, ours, OpenSpiel's and LiteEFG's: microseconds per iteration, seconds to exploitability 1e-3.

    The solvers take turns in one run; medians of processor time count. Exploitability is the mean over both players,
    in the game's utilities (chips in poker); measuring it is not counted, nor is setting up, which has its own column.
    LiteEFG is left out where it is not installed.
    """
    from soglab.bench.cfr import GAMES, QUICK_GAMES, bench_games
    from soglab.bench.cfr_solvers import check_game, has_liteefg

    chosen = games or (QUICK_GAMES if quick else GAMES)
    for name in games or ():
        check_game(name)  # before the work
    if not has_liteefg():
        stderr().print("LiteEFG is not installed (pip install 'sog[bench]'): left out")
    with progress_bar("bench cfr", len(chosen), "games") as report:
        rows = bench_games(chosen, rounds, report)
    show_rows(rows, as_json, lambda: cfr_table(rows))


@bench.command("search", epilog="Example: sog bench search leduc_poker -s 100 -c 1 --no-training")
def bench_search(
    checkpoint: Annotated[
        str, typer.Argument(metavar="[CHECKPOINT_OR_GAME]", help="A run's folder, or a game.")
    ] = "leduc_poker",
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    rounds: Annotated[int, typer.Option(min=1, max=LARGEST_COUNT, help="Batches of games; the median is shown.")] = 5,
    batch_seconds: Annotated[
        float, typer.Option(callback=above_zero, help="About how long a batch of games lasts.")
    ] = 1.0,
    training: Annotated[
        bool, typer.Option(help="Also profile training from scratch, with one process and with all cores.")
    ] = True,
    training_seconds: Annotated[
        float, typer.Option(callback=above_zero, help="Seconds that each of the two training runs lasts.")
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Where the time of a search and of a minute of training goes.

    Searches re-solve, as self-play does where information is hidden; on boards self-play searches the position itself
    (see `sog bench simulations`). A game without a shipped checkpoint gets an untrained network, as fast as a trained
    one.
    """
    from sog.games.catalog import make_game
    from soglab.bench.search import BUDGETS, SIDE_BY_SIDE, bench_searches
    from soglab.bench.training_minute import profile_training

    budgets = _budgets(simulations, per_update) or BUDGETS
    name, network = _network(checkpoint)
    game = make_game(name)
    with progress_bar("bench search", len(budgets) * len(SIDE_BY_SIDE), "rows") as report:
        rows = bench_searches(game, network, budgets, rounds, batch_seconds, report)
    parts: list[Part] = []
    if training:
        with progress_bar("training", int(2 * training_seconds), "seconds") as report:
            parts = profile_training(game.name, "full", training_seconds, os.cpu_count() or 1, report)
    show_rows(rows, as_json, lambda: search_table(rows), {"training": [asdict(part) for part in parts]})
    if parts and not as_json:
        stdout().print(training_table(game.name, parts))


@bench.command("root", epilog="Example: sog bench root 'holdem(bets=0.5;1.0;allin)' -s 10 -c 0.1")
def bench_root_search(
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="A game string.")] = "holdem(bets=0.5;1.0;allin)",
    simulations: SimulationsOption = None,
    per_update: PerUpdateOption = None,
    network: Annotated[
        str, typer.Option(callback=not_blank, help="Hidden layers x width of the untrained network.")
    ] = "3x256",
    rounds: Annotated[
        int, typer.Option(min=1, max=LARGEST_COUNT, help="Searches with each budget; the median is shown.")
    ] = 3,
    as_json: JsonOption = False,
) -> None:
    """Seconds and memory of a search from a game's first decision, and where the time goes.

    By default the whole of heads-up no-limit hold'em, 1,326 hands a player.
    """
    from sog.games.catalog import make_game
    from sog.nets.cvpn import CVPN
    from sog.nets.shape import network_size, shape_for
    from soglab.bench.root import BUDGETS, bench_root

    budgets = _budgets(simulations, per_update) or BUDGETS
    made = make_game(game)
    depth, width = network_size(network)
    untrained = CVPN(shape_for(made, width, depth, crossed=made.crossed))
    with progress_bar("bench root", len(budgets), "budgets") as report:
        rows = bench_root(made, untrained, budgets, report, rounds)
    show_rows(rows, as_json, lambda: root_table(rows), {"load": os.getloadavg()[0]})


@bench.command("simulations", epilog="Example: sog bench simulations connect_four -s 400")
def bench_board_search(
    games: GamesArgument = None,
    simulations: Annotated[
        int, typer.Option("--simulations", "-s", min=1, max=LARGEST_COUNT, help="Of each search.")
    ] = 400,
    rounds: Annotated[
        int, typer.Option(min=1, max=LARGEST_COUNT, help="Searches of each kind; the median is shown.")
    ] = 5,
    as_json: JsonOption = False,
) -> None:
    """Simulations a second on boards: GT-CFR's and AlphaZero's search beside OpenSpiel's MCTS, in turn on one core.

    All begin at the game's first position. Rows that name a network use it untrained; the others' is constant.
    """
    from soglab.bench.simulations import GAMES, bench_simulations, board

    chosen = [board(name) for name in games or GAMES]
    with progress_bar("bench simulations", len(chosen), "games") as report:
        rows = bench_simulations(chosen, simulations, rounds, report)
    show_rows(rows, as_json, lambda: simulations_table(rows))


@bench.command("histories", epilog="Example: sog bench histories leduc_poker --seconds 2")
def bench_by_histories(
    games: GamesArgument = None,
    network: Annotated[
        str, typer.Option(callback=not_blank, help="Hidden layers x width of the actor's network.")
    ] = "2x256",
    seconds: Annotated[float, typer.Option(callback=above_zero, help="Of each figure, at least.")] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Episodes a second of one core: random play, the actor with a network, and R-NaD's play and learning together."""
    from sog.games.histories.catalog import make_history_game
    from sog.nets.shape import network_size
    from soglab.bench.histories import GAMES, bench_histories

    chosen, size = tuple(games or GAMES), network_size(network)
    for name in chosen:
        make_history_game(name)  # one that does not exist is refused before the work
    with progress_bar("bench histories", len(chosen), "games") as report:
        rows = bench_histories(chosen, size, seconds, report)
    show_rows(rows, as_json, lambda: histories_table(rows))


@bench.command("sepot", epilog="Example: sog bench sepot leduc_poker --played 4")
def bench_sepot_search(
    games: GamesArgument = None,
    played: Annotated[
        int, typer.Option(min=1, max=LARGEST_COUNT, help="Random games, each of whose public states is searched.")
    ] = 6,
    histories: HistoriesOption = None,
    updates: UpdatesOption = None,
    as_json: JsonOption = False,
) -> None:
    """SePoT's search by the size of its subgame: milliseconds, where they go, and memory; untrained networks, one core.

    The last row of a game is what its public states with too many histories cost that are left to the network.
    """
    from sog.algorithms.sepot.search import SepotSearchSettings
    from sog.games.histories.catalog import make_history_game
    from soglab.bench.sepot_search import GAMES, bench_sepot

    chosen, plain = tuple(games or GAMES), SepotSearchSettings()
    for name in chosen:
        make_history_game(name)  # one that does not exist is refused before the work
    settings = SepotSearchSettings(updates or plain.iterations, most=histories or plain.most)
    with progress_bar("bench sepot", len(chosen), "games") as report:
        rows = bench_sepot(chosen, played, settings, report)
    show_rows(rows, as_json, lambda: sepot_table(rows))


@bench.command("rebel", epilog="Example: sog bench rebel 'liars_dice(numdice=1,dice_sides=4)' --seconds 5")
def bench_rebel(
    games: GamesArgument = None,
    seconds: Annotated[float, typer.Option(callback=above_zero, help="Seconds of work for each row, at least.")] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Depth-limited subgames (1,024 updates, depth 2) that one core solves per second, and the network's share."""
    from sog.games.catalog import make_game
    from soglab.bench.rebel import GAMES, row_count
    from soglab.bench.rebel import bench_rebel as measure

    chosen = [make_game(name) for name in games or GAMES]
    with progress_bar("bench rebel", row_count(len(chosen)), "rows") as report:
        rows = measure(chosen, seconds, report)
    show_rows(rows, as_json, lambda: rebel_table(rows))


@bench.command("training", epilog="Example: sog bench training connect_four --played 64")
def bench_training(
    checkpoints: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CHECKPOINT_OR_GAME]...", help="Runs' folders, or games; by default a built-in list."),
    ] = None,
    played: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_COUNT, help="Self-play games of each game; else as set for it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """A round of self-play examined: do its searches grow, are its policy targets more than one move.

    One round with the settings of the preset demo and the run's network, of a game the shipped one or an untrained one.
    searches: of self-play's moves. grown: the share of them that grew their budget or all that was left of the game; an
    expansion counts if its trajectory drew a world at the searched state. one-hot: policy targets with a move above
    0.99, where there is a choice. distinct: public states among the states visited. won: games not drawn or cut short.
    """
    from sog.games.catalog import make_game
    from soglab.bench.rounds import GAMES, bench_rounds

    chosen = []
    for text in checkpoints or GAMES:
        trained, network = _network(text)
        name = trained if Path(text).exists() else make_game(text).name  # a network may play at another komi, too
        chosen.append((name, network, played or GAMES.get(name, 16)))
    with progress_bar("bench training", len(chosen), "games") as report:
        rows = bench_rounds(chosen, report)
    show_rows(rows, as_json, lambda: rounds_table(rows))


def _budgets(simulations: list[int] | None, per_update: list[float] | None) -> list[Budget]:
    """Every s with every c that were asked for, as `sog exploit` completes one without the other; none if neither."""
    from sog.searches.gtcfr.search import Budget

    if not simulations and not per_update:
        return []
    return [Budget(s, c) for s in simulations or (100,) for c in per_update or (1.0,)]


def _network(checkpoint: str) -> tuple[str, CVPN]:
    """The game and the network that a checkpoint or a game string names, a new one where none is shipped."""
    from sog.algorithms.table import settings_of
    from sog.games.catalog import make_game
    from sog.nets.cvpn import CVPN
    from sog.training.opened import value_network
    from sog.training.shipped import named_checkpoint

    folder = named_checkpoint(checkpoint)
    if folder is None:
        game = make_game(checkpoint)
        stderr().print(f"no checkpoint is shipped for {game.name}: an untrained network")
        return game.name, CVPN(settings_of(game, "full").shape)
    return value_network(folder)

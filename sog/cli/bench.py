"""`sog bench`: our speed beside other solvers', and where our own time goes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from sog.cli.frame import JsonOption, print_json, progress_bar, stderr, stdout
from sog.cli.options import LARGEST_COUNT, HistoriesOption, UpdatesOption, above_zero
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.experiments.bench.cfr import Row as CfrRow
    from sog.experiments.bench.root import Row as RootRow
    from sog.experiments.bench.rounds import Row as RoundRow
    from sog.experiments.bench.search import Row
    from sog.experiments.bench.training import Part
    from sog.nets.cvpn import CVPN
    from sog.search.gtcfr.search import Budget

bench = typer.Typer(help="Measure speed: beside other programs, and part by part.", epilog="Example: sog bench cfr")


@bench.callback()
def _bench() -> None:
    pass


@bench.command("cfr", epilog='Example: sog bench cfr --games leduc_poker --games "liars_dice(numdice=1,dice_sides=5)"')
def bench_cfr(
    games: Annotated[list[str] | None, typer.Option(help="A game string; give the option once for each game.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Five small games instead of all.")] = False,
    rounds: Annotated[int, typer.Option(min=1, max=LARGEST_COUNT, help="How many times the solvers take turns.")] = 9,
    as_json: JsonOption = False,
) -> None:
    """CFR+ on whole games, ours, OpenSpiel's and LiteEFG's: microseconds per iteration, seconds to exploitability 1e-3.

    The solvers take turns in one run; medians of processor time count. Exploitability is the mean over both players,
    in the game's utilities (chips in poker); measuring it is not counted, nor is setting up, which has its own column.
    LiteEFG is left out where it is not installed.
    """
    from sog.experiments.bench.cfr import GAMES, QUICK_GAMES, bench_games
    from sog.experiments.bench.cfr_solvers import has_liteefg
    from sog.games.catalog import make_game

    chosen = games or (QUICK_GAMES if quick else GAMES)
    for name in games or ():
        make_game(name)  # one that does not exist is refused before the work
    if not has_liteefg():
        stderr().print("LiteEFG is not installed (pip install 'sog[bench]'): left out", markup=False)
    with progress_bar("bench cfr", len(chosen), "games") as report:
        rows = bench_games(chosen, rounds, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    stdout().print(_cfr_table(rows))


def _cfr_table(rows: Sequence[CfrRow]) -> Table:
    from sog.experiments.bench.cfr import TARGET, fastest_other

    out = Table("game", "solver", box=None, pad_edge=False)
    for heading in ("us/iteration", "x ours", f"seconds to {TARGET:g}", "x ours", "iterations", "setup, s"):
        out.add_column(heading, justify="right")
    game = ""
    for row in rows:
        reached = ("not in 30", "", "")
        if row.seconds_to_target is not None:
            ratio = "" if row.target_ratio is None else f"{row.target_ratio:,.3g}"
            reached = (f"{row.seconds_to_target:.3g}", ratio, f"{row.iterations_to_target:,}")
        speed = (f"{row.us_per_iteration:,.4g}", f"{row.ratio_to_ours:,.3g}")
        out.add_row("" if row.game == game else row.game, row.solver, *speed, *reached, f"{row.setup_seconds:.2g}")
        game = row.game
    iteration, to_target = fastest_other(rows)
    told = "" if to_target is None else f", {to_target:.3g} x to {TARGET:g}"
    out.caption = f"the fastest other solver takes {iteration:.3g} x our time an iteration{told}"
    return out


@bench.command("search", epilog="Example: sog bench search leduc_poker --search 100,1 --no-training")
def bench_search(
    checkpoint: Annotated[
        str, typer.Argument(metavar="[CHECKPOINT_OR_GAME]", help="A run's folder, or a game.")
    ] = "leduc_poker",
    search: Annotated[list[str] | None, typer.Option(help="A budget s,c; repeat for several. By default four.")] = None,
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
    beside_openspiel: Annotated[
        bool, typer.Option("--beside-openspiel", help="Instead: simulations per second beside OpenSpiel's MCTS.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Where the time of a search and of a minute of training goes.

    Searches are those of self-play. A game without a shipped checkpoint gets an untrained network, as fast as
    a trained one.
    """
    from sog.experiments.bench.search import BUDGETS, SIDE_BY_SIDE, bench_searches
    from sog.experiments.bench.training import profile_training
    from sog.games.catalog import make_game

    if beside_openspiel:
        _beside_openspiel(rounds, as_json)
        return
    budgets = [_budget(text) for text in search] if search else BUDGETS
    name, network = _network(checkpoint)
    game = make_game(name)
    with progress_bar("bench search", len(budgets) * len(SIDE_BY_SIDE), "rows") as report:
        rows = bench_searches(game, network, budgets, rounds, batch_seconds, report)
    parts: list[Part] = []
    if training:
        stderr().print(f"training {game.name} twice for {training_seconds:g} seconds", markup=False)
        parts = profile_training(game.name, "full", training_seconds, os.cpu_count() or 1)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows], "training": [asdict(part) for part in parts]})
        return
    stdout().print(_search_table(rows))
    if parts:
        stdout().print(_training_table(game.name, parts))


@bench.command("root", epilog="Example: sog bench root 'holdem(bets=0.5;1.0;allin)' --search 10,0.1")
def bench_root_search(
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="A game string.")] = "holdem(bets=0.5;1.0;allin)",
    search: Annotated[list[str] | None, typer.Option(help="A budget s,c; repeat for more. 10,0.1 and 100,1.")] = None,
    width: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Units in each hidden layer of the untrained network.")
    ] = 256,
    depth: Annotated[int, typer.Option(min=1, max=1_000, help="Hidden layers of that network.")] = 3,
    rounds: Annotated[
        int, typer.Option(min=1, max=LARGEST_COUNT, help="Searches with each budget; the median is shown.")
    ] = 3,
    as_json: JsonOption = False,
) -> None:
    """Seconds and memory of a search from a game's first decision, and where the time goes.

    By default the whole of heads-up no-limit hold'em, 1,326 hands a player.
    """
    from sog.experiments.bench.root import bench_root
    from sog.games.catalog import make_game
    from sog.nets.cvpn import CVPN
    from sog.nets.shape import shape_for

    budgets = [_budget(text) for text in search or ("10,0.1", "100,1")]
    made = make_game(game)
    network = CVPN(shape_for(made, width, depth, crossed=made.crossed))
    with progress_bar("bench root", len(budgets), "budgets") as report:
        rows = bench_root(made, network, budgets, report, rounds)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows], "load": os.getloadavg()[0]})
        return
    stdout().print(_root_table(rows))


def _root_table(rows: Sequence[RootRow]) -> Table:
    title = f"{rows[0].game}: first decision, {rows[0].network} untrained, one core; load {os.getloadavg()[0]:.1f}"
    out = Table("search", title=title, box=None)
    for row in rows:
        out.add_column(row.search, justify="right")
    out.add_row("seconds", *(f"{row.seconds:,.2f}" for row in rows))
    out.add_row("processor seconds", *(f"{row.processor_seconds:,.2f}" for row in rows))
    out.add_row("nodes", *(f"{row.nodes:,}" for row in rows))
    out.add_row("leaves", *(f"{row.leaves:,}" for row in rows))
    out.add_row("leaf beliefs answered", *(f"{row.beliefs:,}" for row in rows))
    out.add_row("ms an iteration", *(f"{row.iteration_ms:,.2f}" for row in rows))
    out.add_row("tree, MB", *(f"{row.tree_megabytes:,.0f}" for row in rows))
    out.add_row("process at its largest, MB", *(f"{row.peak_megabytes:,.0f}" for row in rows))
    for name in ("network", "sweep", "growth", "python"):
        out.add_row(f"share: {name}", *(f"{getattr(row, name + '_share'):.1%}" for row in rows))
    for part in rows[0].part_ms:
        out.add_row(f"{part}, ms on the last tree", *(f"{row.part_ms[part]:,.3f}" for row in rows))
    return out


def _beside_openspiel(rounds: int, as_json: bool) -> None:
    """Simulations a second of perfect-information search."""
    from sog.experiments.bench.simulations import GAMES, bench_simulations

    with progress_bar("bench search", len(GAMES), "games") as report:
        rows = bench_simulations(GAMES, _SIMULATIONS, rounds, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    table = Table("game", "search", "network", title="simulations from the first position, one core", box=None)
    for heading in ("per s", "network"):
        table.add_column(heading, justify="right")
    for row in rows:
        speed, share = f"{row.simulations_per_second:,.4g}", f"{row.network_share:.0%}"
        table.add_row(row.game, row.search, row.network, speed, share)
    stdout().print(table)


_SIMULATIONS = 400


@bench.command("histories", epilog="Example: sog bench histories --games leduc_poker --seconds 2")
def bench_by_histories(
    games: Annotated[list[str] | None, typer.Option(help="A game string; give the option once for each game.")] = None,
    width: Annotated[int, typer.Option(min=1, max=100_000, help="Of the network's two hidden layers.")] = 256,
    seconds: Annotated[float, typer.Option(callback=above_zero, help="Of each figure, at least.")] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Episodes a second of one core: random play, the actor with a network, and R-NaD's play and learning together."""
    from sog.experiments.bench.histories import GAMES, bench_histories
    from sog.games.histories.catalog import make_history_game

    chosen = tuple(games or GAMES)
    for name in chosen:
        make_history_game(name)  # one that does not exist is refused before the work
    with progress_bar("bench histories", len(chosen), "games") as report:
        rows = bench_histories(chosen, width, seconds, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    table = Table("game", box=None, pad_edge=False)
    for heading in ("decisions", "random games/s", f"with 2x{width} /s", "with R-NaD /s"):
        table.add_column(heading, justify="right")
    for row in rows:
        figures = (f"{row.decisions:.1f}", *(f"{rate:,.0f}" for rate in (row.random, row.actor, row.learning)))
        table.add_row(row.game, *figures)
    stdout().print(table)


@bench.command("sepot", epilog="Example: sog bench sepot --games leduc_poker --played 4")
def bench_sepot_search(
    games: Annotated[list[str] | None, typer.Option(help="A game string; give the option once for each game.")] = None,
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
    from sog.experiments.bench.sepot_search import GAMES, PARTS, bench_sepot
    from sog.games.histories.catalog import make_history_game
    from sog.search.sepot.search import SearchSettings

    chosen, plain = tuple(games or GAMES), SearchSettings()
    for name in chosen:
        make_history_game(name)  # one that does not exist is refused before the work
    settings = SearchSettings(updates or plain.iterations, most=histories or plain.most)
    with progress_bar("bench sepot", len(chosen), "games") as report:
        rows = bench_sepot(chosen, played, settings, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    table = Table("game", box=None, pad_edge=False)
    for heading in ("histories", "searches", "median", "ms", *PARTS, "MB"):
        table.add_column(heading, justify="right")
    for row in rows:
        size = f"{row.above:,} to {row.most:,}" if row.most else "too many"
        shares = (f"{row.shares[part]:.0%}" for part in PARTS)
        figures = f"{row.searches}", f"{row.histories:,}", f"{row.milliseconds:,.3g}"
        table.add_row(row.game, size, *figures, *shares, f"{row.megabytes:,.3g}")
    stdout().print(table)


@bench.command("rebel", epilog="Example: sog bench rebel --seconds 5")
def bench_rebel(
    games: Annotated[list[str] | None, typer.Option(help="A game string; give the option once for each game.")] = None,
    seconds: Annotated[float, typer.Option(callback=above_zero, help="Seconds of work for each row, at least.")] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Depth-limited subgames (1,024 updates, depth 2) that one core solves per second, and the network's share."""
    from sog.experiments.bench.rebel import GAMES, row_count
    from sog.experiments.bench.rebel import bench_rebel as measure
    from sog.games.catalog import make_game

    chosen = [make_game(name) for name in games or GAMES]
    with progress_bar("bench rebel", row_count(len(chosen)), "rows") as report:
        rows = measure(chosen, seconds, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    out = Table("game", "network", "setting", title="subgames solved a second, one core", box=None)
    for heading in ("solves/s", "network"):
        out.add_column(heading, justify="right")
    for row in rows:
        speed, share = f"{row.solves_per_second:,.4g}", f"{row.network_share:.0%}"
        out.add_row(row.game, row.network, row.setting, speed, share)
    stdout().print(out)


@bench.command("training", epilog="Example: sog bench training --games connect_four --played 64")
def bench_training(
    games: Annotated[
        list[str] | None, typer.Option(help="A game string, or a run's folder; repeat for several.")
    ] = None,
    played: Annotated[
        int | None, typer.Option(min=1, max=LARGEST_COUNT, help="Self-play games of each game; else as set for it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What a round of self-play is worth: do its searches grow, are its policy targets more than one move.

    One round with the settings of the preset demo and the run's network, of a game the shipped one or an untrained one.
    searches: of self-play's moves. grown: the share of them that grew their budget or all that was left of the game; an
    expansion counts if its trajectory drew a world at the searched state. one-hot: policy targets with a move above
    0.99, where there is a choice. distinct: public states among the states visited. won: games not drawn or cut short.
    """
    from sog.experiments.bench.rounds import GAMES, bench_rounds
    from sog.games.catalog import make_game

    chosen = []
    for text in games or GAMES:
        trained, network = _network(text)
        name = trained if Path(text).exists() else make_game(text).name  # a network may play at another komi, too
        chosen.append((name, network, played or GAMES.get(name, 16)))
    with progress_bar("bench training", len(chosen), "games") as report:
        rows = bench_rounds(chosen, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    stdout().print(_rounds_table(rows))


def _rounds_table(rows: Sequence[RoundRow]) -> Table:
    out = Table("game", title="one round of self-play, settings of the preset demo", box=None)
    for heading in ("searches", "grown", "one-hot", "distinct", "won"):
        out.add_column(heading, justify="right")
    for row in rows:
        shares = row.grown_share, row.one_hot_share, row.distinct_positions_share, row.won_share
        out.add_row(row.game, f"{row.searches:,}", *(f"{share:.1%}" for share in shares))
    return out


def _budget(text: str) -> Budget:
    """(s, c) from `100,0.1`."""
    from sog.search.gtcfr.search import Budget

    try:
        simulations, per_update = text.strip("()").split(",")
        return Budget(int(simulations), float(per_update))
    except ValueError:
        raise SettingError(f"--search is s,c such as 100,0.1, not {text}") from None


def _network(checkpoint: str) -> tuple[str, CVPN]:
    """The game and the network that a checkpoint or a game string names, a new one where none is shipped."""
    from sog.agents.algorithms.table import preset
    from sog.agents.shipped import find_checkpoint, shipped_checkpoints
    from sog.games.catalog import make_game
    from sog.nets.cvpn import CVPN
    from sog.train.checkpoint import load_meta, load_network

    if not Path(checkpoint).exists():
        game = make_game(checkpoint)
        if game.name not in {load_meta(folder).game for folder in shipped_checkpoints()}:
            stderr().print(f"no checkpoint is shipped for {game.name}: an untrained network", markup=False)
            return game.name, CVPN(preset(game, "full").shape)
    name, network, _ = load_network(find_checkpoint(checkpoint))
    return name, network


def _search_table(rows: Sequence[Row]) -> Table:
    out = Table("search", title=f"{rows[0].game}: searches of self-play, {rows[0].network}, one core", box=None)
    for heading in ("at once", "per s", "us/iter.", "network", "down", "up", "finish", "growth", "Python"):
        out.add_column(heading, justify="right")
    for row in rows:
        speeds = f"{row.searches_per_second:,.4g}", f"{row.us_per_iteration:,.4g}"
        sweeps = row.down_share, row.up_share, row.finish_share
        shares = row.network_share, *sweeps, row.growth_share, row.python_share
        out.add_row(row.search, str(row.side_by_side), *speeds, *(f"{share:.0%}" for share in shares))
    return out


def _training_table(game: str, parts: Sequence[Part]) -> Table:
    out = Table("process", "part", title=f"{game}: one training minute", box=None)
    out.add_column("seconds", justify="right")
    out.add_column("share", justify="right")
    who = ""
    for part in parts:
        out.add_row("" if part.who == who else part.who, part.part, f"{part.seconds:.1f}", f"{part.share:.0%}")
        who = part.who
    return out

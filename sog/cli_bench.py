"""`sog bench`: our speed beside other solvers'."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sog.cli_frame import JsonOption, check_count, print_json, progress_bar, stderr

bench = typer.Typer(help="Measure speed beside other solvers.", epilog="Example: sog bench cfr")


@bench.callback()
def _bench() -> None:
    pass


@bench.command("cfr", epilog='Example: sog bench cfr --games leduc_poker --games "liars_dice(numdice=1,dice_sides=5)"')
def bench_cfr(
    games: Annotated[list[str] | None, typer.Option(help="A game string; give the option once for each game.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also Liar's Dice 1x6 and 2x3, a minute or two more.")
    ] = False,
    rounds: Annotated[int, typer.Option(help="How many times the solvers take turns.")] = 9,
    as_json: JsonOption = False,
) -> None:
    """Microseconds an iteration of CFR+ on whole games: ours, OpenSpiel's and LiteEFG's.

    The solvers take turns in one run and medians count. LiteEFG is left out where it is not installed.
    """
    from sog.experiments.bench_cfr import GAMES, LARGE_GAMES, bench_games, has_liteefg
    from sog.games.catalog import make_game

    check_count("--rounds", rounds)
    chosen = [make_game(name) for name in games or (*GAMES, *(LARGE_GAMES if everything else ()))]
    if not has_liteefg():
        stderr().print("LiteEFG is not installed (pip install 'sog[bench]'): left out", markup=False)
    with progress_bar("bench cfr", len(chosen), "games") as report:
        rows = bench_games(chosen, rounds, report)
    if as_json:
        print_json({"rows": [asdict(row) for row in rows]})
        return
    game = ""
    for row in rows:
        if row.game != game:
            game = row.game
            print(game)
        print(f"  {row.solver:<23} {row.us_per_iteration:>10,.4g} us/iteration  {row.ratio_to_ours:>7,.3g} x ours")

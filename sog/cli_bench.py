"""`sog bench`: our speed beside other solvers'."""

from __future__ import annotations

import typer

bench = typer.Typer(help="Measure speed beside other solvers.", epilog="Example: sog bench cfr")


@bench.callback()
def _bench() -> None:
    pass

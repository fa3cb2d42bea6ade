"""The laboratory's commands, `sog bench` and `sog reproduce`, added to the command line by an entry point."""

from __future__ import annotations

from typing import Final

import typer

from soglab.cli.bench import bench
from soglab.cli.bench_cluster import bench_inference, bench_pipeline
from soglab.cli.reproduce import reproduce

__all__ = ["add_to"]

PANEL: Final = "Laboratory"


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command(epilog="Example: sog reproduce resolving --quick", rich_help_panel=PANEL)(reproduce)
    bench.command("inference", epilog="Example: sog bench inference --network 3x256 --batch 64")(bench_inference)
    bench.command("pipeline", epilog="Example: sog bench pipeline leduc_poker --seconds 60")(bench_pipeline)
    app.add_typer(bench, name="bench", rich_help_panel=PANEL)

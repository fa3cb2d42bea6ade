"""Draws a training run's curve.png from its curve.csv: losses, and exploitability where it was measured."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from sog.cli.frame import say

__all__ = ["draw_curve"]


def draw_curve(folder: Path, game: str, unit: str, measure: str) -> None:
    """Write curve.png into the run's folder, if it has a point; says so where it cannot be written.

    unit: of exploitability.  measure: what was measured, in words.
    """
    from matplotlib.figure import Figure

    from sog.training.curve import CURVE, PICTURE

    with (folder / CURVE).open() as file:
        rows = [{name: float(x) for name, x in row.items()} for row in csv.DictReader(file)]
    if not rows:
        return
    measured = [(row["minutes"], row["measured"]) for row in rows if not math.isnan(row["measured"])]
    figure = Figure(figsize=(11.0 if measured else 6.0, 4.0), layout="constrained")
    panels = figure.subplots(1, 1 + bool(measured), squeeze=False)[0]
    for name in ("value_loss", "policy_loss"):
        panels[0].plot([row["minutes"] for row in rows], [row[name] for row in rows], label=name.replace("_", " "))
    panels[0].set(xlabel="minutes", ylabel="loss", title=f"{game}: learning")
    if any(row[name] <= 0.0 for row in rows for name in ("value_loss", "policy_loss")):  # a policy learner's may be
        panels[0].set_yscale("symlog", linthresh=0.01)
    else:
        panels[0].set_yscale("log")
    panels[0].legend()
    if measured:
        panels[1].plot(*zip(*measured, strict=True), marker=".")
        panels[1].set(xlabel="minutes", ylabel=unit, yscale="log", title=f"exploitability of {measure}")
    try:
        figure.savefig(folder / PICTURE, dpi=120)
    except OSError as error:
        say(f"{folder / PICTURE} cannot be written: {error.strerror}")

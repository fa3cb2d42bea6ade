"""`sog bench inference` and `sog bench pipeline`: what a cluster is planned with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from sog.cli.frame import (
    JsonOption,
    check_new,
    figures_table,
    print_json,
    progress_bar,
    save_picture,
    show_rows,
    stdout,
)
from sog.cli.options import MOST_PROCESSES, above_zero, not_blank
from sog.errors import SettingError

if TYPE_CHECKING:
    from soglab.scale.inference import Row
    from soglab.scale.pipeline import Measured, Plan, Throughput

__all__ = ["bench_inference", "bench_pipeline"]

_LARGEST_BATCH: Final = 65_536  # rows; more need gigabytes


def bench_inference(
    network: Annotated[
        list[str] | None, typer.Option(help="Only networks whose name holds this, such as 3x256; repeat for more.")
    ] = None,
    device: Annotated[
        list[str] | None, typer.Option(help="cpu, cuda or cuda:N; repeat for more. By default all there are.")
    ] = None,
    precision: Annotated[list[str] | None, typer.Option(help="f32 or bf16; by default f32, on CUDA both.")] = None,
    mode: Annotated[list[str] | None, typer.Option(help="eager or compiled; by default both.")] = None,
    batch: Annotated[
        list[int] | None,
        typer.Option(min=1, max=_LARGEST_BATCH, help="A batch size; repeat for more. By default six."),
    ] = None,
    seconds: Annotated[float, typer.Option(callback=above_zero, help="Seconds for each row of the table.")] = 1.0,
    limit: Annotated[
        float, typer.Option(callback=above_zero, help="No row for which five calls would take longer, in seconds.")
    ] = 20.0,
    threads: Annotated[
        int, typer.Option(min=1, max=MOST_PROCESSES, help="Processor threads of a network on the CPU.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Rows a second that a network answers, and the 95th percentile of a call, by batch size.

    The networks are 3x256 on Leduc poker's inputs, 6x2048 on hold'em's (1,326 hands a player) and a residual one of 6
    blocks and 64 channels on chess's, with random weights. Compiled means torch.compile, on CUDA with CUDA graphs.
    """
    import torch

    from sog.nets.device import find_device
    from sog.nets.serving.resident import MODES, PRECISIONS, Residence
    from soglab.scale.inference import BATCHES, NETWORKS, devices
    from soglab.scale.inference import bench_inference as measure

    chosen = [s for s in NETWORKS if not network or any(part in s.name for part in network)]
    if not chosen:
        raise SettingError(f"no network's name holds {network}; known: {', '.join(s.name for s in NETWORKS)}")
    sizes = tuple(sorted(set(batch or BATCHES)))
    residences = [
        Residence(where, how, mode=which, buckets=sizes)
        for where in device or devices()
        for how in precision or (PRECISIONS if find_device(where).type == "cuda" else ("f32",))
        for which in mode or MODES
    ]
    torch.set_num_threads(threads)
    with progress_bar("bench inference", len(chosen) * len(residences) * len(sizes), "rows") as report:
        rows = measure(chosen, residences, sizes, seconds, limit, report)
    show_rows(rows, as_json, lambda: _inference_table(rows))


def _inference_table(rows: Sequence[Row]) -> Table:
    """Rows a second and milliseconds a call; a column for each batch size."""
    sizes = list(dict.fromkeys(row.batch for row in rows))
    keys, title = ("network", "device", "precision", "mode", ""), "one evaluator, by batch size"
    out = figures_table(*keys, figures=(f"{size:,}" for size in sizes), title=title)
    found = {(row.network, row.device, row.precision, row.mode, row.batch): row for row in rows}
    for which in dict.fromkeys(key[:4] for key in found):
        line = [found[*which, size] for size in sizes]
        speeds = ["-" if row.rows_per_second is None else f"{row.rows_per_second:,.4g}" for row in line]
        delays = ["-" if row.p95_ms is None else f"{row.p95_ms:,.3g}" for row in line]
        out.add_row(*which, "rows/s", *speeds)
        out.add_row("", "", "", "", "p95, ms", *delays)
    reasons = dict.fromkeys(f"{row.network} {row.device} {row.mode}: {row.why}" for row in rows if row.why)
    out.caption = "\n".join(reasons) or None
    return out


def bench_pipeline(
    game: Annotated[str, typer.Argument(metavar="[GAME]", help="A game string.")] = "leduc_poker",
    algorithm: Annotated[str, typer.Option(callback=not_blank, help="The algorithm: sog, alphazero or rebel.")] = "sog",
    preset: Annotated[str, typer.Option(callback=not_blank, help="demo, full or paper.")] = "full",
    seconds: Annotated[
        float, typer.Option(callback=above_zero, help="Seconds of each run, and of self-play alone.")
    ] = 60.0,
    workers: Annotated[
        list[int] | None,
        typer.Option(min=1, max=MOST_PROCESSES, help="Worker processes; repeat. By default 1 and 2."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="A PNG of rows a second by actors, to be written.")] = None,
    as_json: JsonOption = False,
) -> None:
    """What one core does in each part of training, what a simulation of the pipeline makes of it, and what is measured.

    Training is run from scratch with one process and with two, and a simulation of discrete events predicts both from
    the rates of the parts. It then says what 3,500 actors (PoG) and 90 machines of 40 cores (ReBeL) would bring in,
    over links of 10 Gbit/s, and which resource they would saturate.
    """
    from sog.algorithms.table import read
    from sog.games.catalog import make_game
    from sog.training.memory import check_memory
    from soglab.scale.pipeline import Subject, Throughput, measure_rates, measure_throughput, plans, predicted

    if picture is not None:
        check_new(picture)
    counts = list(dict.fromkeys(workers or (1, 2)))
    if read(algorithm).alone:
        raise SettingError(f"{algorithm} learns in one process, which is no pipeline")
    subject = Subject(make_game(game).name, algorithm, preset)
    check_memory(subject.settings().needed_bytes(), subject.game, saves=False)
    found = []
    with progress_bar("bench pipeline", len(counts) + 2, "parts") as report:
        for done, count in enumerate(counts):
            report(done, f"{count} worker{'s' * (count > 1)}")
            speed, network = measure_throughput(subject, count, seconds)
            found.append((count, speed))
        measured = measure_rates(subject, network, seconds, lambda part: report(len(counts), part))
        runs = [Throughput(count, speed, predicted(measured, count)) for count, speed in found]
        report(len(counts) + 1, "simulation")
        planned = plans(measured)
    if as_json:
        answer = {"game": subject.game, "algorithm": algorithm, "preset": preset, "load": os.getloadavg()[0]}
        rates = {name: value for name, value in asdict(measured.rates).items() if name != "plays"}
        extra = {"play": measured.rates.play, "searches_per_second": measured.searches_per_second}
        more = {"beliefs_per_row": measured.beliefs_per_row, "inference": measured.inference}
        compared = [{**asdict(run), "error": run.error, "core_error": run.core_error} for run in runs]
        listed = [plan.entries() for plan in planned]
        print_json({**answer, "rates": {**rates, **extra, **more}, "runs": compared, "plans": listed})
    else:
        stdout().print(_rates_table(subject.game, measured))
        stdout().print(_runs_table(runs))
        stdout().print(_plans_table(planned))
    if picture is not None:  # last, so that a disk that refuses it costs no result
        _draw_plans(picture, subject.game, planned)


def _rates_table(game: str, measured: Measured) -> Table:
    rates = measured.rates
    out = figures_table("part", figures=("",), title=f"{game}: one core; load {os.getloadavg()[0]:.1f}")
    out.add_row("self-play, rows/s", f"{1 / rates.play:,.1f}")
    out.add_row("self-play, searches and query solves/s", f"{measured.searches_per_second:,.1f}")
    out.add_row("leaf beliefs a row", f"{measured.beliefs_per_row:,.0f}")
    out.add_row(f"learner, steps/s of {rates.batch} rows", f"{1 / rates.step:,.1f}")
    out.add_row("a row, bytes", f"{rates.row_bytes:,.0f}")
    for name, each in (("packed", rates.pack), ("unpacked", rates.unpack), ("into the replay window", rates.add)):
        out.add_row(f"rows {name}, MB/s", f"{1e-6 * rates.row_bytes / each:,.0f}")
    out.add_row(
        "weights, MB; ms out, ms in",
        f"{1e-6 * rates.weights_bytes:.2f}; {1e3 * rates.save:.1f}, {1e3 * rates.load:.1f}",
    )
    for size, speed in measured.inference.items():
        out.add_row(f"network, rows/s in batches of {size:,}", f"{speed:,.0f}")
    return out


def _runs_table(runs: Sequence[Throughput]) -> Table:
    headings = ("rows/s", "predicted", "error", "rows a core second", "predicted", "error")
    out = figures_table("workers", figures=headings, title="sog train; a core second is a second of processor time")
    for run in runs:
        figures = []
        for name, error in (("rows_per_second", run.error), ("rows_per_core_second", run.core_error)):
            figures += [f"{getattr(speed, name):,.1f}" for speed in (run.measured, run.predicted)] + [f"{error:+.1%}"]
        out.add_row(str(run.workers), *figures)
    return out


def _plans_table(planned: Sequence[Plan]) -> Table:
    headings, title = ("in use", "rows/s", "MB/s", "actors that saturate it"), "without rounds, simulated"
    out = figures_table("cluster", "learner", "saturated", figures=headings, title=title)
    for plan in planned:
        figures = f"{plan.found.rows_per_second:,.0f}", f"{1e-6 * plan.found.bytes_per_second:,.1f}"
        share = f"{plan.found.shares[plan.found.busiest]:.0%}"
        out.add_row(plan.scenario, plan.learner, plan.found.busiest, share, *figures, f"{plan.enough:,.0f}")
    return out


def _draw_plans(path: Path, game: str, planned: Sequence[Plan]) -> None:
    """Rows a second by number of actors, simulated, with what each resource alone could bear."""
    from matplotlib.figure import Figure

    lines = -(-len(planned) // 2)
    figure = Figure(figsize=(11.0, 3.8 * lines), layout="constrained")
    for axes, plan in zip(figure.subplots(lines, 2, squeeze=False).ravel(), planned, strict=False):
        axes.plot(*zip(*plan.curve, strict=True), marker="o", label="simulated")
        axes.set(xscale="log", yscale="log", xlabel="actors", ylabel="rows a second")
        axes.set_title(f"{game}: {plan.scenario}\nlearner: {plan.learner}", fontsize=10)
        for number, (name, bound) in enumerate(plan.flat.items()):
            axes.axhline(bound, linestyle=":", color=f"C{number + 1}", label=f"{name} alone")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    save_picture(figure, path)

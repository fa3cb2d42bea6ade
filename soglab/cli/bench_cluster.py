"""`sog bench inference` and `sog bench pipeline`: what a cluster is planned with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from sog.cli.frame import (
    JsonOption,
    check_new,
    figures_table,
    print_json,
    print_table,
    progress_bar,
    save_picture,
)
from sog.cli.options import MOST_PROCESSES, above_zero, not_blank
from sog.errors import SettingError
from soglab.cli.bench import run

if TYPE_CHECKING:
    from soglab.scale.pipeline import ClusterPlan, MeasuredCore

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
    from soglab.scale.inference import BATCHES, INFERENCE, NETWORKS, devices
    from soglab.scale.inference import bench_inference as measure

    chosen = [s for s in NETWORKS if not network or any(part in s.name for part in network)]
    if not chosen:
        raise SettingError(f"no network's name holds {network}; known: {', '.join(s.name for s in NETWORKS)}")
    sizes = tuple(sorted(set(batch or BATCHES)))
    residences = [
        Residence(device_name, dtype, mode=execution, buckets=sizes)
        for device_name in device or devices()
        for dtype in precision or (PRECISIONS if find_device(device_name).type == "cuda" else ("f32",))
        for execution in mode or MODES
    ]
    torch.set_num_threads(threads)
    total = len(chosen) * len(residences) * len(sizes)
    run(INFERENCE, total, partial(measure, chosen, residences, sizes, seconds, limit), as_json)


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
    from sog.training.run import Run
    from soglab.bench.form import table
    from soglab.scale.pipeline import PLANS, RUNS, compared, measure_rates, measure_throughput, pipeline_settings, plans

    if picture is not None:
        check_new(picture)
    counts = list(dict.fromkeys(workers or (1, 2)))
    if read(algorithm).alone:
        raise SettingError(f"{algorithm} learns in one process, which is no pipeline")
    alone = Run(make_game(game).name, preset, 0, 1, algorithm)
    check_memory(pipeline_settings(alone).needed_memory(), alone.game)
    speeds = []
    with progress_bar("bench pipeline", len(counts) + 2, "parts") as report:
        for done, count in enumerate(counts):
            report(done, f"{count} worker{'s' * (count > 1)}")
            speed, network = measure_throughput(replace(alone, workers=count), seconds)
            speeds.append((count, speed))
        measured = measure_rates(alone, network, seconds, lambda part: report(len(counts), part))
        runs = [compared(measured, count, speed) for count, speed in speeds]
        report(len(counts) + 1, "simulation")
        planned = plans(measured)
    if as_json:
        answer = {"game": alone.game, "algorithm": algorithm, "preset": preset, "load": os.getloadavg()[0]}
        rates = {name: value for name, value in asdict(measured.rates).items() if name != "plays"}
        extra = {"play": measured.rates.play, "searches_per_second": measured.searches_per_second}
        more = {"beliefs_per_row": measured.beliefs_per_row, "inference": measured.inference}
        listed = [{name: value for name, value in asdict(plan).items() if name != "bounds"} for plan in planned]
        runs_listed = [asdict(run) for run in runs]
        print_json({**answer, "rates": {**rates, **extra, **more}, "runs": runs_listed, "plans": listed})
    else:
        print_table(_rates_table(alone.game, measured))
        print_table(table(RUNS, runs, {}))
        print_table(table(PLANS, planned, {}))
    if picture is not None:  # last, so that a disk that refuses it costs no result
        _draw_plans(picture, alone.game, planned)


def _rates_table(game: str, measured: MeasuredCore) -> Table:
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


def _draw_plans(path: Path, game: str, planned: Sequence[ClusterPlan]) -> None:
    """Rows a second by number of actors, simulated, with what each resource alone could bear."""
    from matplotlib.figure import Figure

    lines = -(-len(planned) // 2)
    figure = Figure(figsize=(11.0, 3.8 * lines), layout="constrained")
    for axes, plan in zip(figure.subplots(lines, 2, squeeze=False).ravel(), planned, strict=False):
        axes.plot(*zip(*plan.curve, strict=True), marker="o", label="simulated")
        axes.set(xscale="log", yscale="log", xlabel="actors", ylabel="rows a second")
        axes.set_title(f"{game}: {plan.scenario}\nlearner: {plan.learner}", fontsize=10)
        for number, (name, bound) in enumerate(plan.bounds.items()):
            axes.axhline(bound, linestyle=":", color=f"C{number + 1}", label=f"{name} alone")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    save_picture(figure, path)

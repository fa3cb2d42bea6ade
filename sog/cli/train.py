"""`sog train`: trains a network by any of the learning algorithms, with progress, curves and checkpoints."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sog.cli.frame import ClusterOption, JsonOption, Report, count_preflop, print_json, progress_bar, say, stdout
from sog.cli.options import AlgorithmOption, count, not_blank, own_folder, positive, processes, seed_of, word
from sog.cli.stopping import stop_notice
from sog.cli.train_watch import Watch, draw_curve
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.algorithms.base import Algorithm, Rules
    from sog.cluster.placement import Placement
    from sog.training.curve import Point
    from sog.training.run import Run, Until
    from sog.training.settings import RunSettings, TrainSettings
    from sog.training.stream.loop import Placed

__all__ = ["train"]


def train(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game string; `sog games` lists them.")],
    algorithm: AlgorithmOption = None,
    preset: Annotated[
        str,
        typer.Option(
            help="demo (about three minutes on two cores; longer on boards and by policy learners), full (until "
            "--minutes: hours on boards), "
            "paper; with --algorithm sog also pog, the preprint's settings."
        ),
    ] = "demo",
    minutes: Annotated[
        float | None,
        positive(
            "Stop after this many minutes, those in which kernels are compiled left out; schedules stay the "
            "preset's, however short the run."
        ),
    ] = None,
    processor_minutes: Annotated[
        float | None,
        positive(
            "Stop once the run, over all resumes, has used this many minutes of one processor, whatever else the "
            "machine does; for runs in one process, with --workers 1."
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        count(
            "Stop after this many rounds in total. In a round every worker plays a number of games (the preset's, or "
            "what takes half a minute; with --asynchronous one game) with one network, while the learner learns from "
            "the rounds before; in the first it learns nothing."
        ),
    ] = None,
    seed: Annotated[int, seed_of("Seed; with the numbers of workers and games it fixes the run to the bit.")] = 0,
    workers: Annotated[int | None, processes("Self-play processes; by default one per core.")] = None,
    out: Annotated[
        Path | None, typer.Option(callback=own_folder, help="The run's folder; by default runs/GAME.")
    ] = None,
    begins: Annotated[
        str | None,
        typer.Option(
            "--from",
            callback=not_blank,
            metavar="CHECKPOINT",
            help="Begin with this checkpoint's network (a folder, or a game's that ships), at its place in the "
            "schedules, instead of a new one.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out, if there is one.")] = False,
    device: Annotated[str, word("Where the learner runs: cpu, cuda or cuda:N.")] = "cpu",
    cluster: ClusterOption = None,
    asynchronous: Annotated[
        bool,
        typer.Option(
            "--asynchronous",
            help="No rounds: actors play while the learner learns, each in a process of its own that may die. No two "
            "such runs are alike.",
        ),
    ] = False,
    serve: Annotated[
        str | None,
        typer.Option(
            callback=not_blank,
            metavar="DEVICE",
            help="With --asynchronous on this machine: one process on this device, cpu or cuda, answers all actors' "
            "networks in batches.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a network by self-play: Student of Games' counterfactual value-and-policy network, or as --algorithm says.

    The folder gets checkpoint/ (for sog exploit and sog play), snapshots/, curve.csv, curve.png and, where TensorBoard
    is installed, tensorboard/. Ctrl-C and SIGTERM save the run first; a kill loses at most the work since the last
    checkpoint.
    """
    with stop_notice(lambda: "" if out is None or not out.exists() else _stop_notice(out)):
        from sog.algorithms.base import SOG
        from sog.algorithms.table import checked_settings, read
        from sog.training.run import Run, Until
        from sog.training.stream.loop import train_stream

        folder = out or Path("runs") / _slug(read(algorithm or SOG).rules(game).name)
        stored = _stored(folder, resume)
        learns = _algorithm(algorithm, stored)
        rules = learns.rules(game)
        placement = _placement(learns, cluster, workers, asynchronous)
        _refuse_unfit(placement, asynchronous, serve, processor_minutes)
        first = _begins(begins, stored, learns, asynchronous)
        run = Run(rules.name, preset, seed, placement.places, str(learns), not asynchronous, first)
        settings, until = checked_settings(rules, run), Until(minutes, rounds, processor_minutes)
        count_preflop(rules)
    with stop_notice(lambda: _stop_notice(folder)), _bar(rules, settings, stored, until) as bar:
        watch = Watch(rules, folder, bar, run, _begun(stored))
        if asynchronous:
            streamed = cast("TrainSettings", settings)
            placed = _placed(placement, device, serve)
            point = train_stream(run, streamed, folder, until, resume, watch.streamed(), placed)
        else:
            point = learns.loop(placement)(run, settings, folder, until, resume, watch.hooks(), device)
        watch.close()
    with stop_notice(lambda: f"the run in {folder} is complete; curve.png may be missing"):
        draw_curve(folder, rules.name, rules.unit.name, learns.measure_is)
    if as_json:
        measured = None if math.isnan(point.measured) else point.measured
        print_json(_answer(rules, run, folder, point, measured if watch.latest is None else watch.latest))
    else:
        _say_done(rules, folder, point)
        if minutes is not None and rounds is None and point.round >= settings.rounds and point.minutes < minutes:
            longer = "--rounds makes it longer" if preset == "full" else "--rounds or --preset full makes it longer"
            ended = f"{point.round} round{'s' * (point.round != 1)}"
            say(f"sog: the preset {preset} ends after {ended}, before --minutes {minutes:g}; {longer}")


def _refuse_unfit(placement: Placement, asynchronous: bool, serve: str | None, processor_minutes: float | None) -> None:
    """SettingError for options that this kind of run cannot have."""
    if serve is not None and not asynchronous:
        raise SettingError("--serve is for --asynchronous: what it answers depends on time, to the last bits")
    if processor_minutes is not None and (asynchronous or placement.kind != "local" or placement.places > 1):
        raise SettingError("--processor-minutes is for runs in one process: add --workers 1, leave out --asynchronous")


def _bar(rules: Rules, settings: RunSettings, stored: dict[str, Any], until: Until) -> AbstractContextManager[Report]:
    """A progress bar over the run's rounds, of which `stored` has some; time left is by what ends it first."""
    begun, used = _begun(stored), float(stored.get("processor_minutes", 0.0))
    processor = None if until.processor is None else until.processor - used
    return progress_bar(f"train {rules.name}", until.total(settings), "rounds", begun, until.minutes, processor)


def _begun(stored: dict[str, Any]) -> int:
    """Rounds that the run in the folder has already; 0 for a new one."""
    return int(stored.get("round", 0))


def _answer(rules: Rules, run: Run, folder: Path, point: Point, exploitability: float | None) -> dict[str, Any]:
    """What --json prints."""
    return {
        "game": rules.name,
        "algorithm": run.algorithm,
        "preset": run.preset,
        "out": str(folder),
        "rounds": point.round,
        "minutes": point.minutes,
        "first_step": _first_step(folder),
        "steps": point.steps,
        "rows": point.rows,
        "exploitability": exploitability,
        "unit": rules.unit.name,
    }


def _first_step(folder: Path) -> int:
    """The step of the network that the run began with: steps and rows count on from there; 0 for a new one."""
    from sog.training.checkpoint import is_begun, load_meta

    first = folder / "snapshots" / "000000"
    return load_meta(first).step if is_begun(first) else 0


def _say_done(rules: Rules, folder: Path, point: Point) -> None:
    """What was done, and what to do with it."""
    from sog.games.base import Game
    from sog.games.catalog import public_face

    rounds_done = f"{point.round} round{'s' * (point.round != 1)}"
    rows = f"{point.rows:,} row{'s' * (point.rows != 1)}"
    steps = f"{point.steps:,} steps on {rows}"
    if before := _first_step(folder):
        steps = f"{max(0, point.steps - before):,} steps after the first network's {before:,}"
    stdout().print(f"{rules.name}: {rounds_done}, {steps} in {point.minutes:.1f} minutes")
    if point.steps <= before:
        say("sog: the network is as it began: no rows were learned from yet; the run continues with --resume")
    listed = isinstance(rules, Game) or public_face(rules) is not None
    play = (
        f"play against it: sog play {quote(str(folder))}"
        if listed
        else f"{rules.name} has no public states to be played by"
    )
    stdout().print(f"checkpoint and curve.png in {folder}; {play}", soft_wrap=True)  # a command stays on one line
    if isinstance(rules, Game) and rules.perfect_information and point.steps:
        better = f"sog reproduce training-elo --run {quote(str(folder))}"
        stdout().print(f"its earlier networks against later ones, in Elo: {better}", soft_wrap=True)


def _placement(algorithm: Algorithm, cluster: str | None, workers: int | None, asynchronous: bool) -> Placement:
    """Where self-play runs; SettingError where the number of actors is not given, or there can be only one."""
    from sog.cluster.placement import Placement, placement_of

    if algorithm.alone:
        if cluster is not None or asynchronous:
            raise SettingError(f"{algorithm.name} learns in one process: leave out --cluster and --asynchronous")
        return Placement("local", workers or 1)
    placement = placement_of(cluster, workers)
    if not placement.places:
        raise SettingError(f"--cluster {cluster} needs --workers: how many self-play actors there are decides the run")
    return placement


def _placed(placement: Placement, device: str, serve: str | None) -> Placed:
    """Where a run without rounds has its parts.  serve: the evaluator process's device; on a GPU its network is
    compiled and in bfloat16."""
    from sog.nets.device import find_device
    from sog.nets.serving.resident import Residence
    from sog.training.stream.loop import Placed

    if serve is None:
        return Placed(placement, device, None)
    on_gpu = find_device(serve).type == "cuda"
    return Placed(placement, device, Residence(serve, "bf16", "compiled") if on_gpu else Residence(serve))


def _stop_notice(folder: Path) -> str:
    """What a stopped run leaves, and how to continue."""
    if not (folder / "checkpoint").exists():
        return f"no checkpoint was written to {folder} yet: run the same command to begin again"
    return f"the last checkpoint in {folder} is kept: the same command with --resume continues from there"


def _algorithm(wanted: str | None, stored: dict[str, Any]) -> Algorithm:
    """The wanted algorithm; what was not set is as in the run that continues, which `stored` describes."""
    from sog.algorithms.base import SOG
    from sog.algorithms.table import read
    from sog.training.settings import algorithm_text

    chosen = read(wanted or (algorithm_text(stored) if stored else SOG))
    if not stored:
        return chosen
    before = read(algorithm_text(stored))
    return before.varied(**chosen.given()) if before.name == chosen.name else chosen


def _stored(folder: Path, resume: bool) -> dict[str, Any]:
    """The settings of the run that continues; none for a new one."""
    from sog.training.checkpoint import is_begun, load_meta

    checkpoint = folder / "checkpoint"
    return load_meta(checkpoint).settings if resume and is_begun(checkpoint) else {}


def _begins(begins: str | None, stored: dict[str, Any], algorithm: Algorithm, asynchronous: bool) -> str:
    """The checkpoint that the run begins with; a run that continues, which `stored` describes, keeps its own."""
    from sog.algorithms.table import ALGORITHMS
    from sog.training.run import end_of
    from sog.training.shipped import find_checkpoint

    earlier = str(stored.get("begins", ""))
    if begins is None:
        return earlier
    if asynchronous or algorithm.alone:
        names = ", ".join(kind.name for kind in ALGORITHMS if not kind.alone)
        raise SettingError(f"--from is for runs in rounds, which these have: {names}; leave it out")
    checkpoint = str(find_checkpoint(begins, algorithm.name).resolve())
    return earlier if end_of(checkpoint) == earlier else checkpoint  # another is refused where the run is resumed


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "-" for c in name).strip("-")

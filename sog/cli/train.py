"""`sog train`: Student of Games learns a game, with progress, curves and checkpoints to resume from."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from sog.agents.algorithms.base import Choices
from sog.cli.curve_plot import draw_curve
from sog.cli.event_log import EventLog
from sog.cli.frame import ClusterOption, JsonOption, Report, print_json, progress_bar, say, stdout
from sog.cli.options import LARGEST_COUNT, LARGEST_SEED, MOST_PROCESSES, above_zero, not_blank
from sog.cli.stopping import say_kept
from sog.errors import SettingError

if TYPE_CHECKING:
    from sog.agents.algorithms.base import Rules, Training
    from sog.cluster.where import Where
    from sog.nets.cvpn import CVPN
    from sog.nets.serving.resident import Residence
    from sog.train.curve import Point
    from sog.train.run import Run
    from sog.train.settings import TrainSettings, Variant
    from sog.train.stream.supervisor import Supervisor

__all__ = ["train"]

# Games with more public states than this are trained without measuring exploitability on the way.
_MEASURED_STATES = 20_000


def train(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game string; `sog games` lists them.")],
    algorithm: Annotated[
        str,
        typer.Option(
            callback=not_blank,
            help="sog, rebel or alphazero (search and a value network); rnad, mmd or nashpg (a policy network, no "
            "search); sepot (a policy network, and a critic to search with).",
        ),
    ] = "sog",
    solver: Annotated[
        str | None, typer.Option(callback=not_blank, help="rebel: cfr-d (the default), fp or flop.")
    ] = None,
    warm: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_COUNT, help="rebel: iterations that its warm start counts as (0: none)."),
    ] = None,
    transformations: Annotated[
        str | None,
        typer.Option(callback=not_blank, help="sepot: learned (the default), predefined (Goofspiel) or identity."),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(callback=above_zero, help="sepot: k, how far learned transformations move a policy."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            callback=not_blank,
            help="sepot: what learns the policy: rnad, mmd or nashpg, as they do alone; by default R-NaD as in SePoT's "
            "Table 2.",
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            help="demo (about three minutes on two cores; longer on boards), full (until --minutes: hours on boards), "
            "paper; with --algorithm sog also pog, the preprint's settings."
        ),
    ] = "demo",
    network: Annotated[
        str | None,
        typer.Option(
            callback=not_blank,
            help="Hidden layers x width, on boards residual blocks x channels; by default the preset's.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            callback=above_zero, help="Stop after so many minutes; schedules stay the preset's, however short the run."
        ),
    ] = None,
    processor_minutes: Annotated[
        float | None,
        typer.Option(
            callback=above_zero,
            help="Stop once the run, over all resumes, has used so many minutes of one processor, whatever else the "
            "machine does; for runs in one process, with --workers 1.",
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=LARGEST_COUNT,
            help="Stop after this many rounds in total. In a round every worker plays a fixed number of games (the "
            "preset's) with one network, while the learner learns from the rounds before.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=LARGEST_SEED, help="Seed; with the number of workers it fixes the run to the bit.")
    ] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, max=MOST_PROCESSES, help="Self-play processes; by default one per core.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; by default runs/GAME.")] = None,
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
    device: Annotated[
        str, typer.Option(callback=not_blank, help="Where the learner runs: cpu, cuda or cuda:N.")
    ] = "cpu",
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

    The folder gets checkpoint/ (for sog exploit and sog play), snapshots/, curve.csv, curve.png and
    tensorboard/. Ctrl-C, SIGTERM or a kill lose at most the work since the last checkpoint.
    """
    from sog.agents.algorithms.table import learner, training_of
    from sog.agents.algorithms.table import preset as settings_of
    from sog.games.base import Game
    from sog.games.checked import check_own
    from sog.games.histories.catalog import public_face
    from sog.train.needs import check_memory
    from sog.train.run import Hooks, Run, Until
    from sog.train.stream.loop import Placed, StreamHooks, train_stream

    training = learner(algorithm).training
    rules = training.rules(game)
    where = _where(algorithm, training, cluster, workers, asynchronous)
    if serve is not None and not asynchronous:
        raise SettingError("--serve is for --asynchronous: what it answers depends on time, to the last bits")
    if processor_minutes is not None and (asynchronous or where.kind != "local" or where.places > 1):
        raise SettingError("--processor-minutes is for runs in one process: add --workers 1, leave out --asynchronous")
    folder = out or Path("runs") / _slug(rules.name)
    stored = _stored(folder, resume)
    chosen = Choices(solver=solver, warm=warm, transformations=transformations, step=step, policy=policy)
    variant = _variant(stored, algorithm, chosen, network)
    first = _begins(begins, stored, algorithm, asynchronous or training.alone is not None)
    run = Run(rules.name, preset, seed, where.places, algorithm, variant, not asynchronous, first)
    if isinstance(rules, Game):  # one by histories is checked where it is trained on
        check_own(rules)
    settings = settings_of(rules, preset, algorithm, run.variant)
    check_memory(settings, rules.name)
    total = settings.rounds if rounds is None else rounds
    begun = int(stored.get("round", 0))
    used = float(stored.get("processor_minutes", 0.0))
    processor = None if processor_minutes is None else processor_minutes - used
    opened = progress_bar(f"train {rules.name}", total, "rounds", begun, minutes, processor)
    with say_kept(lambda: _kept(folder)), opened as bar:
        watch = _Watch(rules, folder, bar, run)
        hooks = Hooks(watch.measure, 10, watch.report, say)
        until = Until(minutes, rounds, processor_minutes)
        if asynchronous:
            looking = StreamHooks(hooks.measure, 10, hooks.report, hooks.note, watch.look)
            placed = Placed(where, device, None if serve is None else _residence(serve))
            point = train_stream(run, cast("TrainSettings", settings), folder, until, resume, looking, placed)
        else:
            point = training_of(algorithm, where)(run, settings, folder, until, resume, hooks, device)
        watch.close()
    draw_curve(folder, rules.name, rules.unit.name, watch.training.measured)
    answer: dict[str, Any] = {
        "game": rules.name,
        "algorithm": algorithm,
        "variant": str(run.variant),
        "preset": preset,
        "out": str(folder),
        "rounds": point.round,
        "minutes": point.minutes,
        "steps": point.steps,
        "rows": point.rows,
        "exploitability": None if watch.latest is None else watch.latest,
        "unit": rules.unit.name,
    }
    if as_json:
        print_json(answer)
        return
    rounds_done = f"{point.round} round{'s' * (point.round != 1)}"
    done = f"{rounds_done}, {point.steps:,} steps on {point.rows:,} rows in {point.minutes:.1f} minutes"
    stdout().print(f"{rules.name}: {done}")
    if point.steps == 0:
        say("sog: the network is as it began: no rows were learned from yet; the run goes on with --resume")
    listed = isinstance(rules, Game) or public_face(rules) is not None
    play = f"play against it: sog play {folder}" if listed else f"{rules.name} has no public states to be played by"
    stdout().print(f"checkpoint and curve.png in {folder}; {play}", soft_wrap=True)  # a command stays on one line


def _where(
    algorithm: str, training: Training, cluster: str | None, workers: int | None, asynchronous: bool
) -> Where:
    """Where self-play runs; SettingError where the number of actors is not given, or there can be only one."""
    from sog.cluster.where import Where, where_of

    if training.alone is not None:
        if cluster is not None or asynchronous:
            raise SettingError(f"{algorithm} learns in one process: leave out --cluster and --asynchronous")
        return Where("local", workers or 1)
    where = where_of(cluster, workers)
    if not where.places:
        raise SettingError(f"--cluster {cluster} needs --workers: how many self-play actors there are decides the run")
    return where


def _residence(device: str) -> Residence:
    """How an evaluator process has its network: on a GPU compiled and in bfloat16."""
    from sog.nets.device import find_device
    from sog.nets.serving.resident import Residence

    return Residence(device, "bf16", "compiled") if find_device(device).type == "cuda" else Residence(device)


def _kept(folder: Path) -> str:
    """What a run that was stopped leaves, and how to go on."""
    if not (folder / "checkpoint").exists():
        return f"no checkpoint was written to {folder} yet: run the same command to begin again"
    return f"the last checkpoint in {folder} is kept: the same command with --resume goes on from there"


def _variant(stored: dict[str, Any], algorithm: str, choices: Choices, network: str | None) -> Variant:
    """The requested variant; what was not requested is that of the run that goes on, which `stored` describes."""
    from sog.agents.algorithms.table import variant_from
    from sog.train.settings import variant_of

    variant = variant_of(stored)
    if network is not None:
        variant = replace(variant, network=network)
    return variant_from(variant, algorithm, choices)


def _stored(folder: Path, resume: bool) -> dict[str, Any]:
    """What the checkpoint to be gone on with says of its run; nothing where there is none."""
    from sog.train.checkpoint import is_begun, load_meta

    checkpoint = folder / "checkpoint"
    return load_meta(checkpoint).settings if resume and is_begun(checkpoint) else {}


def _begins(begins: str | None, stored: dict[str, Any], algorithm: str, unable: bool) -> str:
    """The checkpoint that the run begins with; of a run that goes on, which `stored` describes, the one it had."""
    from sog.agents.shipped import find_checkpoint
    from sog.train.run import end_of

    had = str(stored.get("begins", ""))
    if begins is None:
        return had
    if unable:
        raise SettingError("--from is for runs in rounds, which sog, rebel and alphazero have: leave it out")
    found = str(find_checkpoint(begins, algorithm).resolve())
    return had if end_of(found) == had else found  # another is refused where the run is resumed


def _slug(name: str) -> str:
    return "".join(c if c.isalnum() or c == "_" else "-" for c in name).strip("-")


class _Watch:
    """Measures exploitability on small games, and reports it to the progress bar and TensorBoard."""

    def __init__(self, game: Rules, folder: Path, bar: Report, run: Run) -> None:
        from sog.agents.algorithms.table import learner

        self.game, self.folder, self.bar, self.run = game, folder, bar, run
        self.training = learner(run.algorithm).training
        self.latest: float | None = None
        self.round = 0
        self.public: Any = None
        self.log: EventLog | None = None

    def measure(self, network: CVPN) -> float:
        """Exploitability of what the algorithm is measured by while it trains; NaN for a game too large."""
        from sog.games.histories.catalog import public_face
        from sog.train.sog.actor import listed_tree

        if self.public is None:
            face = public_face(self.game)
            self.public = (face is not None and listed_tree(face)) or False
        if not self.public or self.public.size > _MEASURED_STATES:
            return math.nan
        found = self.training.measure(self.public, network, self.run.variant)
        self.latest = found * self.game.unit.per_utility
        figure = f"{self.latest:.4g} {self.game.unit.name}"
        say(f"exploitability of {self.training.measured}: {figure}")
        return self.latest

    def report(self, point: Point, total: int) -> None:
        self.round = point.round
        note = f"{point.rows:,} rows, value loss {point.value_loss:.4f}"
        if self.latest is not None:
            note += f", exploitability {self.latest:.4g} {self.game.unit.name}"
        self.bar(point.round, note)
        figures = {name: getattr(point, name) for name in ("value_loss", "policy_loss", "rows", "measured")}
        self._add(point.steps, {name: value for name, value in figures.items() if not math.isnan(value)})

    def look(self, supervisor: Supervisor) -> None:
        """How a run without rounds is doing, every second: all machines in one line, and in TensorBoard."""
        vitals = supervisor.vitals()
        rows, searches = (sum(rates[k] for rates in vitals.rates.values()) for k in (0, 1))
        machines = f" on {len(vitals.rates)} machines" if len(vitals.rates) > 1 else ""
        parts = [
            f"{rows:,.0f} rows/s, {searches:,.0f} searches/s{machines}",
            f"window {vitals.fill:.0%}",
            f"{vitals.samples_per_row:.1f} samples/row",
            f"weights {vitals.age:.0f} steps old",
            f"network {vitals.network_share:.0%}",
            f"{vitals.deaths} deaths",
        ]
        figures: dict[str, float] = {}
        if supervisor.start.evaluator is not None:
            served = supervisor.start.evaluator.counters()
            parts.append(f"batches of {served.mean_batch:.0f}, p95 {served.p95_ms:.2g} ms")
            figures |= {"cluster/mean_batch": served.mean_batch, "cluster/p95_ms": served.p95_ms}
        self.bar(self.round, ", ".join(parts))
        names = ("fill", "samples_per_row", "age", "network_share", "deaths", "lost_rows", "waiting_actors")
        figures |= {f"cluster/{name}": float(getattr(vitals, name)) for name in names}
        for machine, (rows, searches) in vitals.rates.items():
            figures |= {f"rows a second/{machine}": rows, f"searches a second/{machine}": searches}
        self._add(supervisor.totals.steps, figures)

    def _add(self, step: int, figures: dict[str, float]) -> None:
        """To TensorBoard."""
        if self.log is None:
            self.log = EventLog(self.folder / "tensorboard", say)
        self.log.add(step, figures)

    def close(self) -> None:
        if self.log is not None:
            self.log.close()

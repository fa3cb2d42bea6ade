"""The training loop: an interrupted and resumed run is the uninterrupted one, to the bit, whatever stopped it."""

from __future__ import annotations

import csv
import itertools
import json
import math
import multiprocessing
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from sog.algorithms.rebel.actor import RebelActing
from sog.algorithms.rebel.algorithm import Rebel
from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.algorithm import Student
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.algorithms.table import read
from sog.errors import CheckpointError, SettingError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.serialized import network_bytes
from sog.nets.shape import shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.depth_limited.settings import SolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.kernels.compiling import WATCH
from sog.searches.leaves.evaluator import Evaluator
from sog.training import checkpoint, workers
from sog.training.curve import Point, TrainingRecord, write_curve
from sog.training.loop import TrainingClock
from sog.training.run import Hooks, Run, Stops, Until
from sog.training.self_play import train
from sog.training.settings import Harvest, LearnerSettings, TrainSettings, algorithm_text

BUDGET = Budget(5, 1.0)
ROUNDS = 24
KUHN = Run("kuhn_poker")
KINDS = [{}, {"algorithm": "rebel(warm=3)"}, {"algorithm": "rebel(solver=fp)"}]


def tiny(run: Run) -> TrainSettings:
    """A run of rounds that take some ten milliseconds; its small replay window wraps around."""
    sog = SogActing(SelfPlaySettings(ResolveSettings(BUDGET), td1=0.5), QuerySettings(BUDGET, SearchSettings()), 4)
    learns = read(run.algorithm)
    acting: SogActing | RebelActing = sog
    if isinstance(learns, Rebel):
        solve = SolveSettings(learns.solver_named, depth=1, updates=16, warm=learns.warm or 0)
        acting = RebelActing(solve, share=False)
    return TrainSettings(
        acting,
        LearnerSettings(batch=16, updates_per_example=4.0),
        shape_for(make_game(run.game), 8, 2),
        replay=300,
        games=8,
        rounds=ROUNDS,
    )


@pytest.fixture(autouse=True, scope="module")
def tiny_runs_saved_every_round() -> Iterator[None]:
    """Their replay windows lie in several files."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sog.training.loop.SAVE_SECONDS", 0.0)
        patched.setattr("sog.training.loop.SAVE_SHARE", 1e9)
        patched.setattr("sog.training.row_files.LARGEST", 5_000)
        yield


def run_to(out: Path, rounds: int, resume: bool = False, **run: Any) -> Point:
    which = Run("kuhn_poker", **run)
    return train(which, tiny(which), out, Until(rounds=rounds), resume)


def flat(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every number and array of a nested state with its place, arrays as bytes."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from flat(value[key], f"{at}/{key}")
    elif isinstance(value, np.ndarray):
        yield at, (value.shape, value.tobytes())
    else:
        yield at, value


def everything(out: Path) -> list[tuple[str, Any]]:
    """All that decides how a run goes on, and its curve but for the clock."""
    folder = out / "checkpoint"
    _, network, _ = checkpoint.load_network(folder)
    state = checkpoint.load_state(folder)
    minutes = list(Point.__dataclass_fields__).index("minutes")
    points = [[str(x) for i, x in enumerate(point) if i != minutes] for point in state.pop("points")]
    state.pop("seconds")
    state.pop("processor")
    return [*flat(network.arrays()), *flat(state), ("points", points)]


@dataclass(frozen=True)
class Whole:
    """A run that nothing interrupted: which it was, and all that it came to."""

    run: dict[str, Any]
    everything: list[tuple[str, Any]]


@pytest.fixture(scope="module", params=KINDS, ids=["sog", "rebel-warm", "rebel-fp"])
def uninterrupted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    out = tmp_path_factory.mktemp("whole") / "run"
    run_to(out, ROUNDS, **request.param)
    return Whole(request.param, everything(out))


def test_a_seed_decides_a_run(tmp_path: Path, uninterrupted: Whole) -> None:
    run_to(tmp_path / "same", ROUNDS, **uninterrupted.run)
    assert everything(tmp_path / "same") == uninterrupted.everything


@pytest.mark.parametrize("stops", [(1,), (0, 7, 8, 19)])
def test_a_resumed_run_is_the_uninterrupted_one(stops: tuple[int, ...], tmp_path: Path, uninterrupted: Whole) -> None:
    for rounds in (*stops, ROUNDS):
        point = run_to(tmp_path / "run", rounds, resume=True, **uninterrupted.run)
        assert point.round == rounds
    assert everything(tmp_path / "run") == uninterrupted.everything


def test_minutes_do_not_count_what_compiling_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each round seems to compile for an hour less than nothing: an hour of training is over after the first."""
    play = workers.play_round

    def played(*arguments: Any, **named: Any) -> Harvest:
        harvest = play(*arguments, **named)
        WATCH.add(-3600.0)
        return harvest

    monkeypatch.setattr(workers, "play_round", played)
    try:
        point = train(KUHN, tiny(KUHN), tmp_path, Until(minutes=59.0, rounds=3))
    finally:
        WATCH.add(3600.0)
    assert point.round == 1 and 60.0 <= point.minutes < 70.0


@pytest.mark.parametrize("moment", [1, 61])
def test_a_round_that_is_dropped_is_played_again(
    moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uninterrupted: Whole
) -> None:
    """Dropped at one of the moments when it asks whether it is over: in self-play or between two learning steps."""
    out, asked = tmp_path / "run", itertools.count(1)
    with monkeypatch.context() as patched:
        patched.setattr("sog.training.loop._Watch.over", lambda watch: next(asked) >= moment)
        stopped = run_to(out, ROUNDS, **uninterrupted.run)
    # Weights that nothing was learned on since are the kept network's, and are not written twice.
    begun = checkpoint.load_state(out / "checkpoint")["begun"]
    assert stopped.round < ROUNDS and ("weights" in begun) == bool(begun["losses"])
    run_to(out, ROUNDS, resume=True, **uninterrupted.run)
    assert everything(out) == uninterrupted.everything


def test_a_run_drops_the_older_half_of_its_window_once(tmp_path: Path) -> None:
    """Where it is halved at row 20, rows 0 to 9 go; without it none do."""
    for halved_at, oldest in ((20, 10), (0, 0)):
        out = tmp_path / str(halved_at)
        train(KUHN, replace(tiny(KUHN), halved_at=halved_at, replay=10**6), out, Until(rounds=3))
        replay = checkpoint.load_state(out / "checkpoint")["replay"]
        assert replay["added"] > 20 and replay["oldest"] == oldest


def test_time_and_signals_end_a_round_in_its_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of a million games: after the time and some grace it is dropped, and after a signal at once."""
    monkeypatch.setattr("sog.training.loop.GRACE_SECONDS", 0.5)
    settings = replace(tiny(KUHN), games=10**6)
    started = time.monotonic()
    point = train(KUHN, settings, tmp_path / "time", Until(minutes=0.01))
    assert point.round == 0 and time.monotonic() - started > 1.0
    out, came = tmp_path / "signal", list[int]()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM))
    before = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    try:
        timer.start()
        point = train(KUHN, settings, out)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM] and point.round == 0
    assert checkpoint.load_state(out / "checkpoint")["round"] == 0


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_signal_at_any_line_of_dropping_is_caught(interrupted: bool) -> None:
    """interrupted: it is the second one, after one that came in the work."""
    moments = 0
    for moment in range(20):
        stops, passed = Stops(), itertools.count()

        def work(stops: Stops = stops) -> int:
            if interrupted:
                stops.note(signal.SIGINT, None)
            return 7

        def at_line(frame: FrameType, event: str, _: object, passed: Any = passed, at: int = moment) -> Any:
            if frame.f_code is not Stops.dropping.__code__:
                return None
            if event == "line" and next(passed) == at:
                frame.f_locals["self"].note(signal.SIGTERM, None)
            return at_line

        before = sys.gettrace()
        sys.settrace(at_line)
        try:
            found = stops.dropping(work)
        finally:
            sys.settrace(before)
        assert found in ((None,) if interrupted else (7, None)) and not stops._droppable
        moments += signal.SIGTERM in stops.came
    assert 3 <= moments < 20


def test_a_signal_while_workers_get_their_weights_drops_the_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uninterrupted: Whole
) -> None:
    out, start = tmp_path / "run", workers.LocalWorkers.start

    def interrupted(crew: workers.LocalWorkers, weights: bytes, number: int, games: int | None = None) -> None:
        if number == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            pytest.fail("the signal was not heard while weights were sent")
        start(crew, weights, number, games)

    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(workers.LocalWorkers, "start", interrupted)
            assert run_to(out, ROUNDS, **uninterrupted.run).round == 2
    finally:
        signal.signal(signal.SIGTERM, before)
    run_to(out, ROUNDS, resume=True, **uninterrupted.run)
    assert everything(out) == uninterrupted.everything


def test_workers_end_before_the_last_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, save = list[str](), checkpoint.save

    def saved(*given: Any) -> Any:
        done.append(Path(given[0]).name)
        return save(*given)

    monkeypatch.setattr(checkpoint, "save", saved)
    monkeypatch.setattr(workers.LocalWorkers, "end", lambda crew: done.append("end"))
    train(KUHN, tiny(KUHN), tmp_path, Until(rounds=1))
    assert done.count("end") == 1 and done[-2:] == ["end", "checkpoint"]


def forked(out: Path, run: dict[str, Any], most: int) -> ForkProcess:
    """The run going on in a process of its own, which waits after so many rounds until it is told of its end.

    So it is not over before that, however fast this machine is, or busy with others than this test.
    """
    process = multiprocessing.get_context("fork").Process(target=run_a_part, args=(out, run, most))
    process.start()
    return process


def run_a_part(out: Path, run: dict[str, Any], most: int) -> None:
    which, played, deadline = Run("kuhn_poker", **run), list[Point](), time.monotonic() + 120

    def report(point: Point, total: int) -> None:
        played.append(point)
        while len(played) > most and not told(out).exists() and time.monotonic() < deadline:
            time.sleep(0.002)

    train(which, tiny(which), out, Until(rounds=ROUNDS), True, Hooks(report=report))


def told(out: Path) -> Path:
    """A file that is there once the process has been told of its end."""
    return out.with_name("told")


def saved_round(out: Path) -> int:
    """The round of the checkpoint; 0 while there is none, or while it is being replaced."""
    try:
        return int(checkpoint.load_state(out / "checkpoint")["round"])
    except (CheckpointError, OSError):
        return 0


def wait_beyond(out: Path, number: int, process: ForkProcess) -> None:
    deadline = time.monotonic() + 60
    while saved_round(out) <= number and process.is_alive():
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.002)


def test_kill_9_at_five_random_moments(tmp_path: Path, uninterrupted: Whole) -> None:
    """Each kill comes after at least one more checkpoint, at a random moment of a round or of its saving."""
    out, draw, reached = tmp_path / "run", random.Random(1), []
    for _ in range(5):
        process = forked(out, uninterrupted.run, 3)  # five times, of 24
        wait_beyond(out, reached[-1] if reached else 0, process)
        time.sleep(draw.uniform(0.0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, "the run ended before it was killed"
        reached.append(saved_round(out))
    assert reached == sorted(set(reached)) and reached[0] > 0 and reached[-1] < ROUNDS
    run_to(out, ROUNDS, resume=True, **uninterrupted.run)
    assert everything(out) == uninterrupted.everything


def test_sigterm_saves_the_round_in_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, uninterrupted: Whole) -> None:
    monkeypatch.setattr("sog.training.loop.SAVE_SECONDS", 1e9)  # only the end of a run saves it
    out = tmp_path / "run"
    process = forked(out, uninterrupted.run, 10)
    deadline = time.monotonic() + 60
    while not (out / "snapshots" / "000002").exists():
        assert process.is_alive() and time.monotonic() < deadline
        time.sleep(0.002)
    assert saved_round(out) == 0
    process.terminate()
    told(out).touch()
    process.join()
    assert abs(process.exitcode or 0) == signal.SIGTERM and 2 <= saved_round(out) < ROUNDS
    run_to(out, ROUNDS, resume=True, **uninterrupted.run)
    assert everything(out) == uninterrupted.everything


def test_a_run_is_neither_overwritten_nor_mixed_with_another(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run_to(out, 1)
    before = everything(out)
    with pytest.raises(CheckpointError, match="continue it with --resume or choose another --out"):
        run_to(out, 2)
    for other in ({"seed": 1}, {"preset": "full"}, {"algorithm": "rebel"}):
        with pytest.raises(CheckpointError, match="holds the run 'kuhn_poker sog demo seed 0 workers 1', not"):
            run_to(out, 2, resume=True, **other)
    assert everything(out) == before


def test_a_run_continues_with_another_number_of_workers(tmp_path: Path) -> None:
    """With a note; a snapshot that a killed process left beyond the checkpoint is written anew."""
    out, notes = tmp_path / "run", list[str]()
    run_to(out, 1)
    shutil.copytree(out / "snapshots" / "000001", out / "snapshots" / "000002")
    run = Run("kuhn_poker", workers=2)
    point = train(run, tiny(run), out, Until(rounds=3), True, Hooks(note=notes.append))
    assert point.round == 3 and point.games == 16
    assert "the run had 1 worker and continues with 2" in notes[0] and len(notes) == 1
    assert (
        checkpoint.load_meta(out / "checkpoint").run == run.name == checkpoint.load_meta(out / "snapshots/000002").run
    )
    assert run_to(out, 4, resume=True, workers=2).round == 4


def test_a_run_begins_with_another_ones_network(tmp_path: Path) -> None:
    """At its place in the schedules, with an empty window; stopped and resumed it is the uninterrupted run."""
    first = run_to(tmp_path / "first", 6)
    begins = str(tmp_path / "first" / "checkpoint")
    once = run_to(tmp_path / "once", 4, begins=begins, seed=1)
    kept, new = (checkpoint.load_network(tmp_path / name)[1:] for name in ("first/checkpoint", "once/snapshots/000000"))
    assert network_bytes(kept[0]) == network_bytes(new[0])
    assert kept[1].step == new[1].step == first.steps > 0
    assert new[1].settings["begins"] == "first/checkpoint"  # wherever that is
    assert once.steps > first.steps
    state = checkpoint.load_state(tmp_path / "once" / "checkpoint")
    steps, rows = (int(state["learner"]["steps"]), int(state["replay"]["added"]))
    assert steps <= 4.0 * rows / 16 < steps + 20  # of tiny(): 4 updates a row in batches of 16, as if it had seen all
    for rounds, said in ((1, begins), (2, begins), (4, "")):
        run_to(tmp_path / "twice", rounds, resume=True, begins=said, seed=1)
    assert everything(tmp_path / "twice") == everything(tmp_path / "once")
    notes = list[str]()
    run = replace(KUHN, begins=begins)
    train(run, tiny(run), tmp_path / "noted", Until(rounds=1), hooks=Hooks(note=notes.append))
    rate = f"step {first.steps:,}, learning rate {tiny(run).learner.rate_of(first.steps):.2g}"
    assert any(rate in note for note in notes)
    # Rows are rounded up, which may allow a step before the window has any.
    small = replace(tiny(run), learner=replace(tiny(run).learner, batch=3))
    assert train(run, small, tmp_path / "small", Until(rounds=1)).steps >= first.steps
    with pytest.raises(CheckpointError, match="began with first/checkpoint, not with once/checkpoint"):
        run_to(tmp_path / "twice", 5, resume=True, begins=str(tmp_path / "once" / "checkpoint"), seed=1)


def test_measuring_is_no_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a measurement takes is in no point's minutes; all else is."""
    clock = [0.0]

    def an_hour(network: CVPN) -> float:
        clock[0] += 3600.0
        return 0.0

    def a_minute(point: Point, total: int) -> None:
        clock[0] += 60.0

    monkeypatch.setattr("sog.training.loop.working_time", lambda: clock[0])
    hooks = Hooks(measure=an_hour, measure_every=1, report=a_minute)
    assert train(KUHN, tiny(KUHN), tmp_path, Until(rounds=3), hooks=hooks).minutes == 2.0


def test_training_seconds_never_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process compiled while nobody counted is taken off after the fact; negative ones cannot be read."""
    monkeypatch.setattr("sog.training.loop.working_time", lambda: now[0])
    now, record = [100.0], TrainingRecord()
    clock = TrainingClock(record)
    for time_, counted in ((101.0, 1.0), (100.2, 1.0), (102.0, 2.0)):
        now[0] = time_
        clock.read()
        assert record.seconds == counted


def test_whole_numbers_of_any_kind_are_kept_as_a_checkpoint_reads_them(tmp_path: Path) -> None:
    learns = str(Student().varied(c_puct=np.float64(0.5), moves_max=np.int64(3)))
    run = replace(KUHN, seed=np.int64(3), workers=np.int64(1), algorithm=learns)
    for rounds in (1, 2):
        train(run, tiny(run), tmp_path, Until(rounds=rounds), resume=rounds == 2)
    meta = checkpoint.load_meta(tmp_path / "checkpoint")
    assert algorithm_text(meta.settings) == "sog(c_puct=0.5,moves_max=3)" and meta.settings["seed"] == 3


def test_no_rounds_between_two_measures() -> None:
    with pytest.raises(SettingError, match="measure_every is a whole number of at least 1, not 0"):
        Hooks(measure_every=0)


def test_a_run_that_time_ends_measures_its_last_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After rounds 1 and 10 it is due, and time is up after 3; the curve's file has it, too."""
    clock, measured = [0.0], []

    def a_minute(point: Point, total: int) -> None:
        clock[0] += 60.0

    def counted(network: CVPN) -> float:
        measured.append(network)
        return float(len(measured))

    monkeypatch.setattr("sog.training.loop.working_time", lambda: clock[0])
    last = train(KUHN, tiny(KUHN), tmp_path, Until(2.5, 9), hooks=Hooks(measure=counted, report=a_minute))
    assert (last.round, last.measured) == (3, 2.0) and len(measured) == 2
    assert (tmp_path / "curve.csv").read_text().splitlines()[-1].endswith(",2")


def test_a_curve_holds_counts_to_the_last_digit(tmp_path: Path) -> None:
    write_curve(tmp_path / "curve.csv", [Point(1, 0.5, 1_234_567, 98_765_432, 3, 4, 5, 0.1, 0.2, math.nan)])
    assert (tmp_path / "curve.csv").read_text().splitlines()[1] == "1,0.5,1234567,98765432,3,4,5,0.1,0.2,nan"


def test_a_run_does_not_begin_with_a_network_of_another_shape_or_game(tmp_path: Path) -> None:
    run_to(tmp_path / "first", 1)
    begins = str(tmp_path / "first" / "checkpoint")
    other = replace(tiny(KUHN), shape=shape_for(make_game("kuhn_poker"), 8, 3))
    with pytest.raises(CheckpointError, match="not of the shape that this run trains"):
        train(replace(KUHN, begins=begins), other, tmp_path / "second", Until(rounds=1))
    leduc = Run("leduc_poker", begins=begins)
    with pytest.raises(CheckpointError, match="a checkpoint of kuhn_poker, not of leduc_poker"):
        train(leduc, tiny(leduc), tmp_path / "third", Until(rounds=1))


def test_a_changed_preset_is_told_of(tmp_path: Path) -> None:
    told: list[str] = []
    hooks = Hooks(note=told.append)
    for rounds in (1, 2):
        train(KUHN, tiny(KUHN), tmp_path / "run", Until(rounds=rounds), rounds > 1, hooks)
    assert len(told) == 1 and "the replay window has room" in told[0]  # as every new run says
    train(KUHN, replace(tiny(KUHN), games=9), tmp_path / "run", Until(rounds=3), True, hooks)
    assert len(told) == 2 and "preset demo has changed" in told[1]


def test_what_a_run_leaves(tmp_path: Path) -> None:
    """Networks after rounds 0, 1, 2, 4, 8, a curve of every round, and measurements where they were asked for."""
    out, told = tmp_path / "run", []
    hooks = Hooks(lambda network: 7.0, 4, lambda point, total: told.append((point.round, total)))
    train(KUHN, tiny(KUHN), out, Until(rounds=9), hooks=hooks)
    assert sorted(folder.name for folder in (out / "snapshots").iterdir()) == [f"{k:06d}" for k in (0, 1, 2, 4, 8)]
    assert told == [(k, 9) for k in range(1, 10)]
    with (out / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["round"]) for row in rows] == list(range(1, 10))
    assert [int(row["round"]) for row in rows if row["measured"] == "7"] == [1, 4, 8, 9]
    meta = json.loads((out / "snapshots" / "000004" / "meta.json").read_text())
    assert meta["settings"]["round"] == 4


def test_minutes_stop_a_run_and_no_schedule(tmp_path: Path, uninterrupted: Whole) -> None:
    out = tmp_path / "run"
    run = Run("kuhn_poker", **uninterrupted.run)
    point = train(run, tiny(run), out, Until(1e-9, ROUNDS))
    assert point.round == 0
    run_to(out, ROUNDS, resume=True, **uninterrupted.run)
    assert everything(out) == uninterrupted.everything


@pytest.mark.parametrize(("game", "kind", "cells"), [("connect_four", "resnet", 42), ("kuhn_poker", "mlp", 1)])
def test_a_round_asks_a_network_for_as_many_beliefs_as_take_two_seconds(
    game: str, kind: str, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A residual network multiplies its weights once a cell; the round's evaluator looks at the clock between parts."""
    asked: list[int] = []

    def note(evaluator: Evaluator, over: Callable[[], bool], rows: int) -> Evaluator:
        asked.append(rows)
        return evaluator

    settings = replace(tiny(Run(game)), shape=shape_for(make_game(game), 8, 1, kind))
    weights = sum(weight.numel() for weight in CVPN(settings.shape).parameters())
    monkeypatch.setattr(workers, "Droppable", note)
    for calls, rows in ((10.0, 10), (0.1, 1)):
        monkeypatch.setattr(workers, "_CALL", calls * weights * cells)
        played = settings.acting.make(make_game(game), settings.shape)
        workers.play_round(played, settings, 0, 0, network_bytes(CVPN(settings.shape)), 0, 1, lambda: False)
        assert asked.pop() == rows

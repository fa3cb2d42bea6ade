"""Training without rounds: samples a row as set, whatever dies is replaced, and a stopped run goes on."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import torch

from sog.algorithms.student.actor import SogActing
from sog.algorithms.student.queries import QuerySettings
from sog.algorithms.student.selfplay import SelfPlaySettings
from sog.algorithms.table import settings_of
from sog.cli.train_watch import Watch
from sog.cluster.executor import Executor, WorkLost
from sog.cluster.placement import Placement, executor
from sog.errors import CheckpointError, SettingError, SogError
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.nets.cvpn import CVPN
from sog.nets.serialized import network_bytes
from sog.nets.serving.resident import Residence
from sog.nets.serving.server import Counters
from sog.nets.shape import NetworkShape, shape_for
from sog.play.resolver import ResolveSettings
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.training import checkpoint
from sog.training import loop as round_loop
from sog.training.curve import Point, TrainingRecord
from sog.training.packing import pack
from sog.training.rows import blank_rows
from sog.training.run import Run, Until
from sog.training.settings import Harvest, LearnerSettings, TrainSettings
from sog.training.state import State
from sog.training.stream import loop
from sog.training.stream.loop import Placed, StreamHooks, StreamRounds, train_stream
from sog.training.stream.parts import ActorPart, LearnerPart, ReplayPart, RowBlock
from sog.training.stream.supervisor import Start, Supervisor, Totals, Vitals
from sog.training.workers import make_actor, play_round
from tests.boards import connect_four_settings

BUDGET = Budget(3, 1.0)
UPDATES = 4.0
SETTINGS = TrainSettings(
    SogActing(SelfPlaySettings(ResolveSettings(BUDGET)), QuerySettings(BUDGET, SearchSettings()), side_by_side=4),
    LearnerSettings(batch=8, updates_per_example=UPDATES),
    shape_for(Kuhn(), 8, 1),
    replay=400,
    games=4,
    rounds=12,
)
HERE = Placement("local", 2)
RUN = Run("kuhn_poker", workers=2, rounds=False)
WEIGHTS = network_bytes(CVPN(SETTINGS.shape, 1))


def other_weights() -> bytes:
    """Of a network that answers other things than a new one, which answers 0."""
    network = CVPN(SETTINGS.shape, 2)
    rng = torch.Generator().manual_seed(0)
    for weight in network.parameters():
        torch.nn.init.normal_(weight, generator=rng)
    return network_bytes(network)


@pytest.fixture(scope="module", params=["local", "ray"])
def there(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "ray":
        pytest.importorskip("ray")
    with ExitStack() as stack:
        try:
            made = stack.enter_context(executor(Placement(request.param, 2)))
        except SogError as error:
            pytest.skip(f"WARNING: no Ray here: {error}")
        yield made


def start(load: Callable[[], tuple[State, State] | None] = lambda: None, settings: TrainSettings = SETTINGS) -> Start:
    return Start("a run", "kuhn_poker", settings, 0, 2, "cpu", load)


def go(supervisor: Supervisor, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, supervisor.totals
        supervisor.turn(0.1)


def end(supervisor: Supervisor) -> None:
    for remote in (*(actor.remote for actor in supervisor.actors), supervisor.replay, supervisor.learner):
        remote.end()


# --- the parts, in this process ---


def test_no_two_actors_play_the_same() -> None:
    rows = []
    for actor, incarnation in ((0, 1), (0, 2), (1, 1)):
        playing = ActorPart("kuhn_poker", SETTINGS, 0, actor, incarnation)
        rows += [playing.play(WEIGHTS, 1, 4, 0).harvest.rows.content.tobytes() for _ in range(2)]
    assert len(set(rows)) == 6
    again = ActorPart("kuhn_poker", SETTINGS, 0, 0, 1)
    assert again.play(WEIGHTS, 1, 4, 0).harvest.rows.content.tobytes() == rows[0]


def test_old_weights_are_kept_where_none_come() -> None:
    playing, twin = (ActorPart("kuhn_poker", SETTINGS, 0, 0, 1) for _ in range(2))
    playing.play(WEIGHTS, 1, 1, 0)
    twin.play(WEIGHTS, 1, 1, 0)
    same = playing.play(b"", 1, 2, 0), twin.play(WEIGHTS, 1, 2, 0)
    assert same[0].harvest.rows.content.tobytes() == same[1].harvest.rows.content.tobytes()


def test_weights_that_come_are_taken_whatever_their_version_is() -> None:
    """A learner that replaces a dead one comes to the same steps again, with other weights."""
    others, rows = other_weights(), []
    for second in (others, others, WEIGHTS):
        playing = ActorPart("kuhn_poker", SETTINGS, 0, 0, 1)
        playing.play(WEIGHTS, 1, 1, 0)
        playing.blocks = 0  # the same draws again
        rows.append(playing.play(second, 1, 2, 0).harvest.rows.content.tobytes())
    assert rows[0] == rows[1] != rows[2]


def test_an_actor_of_rebel_without_rounds_plays_as_one_in_rounds() -> None:
    """Whatever its solver reads of the network: CFR-AVE reads values by pair of infostates."""
    for solver in ("cfr-d", "cfr-ave"):
        settings = settings_of(make_game("kuhn_poker"), "demo", f"rebel(solver={solver},network=1x16)")
        assert isinstance(settings, TrainSettings)
        weights = network_bytes(CVPN(settings.shape, 1))
        alone = play_round(make_actor("kuhn_poker", settings), settings, 0, 0, weights, 0)
        streamed = ActorPart("kuhn_poker", settings, 0, 0, 0).play(weights, 0, settings.games, 0).harvest
        assert len(streamed.rows) > 0
        np.testing.assert_array_equal(streamed.rows.content, alone.rows.content, err_msg=solver)
        np.testing.assert_array_equal(streamed.rows.ends, alone.rows.ends, err_msg=solver)


def test_a_run_that_goes_on_shows_the_rounds_it_has(tmp_path: Path) -> None:
    """From the first second on, before a new round is reported."""
    seen: list[int] = []
    vitals = SimpleNamespace(
        rates={}, fill=0.5, samples_per_row=1.0, age=0.0, network_share=0.0, deaths=0, lost_rows=0, waiting_actors=0
    )
    start, totals = SimpleNamespace(evaluator=None), SimpleNamespace(steps=0)
    supervisor = SimpleNamespace(vitals=lambda: vitals, start=start, totals=totals)
    run = Run("kuhn_poker", rounds=False)
    watch = Watch(Kuhn(), tmp_path, lambda done, note: seen.append(done), run, 7)
    watch.look(cast("Supervisor", supervisor))
    watch.close()
    assert seen == [7]


def test_rows_remember_their_weights() -> None:
    replay, playing = ReplayPart(SETTINGS), ActorPart("kuhn_poker", SETTINGS, 0, 0, 1)
    first = replay.add(playing.play(WEIGHTS, 0, 2, 0))
    second = replay.add(playing.play(WEIGHTS, 10, 2, 0))
    assert second.added == first.rows + second.rows == second.held
    assert second.version == pytest.approx(10 * second.rows / second.held)
    restored = ReplayPart(SETTINGS, replay.state())
    np.testing.assert_array_equal(restored.versions, replay.versions)
    batches = [keeper.sample(2, (1, 2))[1].content for keeper in (replay, restored)]
    np.testing.assert_array_equal(*batches)


def test_a_learner_goes_on_from_its_state() -> None:
    replay, playing = ReplayPart(SETTINGS), ActorPart("kuhn_poker", SETTINGS, 0, 0, 1)
    replay.add(playing.play(WEIGHTS, 0, 4, 0))
    first = LearnerPart("kuhn_poker", SETTINGS, 0, "cpu")
    first.learn(replay.sample(3, (0,)))
    second = LearnerPart("kuhn_poker", SETTINGS, 0, "cpu", first.state())
    for learner in (first, second):
        assert learner.learn(replay.sample(2, (1,))).steps == 5
    assert first.weights() == second.weights()


def test_a_run_without_rounds_drops_the_older_half_of_its_window_once() -> None:
    rows, counts = ActorPart("kuhn_poker", SETTINGS, 0, 0, 1), dict[int, int]()
    block = rows.play(network_bytes(CVPN(SETTINGS.shape, 1)), 0, 8, 0)
    for halved_at in (0, 2):
        replay = ReplayPart(replace(SETTINGS, halved_at=halved_at))
        replay.add(block)
        counts[halved_at] = len(replay.window)
    assert counts == {0: replay.window.added, 2: replay.window.added - 1}


def test_rows_are_learned_by_a_games_symmetries() -> None:
    """Where the settings say so; the same steps then come to another network, and twice to the same one."""
    plain = connect_four_settings()
    weights = network_bytes(CVPN(plain.shape, 1))
    replay = ReplayPart(plain)
    replay.add(ActorPart("connect_four", plain, 0, 0, 1).play(weights, 0, 2, 0))
    found = []
    for symmetries in (True, True, False):
        settings = replace(plain, learner=replace(plain.learner, symmetries=symmetries))
        learning = LearnerPart("connect_four", settings, 0, "cpu")
        learning.learn(replay.sample(3, (0,)))
        found.append(learning.weights())
    assert found[0] == found[1] != found[2]


# --- the supervisor ---


def test_samples_per_row_are_as_set(there: Executor) -> None:
    supervisor, largest = Supervisor(there, start(), Totals()), 0.0

    def seen() -> bool:
        nonlocal largest
        largest = max(largest, supervisor.block_rows)  # which falls after small blocks, and rows of larger ones wait
        return supervisor.totals.rows >= 300

    go(supervisor, seen)
    totals, vitals = supervisor.totals, supervisor.vitals()
    assert totals.steps * 8 <= UPDATES * totals.rows
    waiting = totals.rows - totals.steps * 8 / UPDATES
    assert waiting <= 4.0 * largest * 2 + 4.0 + 4 * largest
    assert sum(rows for rows, _ in vitals.rates.values()) > 0 and 0 < vitals.fill <= 1
    assert vitals.samples_per_row <= UPDATES and vitals.age >= 0 and 0 < vitals.network_share < 1
    end(supervisor)


class SlowLearning(LearnerPart):
    """A learner that takes its time."""

    def learn(self, batches):  # type: ignore[no-untyped-def]
        time.sleep(0.05 * len(batches))
        return super().learn(batches)


def test_actors_wait_for_a_slow_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that wait to be learned from stay bounded, and actors are idle meanwhile."""
    monkeypatch.setattr("sog.training.stream.supervisor.LearnerPart", SlowLearning)
    with executor(Placement("local", 2)) as there:
        supervisor, idle, most, largest = Supervisor(there, start(), Totals()), 0, 0.0, 0.0

        def seen() -> bool:
            nonlocal idle, most, largest
            idle += supervisor.vitals().waiting_actors
            largest = max(largest, supervisor.block_rows)  # which falls after small blocks
            most = max(most, supervisor.totals.rows - supervisor.totals.steps * 8 / UPDATES)
            return supervisor.totals.steps >= 100

        go(supervisor, seen)
        assert idle > 10
        assert most <= 14 * largest
        assert supervisor.totals.steps * 8 / supervisor.totals.rows > 0.5 * UPDATES


class NumberedPlaying(ActorPart):
    """An actor whose blocks say the number of the round as their version."""

    def play(self, weights: bytes, version: int, games: int, number: int) -> RowBlock:
        return replace(super().play(weights, version, games, number), version=number)


def test_actors_are_given_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which schedules of self-play count: as many games as a run by rounds has played by then."""
    monkeypatch.setattr("sog.training.stream.supervisor.ActorPart", NumberedPlaying)
    with executor(Placement("local", 2)) as there:
        supervisor = Supervisor(there, start(), Totals())
        go(supervisor, lambda: supervisor.totals.games >= 12 * 2 * SETTINGS.games)
        assert supervisor.round == 12
        assert 0 < supervisor.row_version < 12


def test_whatever_dies_is_replaced(there: Executor) -> None:
    """From the latest checkpoint; what was lost is counted."""
    kept: list[tuple[State, State]] = []
    supervisor = Supervisor(there, start(lambda: kept[-1] if kept else None), Totals())
    totals = supervisor.totals
    go(supervisor, lambda: totals.steps > 20)
    kept.append(supervisor.states())
    saved_steps, saved_rows = int(kept[0][0]["learner"]["steps"]), int(kept[0][1]["window"]["added"])
    go(supervisor, lambda: totals.steps > saved_steps + 20)

    first = supervisor.actors[0]
    os.kill(first.remote.process(), signal.SIGKILL)
    go(supervisor, lambda: totals.deaths == 1)
    assert totals.incarnations == 3 and totals.lost_rows == totals.lost_steps == 0

    rows = totals.rows
    os.kill(supervisor.replay.process(), signal.SIGKILL)
    go(supervisor, lambda: totals.deaths == 2)
    assert 0 < totals.lost_rows <= totals.rows + rows - saved_rows
    os.kill(supervisor.learner.process(), signal.SIGKILL)
    go(supervisor, lambda: totals.deaths == 3)
    steps, played = totals.steps, totals.games
    go(supervisor, lambda: totals.steps > steps + 30 and totals.games > played + 30)
    assert totals.deaths == 3
    end(supervisor)


# --- a whole run ---


def test_a_first_save_that_fails_leaves_no_curve_without_a_checkpoint(tmp_path: Path) -> None:
    """Such a curve would be taken for another run's, and the same command refused."""

    def look(supervisor: Supervisor) -> None:
        def lost() -> tuple[State, State]:
            raise SogError("interrupted")

        supervisor.states = lost  # type: ignore[method-assign]

    with pytest.raises(SogError, match="interrupted"):
        train_stream(RUN, SETTINGS, tmp_path, Until(rounds=1), False, StreamHooks(look=look), Placed(HERE))
    assert checkpoint.is_begun(tmp_path / "checkpoint") or not (tmp_path / "curve.csv").exists()


def test_a_learner_that_dies_at_the_end_leaves_a_checkpoint_a_curve_and_a_word(tmp_path: Path) -> None:
    said: list[str] = []

    def look(supervisor: Supervisor) -> None:
        if supervisor.totals.games >= 3 * 2 * SETTINGS.games:
            os.kill(supervisor.learner.process(), signal.SIGKILL)

    hooks = StreamHooks(look=look, note=said.append)
    assert train_stream(RUN, SETTINGS, tmp_path, Until(rounds=3), False, hooks, Placed(HERE)).round == 3
    assert any("died at the end" in line for line in said)
    assert len(checkpoint.load_state(tmp_path / "checkpoint")["points"]) == 3
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 4


def test_a_save_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that keeps nothing for a while must not look like one that does."""
    monkeypatch.setattr(round_loop, "next_save", lambda took: 0.0)
    monkeypatch.setattr(loop, "_LOOK", 0.0)  # each turn: a fast machine plays all four rounds within a second
    said: list[str] = []

    def look(supervisor: Supervisor) -> None:
        if supervisor.totals.deaths == 0 and supervisor.totals.games >= 3 * SETTINGS.games:
            os.kill(supervisor.learner.process(), signal.SIGKILL)

    hooks = StreamHooks(look=look, note=said.append)
    train_stream(RUN, SETTINGS, tmp_path, Until(rounds=4), False, hooks, Placed(HERE))
    assert any(line.startswith("nothing was saved") for line in said)
    assert len(checkpoint.load_state(tmp_path / "checkpoint")["points"]) == 4


def test_a_run_whose_end_cannot_be_kept_fails(tmp_path: Path) -> None:
    def look(supervisor: Supervisor) -> None:
        def lost() -> tuple[State, State]:
            raise WorkLost("dead")

        supervisor.states = lost  # type: ignore[method-assign]

    said: list[str] = []
    hooks = StreamHooks(look=look, note=said.append)
    with pytest.raises(CheckpointError, match="the run's end is not kept"):
        train_stream(RUN, SETTINGS, tmp_path, Until(rounds=1), False, hooks, Placed(HERE))
    assert sum("died at the end" in line for line in said) == 3


def test_a_smaller_window_takes_the_newest_rows_of_a_larger_one() -> None:
    """As a preset may have after a run was saved."""
    shape = NetworkShape(3, (2, 2), 2, 8, 1)
    large = TrainSettings(None, LearnerSettings(batch=4), shape, replay=10)
    replay = ReplayPart(large)
    for version in (0, 7):
        replay.add(RowBlock(Harvest(pack(shape, blank_rows(shape, 4)), 1, 1, 1), version, 0.0, 0.0, 0.0, "here"))
    small = ReplayPart(replace(large, replay=5), replay.state())
    assert len(small.window) == 5 and small.state()["versions"].tolist() == [0, 7, 7, 7, 7]
    assert ReplayPart(replace(large, replay=20), replay.state()).state()["versions"].tolist() == [0] * 4 + [7] * 4


def test_a_run_is_saved_and_goes_on(tmp_path: Path) -> None:
    out, seen = tmp_path / "run", list[Vitals]()

    def train(rounds: int, resume: bool) -> int:
        hooks = StreamHooks(look=lambda supervisor: seen.append(supervisor.vitals()))
        return train_stream(RUN, SETTINGS, out, Until(rounds=rounds), resume, hooks, Placed(HERE)).round

    assert train(3, False) == 3 and seen
    meta = checkpoint.load_meta(out / "checkpoint")
    assert meta.run == RUN.name and meta.run.endswith("without rounds")
    with pytest.raises(CheckpointError, match="--resume"):
        train(5, False)
    assert train(6, True) == 6
    state = checkpoint.load_state(out / "checkpoint")
    assert state["totals"]["incarnations"] == 4 and len(state["points"]) == 6
    assert state["totals"]["steps"] == state["learner"]["steps"] > meta.step
    assert (out / "snapshots" / "000004").is_dir()
    with pytest.raises(CheckpointError, match="holds the run"):
        train_stream(replace(RUN, seed=1), SETTINGS, out, Until(rounds=7), True, StreamHooks(), Placed(HERE))


def test_measuring_is_no_training(tmp_path: Path) -> None:
    """Its seconds count neither in the curve nor in the checkpoint, as in a run by rounds."""
    measured, began = list[float](), time.monotonic()

    def measure(network: CVPN) -> float:
        time.sleep(1.0)
        measured.append(1.0)
        return 0.5

    hooks = StreamHooks(measure=measure, measure_every=1)
    last = train_stream(RUN, SETTINGS, tmp_path / "run", Until(rounds=3), False, hooks, Placed(HERE))
    assert len(measured) == 3 and last.measured == 0.5
    assert 60.0 * last.minutes + sum(measured) < time.monotonic() - began


def test_the_last_network_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where time was up between two measurements, too."""
    monkeypatch.setattr("sog.training.loop.is_due", lambda hooks, number, total: False)
    hooks = StreamHooks(measure=lambda network: 0.25)
    last = train_stream(RUN, SETTINGS, tmp_path / "run", Until(rounds=3), False, hooks, Placed(HERE))
    assert last.round == 3 and last.measured == 0.25
    curve = (tmp_path / "run" / "curve.csv").read_text().splitlines()
    assert curve[-1].endswith(",0.25") and curve[-2].endswith("nan")


def test_a_processors_minutes_are_for_one_process(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="one process"):
        train_stream(RUN, SETTINGS, tmp_path / "run", Until(processor=1.0), False, StreamHooks(), Placed(HERE))


def test_a_run_begins_with_a_network_of_its_own(tmp_path: Path) -> None:
    run, hooks = replace(RUN, begins="a/b"), StreamHooks()
    with pytest.raises(SettingError, match="a network of its own"):
        train_stream(run, SETTINGS, tmp_path / "run", Until(), False, hooks, Placed(HERE))
    assert not (tmp_path / "run").exists()


def test_one_evaluator_answers_all_actors(tmp_path: Path) -> None:
    """With the newest weights; it ends with the run, and no actors of another machine may ask it."""
    seen: list[tuple[Counters, int, int]] = []

    def look(supervisor: Supervisor) -> None:
        assert supervisor.start.evaluator is not None
        deadline = time.monotonic() + 120
        while supervisor.start.evaluator.counters().actors < 2:  # one alone may play all the games
            assert time.monotonic() < deadline
            time.sleep(0.01)
        seen.append((supervisor.start.evaluator.counters(), supervisor.published, supervisor.totals.rows))

    before = set(multiprocessing.active_children())
    served, hooks = Placed(HERE, evaluator=Residence()), StreamHooks(look=look)
    assert train_stream(RUN, SETTINGS, tmp_path / "run", Until(rounds=40), False, hooks, served).rows > 0
    counters, published, rows = seen[-1]
    assert counters.actors == 2 and counters.version == published > 0
    assert counters.rows > rows > 0 and counters.mean_batch >= 1
    assert set(multiprocessing.active_children()) <= before
    elsewhere = replace(served, actors=Placement("ray", 2))
    with pytest.raises(SettingError, match="own machine"):
        train_stream(RUN, SETTINGS, tmp_path / "other", Until(rounds=1), False, hooks, elsewhere)


def test_a_run_without_rounds_keeps_its_networks_value_planes(tmp_path: Path) -> None:
    """As one by rounds does, whatever the preset has now."""
    run = Run("connect_four", workers=1, rounds=False, algorithm="alphazero")
    one = connect_four_settings()
    many = replace(one, shape=replace(one.shape, value_planes=16))
    for rounds, settings in ((1, one), (2, many)):
        placed = Placed(Placement("local", 1))
        train_stream(run, settings, tmp_path, Until(rounds=rounds), rounds > 1, StreamHooks(), placed)
    assert checkpoint.load_meta(tmp_path / "checkpoint").shape.value_planes == 1


@pytest.mark.parametrize(("before", "round_number", "wanted"), [(4, 1, 8), (5, 1, 8), (30, 5, 34), (0, 0, 4)])
def test_a_round_is_played_whatever_was_played_before(before: int, round_number: int, wanted: int) -> None:
    """Of 2 workers and 2 games each: games beyond a round count for the next, those of more workers do not."""
    totals, record = Totals(games=before), TrainingRecord([Point(games=before)], round_number)

    class Counting:
        def turn(self) -> None:
            totals.games += 1

    rounds = SimpleNamespace(
        record=record,
        totals=totals,
        settings=replace(SETTINGS, games=2),
        run=RUN,
        supervisor=Counting(),
        _next_look=math.inf,
        _point=lambda: totals.games,
    )
    watch = SimpleNamespace(pause=lambda: False)
    assert StreamRounds.play_round(rounds, watch) == wanted  # type: ignore[arg-type, comparison-overlap]

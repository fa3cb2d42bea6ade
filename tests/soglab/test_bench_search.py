"""Where time goes: the parts are all there, add up, and the timers are taken off again."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from types import SimpleNamespace

import pytest
import typer

from sog.algorithms import table
from sog.cli.app import main
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from sog.searches.gtcfr.settings import Budget
from sog.training import settings
from sog.training.settings import TrainSettings
from soglab.bench import mctx_search
from soglab.bench import root as bench_root
from soglab.bench import search as bench_search
from soglab.bench import training_minute as bench_training
from soglab.bench.search import SEARCH_PLACES, bench_searches
from soglab.bench.stopwatch import Stopwatch
from soglab.cli.bench import bench


def wait(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def wait_twice() -> Generator[str, str, None]:
    time.sleep(0.02)
    answer = yield "asked"
    assert answer == "told"
    library.wait(0.01)


library = SimpleNamespace(wait=wait, wait_twice=wait_twice)


def test_a_stopwatch_counts_parts_by_job() -> None:
    watch = Stopwatch()
    with watch.watching([(library, "wait", "waits", False), (library, "wait_twice", "job", True)]):
        assert library.wait(0.01) == 0.01
        job = library.wait_twice()
        assert next(job) == "asked"
        time.sleep(0.05)
        with pytest.raises(StopIteration):
            job.send("told")
    assert library.wait is wait
    assert library.wait_twice is wait_twice
    assert watch.seconds("waits", "") >= 0.01
    assert watch.seconds("waits", "job") >= 0.01
    assert watch.seconds("waits") == watch.seconds("waits", "") + watch.seconds("waits", "job")
    assert watch.whole("job") >= 0.03
    assert watch.total() - watch.whole("job") >= 0.05  # time between a job's steps is not the job's


def test_timers_are_taken_off_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), Stopwatch().watching([(library, "wait", "waits", False)]):
        raise ZeroDivisionError
    assert library.wait is wait


def test_rows_of_searches() -> None:
    game = make_game("kuhn_poker")
    before = [vars(owner)[name] for owner, name, _, _ in SEARCH_PLACES]
    network = CVPN(shape_for(game, width=8, depth=1))
    rows = list(bench_searches(game, network, [Budget(10)], 1, 0.02, lambda done, note: None))
    assert [row.side_by_side for row in rows] == [1, 64]
    for row in rows:
        assert (row.game, row.search, row.network) == ("kuhn_poker", "(10,1)", "mlp 1x8")
        assert row.us_per_iteration == pytest.approx(1e5 / row.searches_per_second)
        sweeps = row.down_share, row.up_share, row.finish_share
        shares = row.network_share, *sweeps, row.growth_share, row.python_share
        assert all(0 < share < 1 for share in shares)
        assert sum(shares) == pytest.approx(1)
        assert row.sweep_share == pytest.approx(sum(sweeps))
    assert [vars(owner)[name] for owner, name, _, _ in SEARCH_PLACES] == before


def test_parts_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def small(*arguments: object) -> TrainSettings:
        return settings.TrainSettings(**{**vars(made), "games": 2, "shape": shape_for(game, width=8, depth=1)})

    game = make_game("kuhn_poker")
    made = table.settings_of(game, "full")
    monkeypatch.setattr("soglab.bench.training_minute.sog_preset", small)
    parts = bench_training.profile_one_process("kuhn_poker", "full", 0.2)
    assert {part.part for part in parts} == {
        "self-play: sweeps", "self-play: growth", "self-play: Python", "query solves: sweeps", "query solves: growth",
        "query solves: Python", "network", "training rows", "learner", "replay window", "checkpoints", "other",
    }  # fmt: skip
    assert sum(part.share for part in parts) == pytest.approx(1)
    assert all(-0.02 < part.share < 1 for part in parts)
    # How far a run of seconds gets depends on the machine: only its first part is sure to have happened.
    assert next(part.share for part in parts if part.part == "self-play: sweeps") > 0
    beside = bench_training.profile_learner("kuhn_poker", "full", 0.2, 2)
    learner = [part for part in beside if part.who == "learner of 2 workers"]
    assert sum(part.share for part in learner) == pytest.approx(1)
    assert next(part.share for part in learner if part.part == "waiting") > 0


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no_game", "no game is called no_game"),
        ("kuhn_poker --search 10,1", "No such option: --search"),
        ("kuhn_poker -s 0", "Invalid value for '--simulations'"),
        ("kuhn_poker -c 1 -c nan", "Invalid value for '--per-update'"),
        ("kuhn_poker --rounds 0", "Invalid value for '--rounds'"),
        ("kuhn_poker --batch-seconds nan", "Invalid value for '--batch-seconds': must be a number above 0"),
    ],
)
def test_bad_input(line: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "search", *line.split()]) == 2
    told = capsys.readouterr()
    assert why in told.err
    assert told.out == ""


def test_budgets_are_those_of_the_figures() -> None:
    assert [str(budget) for budget in bench_search.BUDGETS] == ["(10,1)", "(100,1)", "(100,0.1)", "(1000,1)"]


@pytest.mark.parametrize("command", ["search --no-training", "root"])
@pytest.mark.parametrize(
    ("line", "budgets"),
    [
        ("-s 10 -s 100 -c 0.5 -c 2", ["(10,0.5)", "(10,2)", "(100,0.5)", "(100,2)"]),
        ("--simulations 7", ["(7,1)"]),  # what `sog exploit` adds
        ("--per-update 0.1", ["(100,0.1)"]),
    ],
)
def test_budgets_are_written_as_for_exploit(
    command: str, line: str, budgets: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []

    def measure(game: object, network: object, chosen: list[Budget], *more: object) -> list[object]:
        measured.extend(map(str, chosen))
        return []

    monkeypatch.setattr(bench_search, "bench_searches", measure)
    monkeypatch.setattr(bench_root, "bench_root", measure)
    name, *options = command.split()
    assert main(["bench", name, "kuhn_poker", *options, *line.split(), "--json"]) == 0
    assert measured == budgets


def test_simulations_beside_openspiel(capsys: pytest.CaptureFixture[str]) -> None:
    """Six searches with a constant network and two with networks, which take most of their time."""
    assert main(["bench", "simulations", "connect_four", "-s", "20", "--rounds", "1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    if mctx_search.is_installed():
        beside = rows.pop(6)
        assert beside["search"] == "mctx (20)" and beside["simulations_per_second"] > 0
    assert [row["network"] for row in rows] == ["constant"] * 5 + ["random rollout", "resnet 4x32", "resnet 6x64"]
    assert all(row["simulations_per_second"] > 0 for row in rows)
    assert [row["network_share"] > 0 for row in rows] == [False] * 6 + [True] * 2
    assert [row["search"] for row in rows[:2]] == ["SoG(20,1)", "SoG(20,1), sweeps"]
    assert rows[3]["search"] == "AlphaZero(20)" and "OpenSpiel" in rows[4]["search"] and "C++" in rows[5]["search"]


def test_what_is_measured_is_the_argument_of_every_benchmark() -> None:
    """No benchmark takes games, spots, budgets or sizes of networks by options of its own."""
    for name, command in typer.main.get_command(bench).commands.items():  # type: ignore[attr-defined]
        options = {option for parameter in command.params for option in parameter.opts}
        assert not options & {"--games", "--game", "--spots", "--search", "--width", "--depth"}, name
        assert ("-s" in options) == ("--simulations" in options) >= ("--per-update" in options) == ("-c" in options)
        arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
        assert len(arguments) == (name != "inference"), name

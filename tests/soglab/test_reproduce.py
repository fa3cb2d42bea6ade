"""The frame of reproduced experiments: points are kept, resumed and presented; its commands and their errors."""

from __future__ import annotations

import csv
import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sog
from sog.cli.app import main
from sog.cluster.placement import Placement
from sog.errors import SettingError
from soglab import reproduce
from soglab.checks.agreement import agreement
from soglab.plots import line_of
from soglab.reproduce import Reproduction, experiments, listing, unique
from soglab.study import (
    Beside,
    Experiment,
    Key,
    Note,
    Options,
    Outcome,
    PointFile,
    Result,
    Study,
    StudyPoint,
    code_id,
    one_run,
)
from tests.waiting import alive, wait_for

Capture = pytest.CaptureFixture[str]


def plan(options: Options, note: Note) -> list[Key]:
    note("three points")
    return [{"k": k} for k in range(1 if options.quick else 3)]


def square(key: Key) -> Result:
    return {"square": key["k"] ** 2}


def process(key: Key) -> Result:
    return {"process": os.getpid()}


def fail_at_two(key: Key) -> Result:
    if key["k"] == 2:
        raise SettingError("two is too many")
    return square(key)


def present(points: list[StudyPoint]) -> Outcome:
    rows = [point.row for point in points]
    return Outcome(rows, {"picture": lambda figure: figure.subplots()}, [Beside("points", "3", str(len(points)))])


def toy(compute: Any = square, **more: Any) -> Experiment:
    return Experiment("toy", "SoG", "Fig. 0", 1, "squares", Study(plan, compute, present, **more))


def run(experiment: Experiment, out: Path, options: Options | None = None, workers: int = 1) -> list[str]:
    """Run an experiment; what its progress bar was told."""
    told: list[str] = []
    work = Reproduction(experiment, options or Options(), out, lambda line: None)
    work.run(Placement("local", workers), lambda done, note: told.append(f"{done} {note}".strip()))
    return told


def lines(out: Path) -> list[str]:
    return (out / "toy" / "points.jsonl").read_text().splitlines()


# --- the frame ---


def test_points_are_computed_kept_and_written(tmp_path: Path) -> None:
    assert run(toy(), tmp_path) == ["0", "1 0", "2 1", "3 2"]
    assert [json.loads(line) for line in lines(tmp_path)] == [
        {"key": {"k": k}, "result": {"square": k * k}, "version": sog.__version__, "code": code_id()} for k in range(3)
    ]
    with (tmp_path / "toy" / "toy.csv").open() as file:
        assert list(csv.DictReader(file)) == [{"k": str(k), "square": str(k * k)} for k in range(3)]
    assert (tmp_path / "toy" / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_finished_points_are_not_computed_again(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="two is too many"):
        run(toy(fail_at_two), tmp_path)
    assert len(lines(tmp_path)) == 2
    assert not (tmp_path / "toy" / "toy.csv").exists()
    assert run(toy(), tmp_path) == ["2", "3 2"]


def test_time_left_is_by_the_points_of_this_time(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sog.cli.frame._LINE_SECONDS", 0.0)
    monkeypatch.setattr(reproduce, "experiments", lambda: (toy(),))
    with pytest.raises(SettingError, match="two is too many"):
        run(toy(fail_at_two), tmp_path)
    assert main(["reproduce", "toy", "--out", str(tmp_path)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("toy: ")]
    assert said[0].startswith("toy: 2 of 3 points, ") and "left" not in said[0]  # they took no time now: no rate yet
    assert said[1].startswith("toy: 3 of 3 points, ") and "0.0 left" in said[1]


def test_finished_points_are_shown_before_the_rest_is_done(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "experiments", lambda: (toy(fail_at_two),))
    line = ["reproduce", "toy", "--out", str(tmp_path), "--so-far", "--json"]
    assert main(line) == 2 and "no point is finished yet" in capsys.readouterr().err
    with pytest.raises(SettingError, match="two is too many"):
        run(toy(fail_at_two), tmp_path)
    assert main(line) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["points"], said["planned"], said["files"]) == (2, 3, [])
    assert said["beside"] == [{"what": "points", "paper": "3", "ours": "2"}]
    assert not (tmp_path / "toy" / "toy.csv").exists() and len(lines(tmp_path)) == 2
    assert main([*line, "--workers", "2"]) == 2 and "computes nothing" in capsys.readouterr().err


def test_too_few_points_to_be_shown_are_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(SettingError):
        run(toy(fail_at_two), tmp_path)
    needy = Experiment("toy", "SoG", "Fig. 0", 1, "", Study(plan, square, lambda points: Outcome([points[2].row])))
    with pytest.raises(SettingError, match="2 of 3 points are finished, too few"):
        Reproduction(needy, Options(), tmp_path, lambda line: None).so_far()


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no point is finished"):
        Reproduction(toy(), Options(), tmp_path / "results", lambda line: None).so_far()
    assert not (tmp_path / "results").exists()


def test_a_line_cut_short_costs_its_point_only(tmp_path: Path) -> None:
    run(toy(), tmp_path)
    path = tmp_path / "toy" / "points.jsonl"
    path.write_text(path.read_text()[:-5])
    assert run(toy(), tmp_path) == ["2", "3 2"]
    assert run(toy(), tmp_path) == ["3"]


def test_points_of_another_version_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(toy(), tmp_path)
    monkeypatch.setattr(sog, "__version__", "other")
    assert run(toy(), tmp_path)[0] == "0"
    assert len(lines(tmp_path)) == 6


def test_processes_compute_the_points(tmp_path: Path) -> None:
    found = tmp_path / "toy" / "points.jsonl"
    run(toy(process), tmp_path, workers=2)
    used = {json.loads(line)["result"]["process"] for line in found.read_text().splitlines()}
    assert os.getpid() not in used


def test_timings_are_taken_one_at_a_time(tmp_path: Path) -> None:
    run(toy(process, alone=True), tmp_path, workers=2)
    assert {json.loads(line)["result"]["process"] for line in lines(tmp_path)} == {os.getpid()}


def test_quick_results_lie_apart(tmp_path: Path) -> None:
    run(toy(), tmp_path, Options(quick=True))
    assert (tmp_path / "toy-quick" / "toy.csv").exists()
    assert not (tmp_path / "toy").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.csv").write_text("mine")
    with pytest.raises(SettingError, match="holds other files"):
        run(toy(), tmp_path)
    assert (tmp_path / "toy" / "toy.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (Options(full=True), "toy takes no --full"),
        (Options(seeds=1), "toy takes no --seeds"),
        (Options(runs=(Path("runs"),)), "toy takes no --run$"),
        (Options(paper=True), "toy takes no --paper"),
    ],
)
def test_options_without_a_use_are_refused(options: Options, why: str, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=why):
        run(toy(), tmp_path, options)


def test_options_with_a_use_are_taken(tmp_path: Path) -> None:
    """They come to the plan as they were given."""
    seen: list[Options] = []
    experiment = toy(takes=("seeds",))

    def watched(options: Options, note: Note) -> list[Key]:
        seen.append(options)
        return plan(options, note)

    run(replace(experiment, study=replace(experiment.study, plan=watched)), tmp_path, Options(seeds=2))
    assert seen == [Options(seeds=2)]


def test_results_are_numbers(tmp_path: Path) -> None:
    points = PointFile(tmp_path)
    with pytest.raises(ValueError, match="JSON compliant"):
        points.add({"k": 0}, {"square": float("nan")})
    assert points.get({"k": 0}) is None


def test_the_order_of_a_key_does_not_matter(tmp_path: Path) -> None:
    PointFile(tmp_path).add({"a": 1, "b": 2}, {"x": 3})
    assert PointFile(tmp_path).get({"b": 2, "a": 1}) == {"x": 3}


def test_points_that_other_code_computed_are_used_and_counted(tmp_path: Path) -> None:
    experiment, notes = toy(), list[str]()
    run(experiment, tmp_path, Options())
    work = Reproduction(experiment, Options(), tmp_path, notes.append)
    assert notes == ["three points"]
    first, *others = work.points.path.read_text().splitlines()
    older = {**json.loads(first), "code": "of before"}
    work.points.path.write_text("\n".join([json.dumps(older), *others]) + "\n")
    again = Reproduction(experiment, Options(), tmp_path, notes.append)
    assert again.done == len(again.keys)
    assert notes[1:] == ["three points", "1 of 3 points were computed by other code; a new --out computes all anew"]


KILLED = """
import sys
from pathlib import Path
import slow_study
from sog.cluster.placement import Placement
from soglab.study import PointFile, carry_out
if __name__ == "__main__":
    points = PointFile(Path(sys.argv[1]))
    carry_out(slow_study.STUDY, slow_study.KEYS, points, Placement("local", 2), lambda done, note: None)
"""

SLOW_STUDY = """
import os, time
from pathlib import Path
from soglab.study import Outcome, Study

KEYS = [{"folder": os.environ["TOY_FOLDER"], "k": k} for k in range(40)]

def compute(key):
    (Path(key["folder"]) / str(os.getpid())).touch()
    time.sleep(0.05 if key["k"] < 4 else 60)
    return {}

STUDY = Study(lambda options, note: KEYS, compute, lambda points: Outcome([]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_kill_keeps_the_points_and_leaves_no_process(tmp_path: Path) -> None:
    script, folder = tmp_path / "killed.py", tmp_path / "processes"
    script.write_text(KILLED)
    (tmp_path / "slow_study.py").write_text(SLOW_STUDY)
    folder.mkdir()
    environment = {**os.environ, "TOY_FOLDER": str(folder), "PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])}
    parent = subprocess.Popen([sys.executable, str(script), str(tmp_path / "points")], env=environment)
    kept = tmp_path / "points" / "points.jsonl"
    wait_for(lambda: kept.exists() and len(kept.read_text().splitlines()) == 4)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    processes = [int(path.name) for path in folder.iterdir()]
    assert processes
    wait_for(lambda: not any(alive(process) for process in processes))
    assert len(kept.read_text().splitlines()) == 4


# --- the experiments there are ---


def test_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [(experiment.paper, experiment.id) for experiment in experiments()]
    assert len(names) >= 35 and names == sorted(set(names))
    monkeypatch.setattr(reproduce, "experiments", lambda: (toy(), toy()))
    assert not any(entry["results"] for entry in listing(tmp_path))
    run(toy(), tmp_path)
    (entry, _) = listing(tmp_path)
    assert entry == {
        "id": "toy", "paper": "SoG", "figure": "Fig. 0", "minutes": 1, "what": "squares", "results": True
    }  # fmt: skip


def test_a_module_that_says_what_it_is_is_an_experiment() -> None:
    def module(name: str, **values: Any) -> ModuleType:
        made = ModuleType(name)
        made.__file__ = f"papers/{name}.py"
        vars(made).update(values)
        return made

    other = replace(toy(), id="other")
    modules = [module("one", EXPERIMENT=toy()), module("none"), module("several", EXPERIMENTS=(other,))]
    assert [experiment.id for experiment in unique(modules)] == ["toy", "other"]
    with pytest.raises(SettingError, match=r"two experiments are called toy: in papers/one\.py and papers/again\.py"):
        unique([*modules, module("again", EXPERIMENT=toy())])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("reproduce", "--list"),
        ("reproduce nothing", "no experiment is called nothing; known: "),
        ("reproduce resolving --list", "--list takes no experiment"),
        ("reproduce resolving --seeds 3", "resolving takes no --seeds"),
        ("reproduce resolving --workers 0", "Invalid value for '--workers'"),
        ("reproduce resolving --quick --full", "choose one"),
        ("reproduce resolving --run nosuch", "resolving takes no --run"),
    ],
)
def test_bad_input_is_told_in_one_line(line: str, why: str, tmp_path: Path, capsys: Capture) -> None:
    words = line.split()
    assert main([*words, "--out", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert why in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""


TAKING_RUNS = [experiment.id for experiment in experiments() if "runs" in experiment.study.takes]


@pytest.mark.parametrize("name", TAKING_RUNS)
@pytest.mark.parametrize("missing", [True, False], ids=["no folder", "an empty folder"])
def test_a_run_that_is_none_is_told_in_one_line(name: str, missing: bool, tmp_path: Path, capsys: Capture) -> None:
    folder, out = tmp_path / "nosuch", tmp_path / "out"
    if not missing:
        folder.mkdir()
    for more in ([], ["--quick"], ["--so-far"]):
        assert main(["reproduce", name, "--run", str(folder), "--out", str(out), *more]) == 2
        told = capsys.readouterr()
        assert told.out == "" and told.err.startswith("sog: ") and told.err.count("\n") == 1, told.err
        assert f"{folder}: no such training run" in told.err or not missing
    assert not out.exists()


def test_a_plan_is_heard_only_where_it_stands(tmp_path: Path) -> None:
    def refusing(options: Options, note: Note) -> list[Key]:
        note("both networks are there")
        if options.quick:
            raise SettingError("they are not")
        return [{"k": 1}]

    experiment = Experiment("toy", "SoG", "Fig. 0", 1, "squares", Study(refusing, square, present))
    told: list[str] = []
    with pytest.raises(SettingError, match="they are not"):
        Reproduction(experiment, Options(quick=True), tmp_path, told.append)
    assert told == []
    Reproduction(experiment, Options(), tmp_path, told.append)
    assert told == ["both networks are there"]


def test_reproduce_prints_one_object(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "experiments", lambda: (toy(),))
    assert main(["reproduce", "toy", "--out", str(tmp_path), "--workers", "1", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["beside"] == [{"what": "points", "paper": "3", "ours": "3"}]
    assert [Path(file).name for file in said["files"]] == ["picture.png", "toy.csv"]
    assert main(["reproduce", "--list", "--out", str(tmp_path), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["experiments"]
    assert {"id", "paper", "figure", "minutes", "results"} <= set(entry)
    assert entry["results"] is True


@pytest.mark.parametrize("form", [[], ["--json"], ["--so-far"]])
def test_a_check_that_fails_has_exit_code_1(
    form: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def differing(key: Key) -> Result:
        return {"agreed": 1 - key["seed"], "moves": 3, "difference": "d4: another move" if key["seed"] else ""}

    def compared(options: Options, note: Note) -> list[Key]:
        return [{"game": "chess", "seed": seed, "games": 1} for seed in range(1 if options.quick else 2)]

    study = Study(compared, differing, lambda points: agreement(["chess"], "picture", points))
    monkeypatch.setattr(reproduce, "experiments", lambda: (Experiment("toy", "", "", 1, "a check", study),))
    line, alone = ["reproduce", "toy", "--out", str(tmp_path)], ["--workers", "1"]
    assert main([*line, *alone, "--quick"]) == 0 and main([*line, *alone]) == 1
    capsys.readouterr()
    assert main([*line, *(form if form == ["--so-far"] else [*alone, *form])]) == 1
    printed = capsys.readouterr().out
    assert "1 of 2 games agree" in printed and "d4: another move" in printed
    if form == ["--json"]:
        assert json.loads(printed)["failed"] is True


def twice(options: Options, note: Note) -> list[Key]:
    return [{"run": str(run)} for run in options.runs]


def test_a_run_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    """Counted twice it would make intervals narrower than they are."""
    experiment = replace(toy(), study=Study(twice, square, present, takes=("runs",)))
    with pytest.raises(SettingError, match="named twice"):
        run(experiment, tmp_path, Options(runs=(tmp_path, tmp_path)))


def test_a_run_that_is_named_twice_is_refused_though_the_plan_would_count_it_once(tmp_path: Path) -> None:
    def once(options: Options, note: Note) -> list[Key]:
        return [{"run": str(run)} for run in dict.fromkeys(options.runs)]

    experiment = replace(toy(), study=Study(once, square, present, takes=("runs",)))
    with pytest.raises(SettingError, match="named twice"):
        run(experiment, tmp_path, Options(runs=(tmp_path, tmp_path / ".." / tmp_path.name)))


def test_an_experiment_about_one_network_takes_one_run(tmp_path: Path) -> None:
    assert one_run(Options()) is None and one_run(Options(runs=(tmp_path,))) == str(tmp_path)
    with pytest.raises(SettingError, match="name one --run"):
        one_run(Options(runs=(tmp_path, tmp_path / "b")))


def test_a_point_without_an_interval_has_no_bar() -> None:
    """One of length 0 would say that the figure is certain."""
    rows = [{"step": 0, "mean": 2.0, "interval": 0.5}, {"step": 1, "mean": 1.0, "interval": None}]
    line = line_of(rows, "step", "mean", error="interval")
    assert line.error is not None and line.error[0] == 0.5 and math.isnan(line.error[1])

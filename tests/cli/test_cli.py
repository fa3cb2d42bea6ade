"""The commands: what they print, what they write, and how they fail."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from rich.console import Console
from rich.table import Table

from sog import __version__
from sog.cli import frame as cli_frame
from sog.cli.app import app, main
from sog.cli.frame import progress_bar, stdout, write_unless_there
from sog.errors import GameError, SettingError
from sog.games import catalog
from sog.games.catalog import GAMES, make_history_game
from sog.games.rules.kuhn import Kuhn
from sog.measure import openspiel_table
from sog.searches.cfr import exact
from sog.searches.cfr.algorithms import NAMES
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.tree.public_tree import PublicTree
from sog.training.checkpoint import load_meta
from sog.training.shipped import find_checkpoint
from sog.training.shipped_folders import shipped_checkpoints
from tests.cli.answers import answer

Capture = pytest.CaptureFixture[str]


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


# --- help ---


@pytest.mark.parametrize("path", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_every_help_has_an_example(path: tuple[str, ...], capsys: Capture) -> None:
    assert main([*path, "--help"]) == 0
    assert f"Example: sog {' '.join(path)}".rstrip() in capsys.readouterr().out


def test_solve_lists_every_algorithm(capsys: Capture) -> None:
    assert main(["solve", "kuhn_poker", "--algorithm", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert all(len(line.split()) > 1 for line in lines)  # each with what it is
    assert answer(capsys, "solve", "kuhn_poker", "--algorithm", "list") == {"algorithms": list(NAMES)}


@pytest.mark.parametrize(
    ("words", "unused"),
    [
        (["solve", "--help"], {"numba"}),
        (["games"], {"torch", "pokerkit", "matplotlib"}),
        (["solve", "kuhn_poker", "--iterations", "10"], {"torch", "pokerkit", "matplotlib"}),
    ],
)
def test_commands_import_what_they_use(words: list[str], unused: set[str]) -> None:
    """The first answer comes within a second; PyTorch alone takes that."""
    code = f"import sys; from sog.cli.app import main; main({words}); sys.exit(bool({unused} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


def test_exploit_names_its_leaves(capsys: Capture) -> None:
    assert main(["exploit", "kuhn_poker", "--algorithm", "sog(leaves=zero)", "-s", "5", "--workers", "1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "alpha 0.5, zero leaves: exploitability" in printed and ", 1 seed, " in printed


@pytest.mark.parametrize(("paper", "said"), [("sog", "with sog, alpha 0.5"), ("pog", "with sog, alpha 0.2")])
def test_exploit_searches_as_either_paper(paper: str, said: str, capsys: Capture) -> None:
    line = ["exploit", "kuhn_poker", "--algorithm", f"sog(leaves=zero,paper={paper})", "-s", "5", "--workers", "1"]
    assert main(line) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_both_papers_at_once_are_refused(capsys: Capture) -> None:
    assert main(["exploit", "kuhn_poker", "--algorithm", "sog(leaves=zero,paper=both)"]) == 2
    assert "paper is sog or pog, not both" in capsys.readouterr().err


def test_no_words_show_the_help(capsys: Capture) -> None:
    assert main([]) == 0
    assert "Usage: sog" in capsys.readouterr().out


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_the_package_runs_as_a_module(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(sys, "argv", ["sog", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("sog", run_name="__main__")
    assert left.value.code == 0 and capsys.readouterr().out == f"{__version__}\n"


# --- bad input ---


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("nothing", "No such command 'nothing'"),
        ("bench", "Missing command"),
        ("solve", "Missing argument 'GAME'"),
        ("solve kuhn_poker extra", "extra"),
        ("solve kuhn_poker --bad", "No such option"),
        ("solve no_such_game", "no game is called no_such_game"),
        ("solve leduc_poker(", "not a game string"),
        ("solve my_games:DiePoker", "names a class, not a game; with GAMES"),
        ("solve liars_dice(numdice=0)", "numdice"),
        ("solve liars_dice(sides=2)", "liars_dice has no parameter sides"),
        ("solve kuhn_poker --algorithm bfs", "known: cfr, cfr+"),
        ("solve kuhn_poker --iterations 0", "Invalid value for '--iterations'"),
        ("solve kuhn_poker --iterations -7", "Invalid value for '--iterations'"),
        ("solve kuhn_poker --iterations many", "--iterations"),
        ("solve kuhn_poker --iterations 1e3", "--iterations"),
        ("solve kuhn_poker --target nan", "Invalid value for '--target': must be a number above 0"),
        ("solve kuhn_poker --target inf", "Invalid value for '--target': must be a number above 0"),
        ("solve kuhn_poker --target -0.1", "Invalid value for '--target': must be a number above 0"),
        ("solve kuhn_poker --target 0", "Invalid value for '--target': must be a number above 0"),
        ("solve kuhn_poker --out /no/such/folder/policy.json", "not a folder"),
        ("solve rps --check-openspiel", "OpenSpiel has no game rps"),
        ("solve kuhn_poker --algorithm list --iterations 3", "--algorithm list solves nothing"),
        ("reproduce --list --quick", "--list takes no experiment, and of the options --out and --json alone"),
        ("reproduce --list resolving", "--list takes no experiment, and of the options --out and --json alone"),
        ("reproduce leaf-tolerance --quick --workers 4", "measures time, one point after the other"),
        ("games kuhn_poker rps", "one game has a page at a time"),
        ("games --check-openspiel --markdown --json", "--markdown or --json, not both"),
        ("bench cfr no_such_game", "no game is called no_such_game"),
        ("bench cfr connect_four", "connect_four is too large to list: far more than 20,000,000 public states"),
        ("bench cfr kuhn_poker go(board_size=9)", "is too large to list"),
        ("bench cfr rps", "OpenSpiel has no game rps"),
        ("bench cfr --rounds 0", "Invalid value for '--rounds'"),
        ("tournament no_such_file.toml", "no_such_file.toml cannot be read"),
    ],
)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["", "json"])
def test_bad_input_is_one_line_and_code_2(line: str, why: str, form: list[str], capfd: Capture) -> None:
    assert main(line.split(" ") + form) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("sog: ")
    assert err.count("\n") == 1
    if line != "bench" or not form:  # a group takes no --json, and says that first
        assert why in err


def raising(error: BaseException) -> Any:
    def make_game(name: str) -> None:
        raise error

    return make_game


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(catalog, "make_game", raising(KeyboardInterrupt()))
    assert main(["solve", "kuhn_poker"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_fault_of_ours_is_one_line_and_code_1(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(catalog, "make_game", raising(TypeError("two\nlines")))
    monkeypatch.delenv("SOG_TRACEBACK", raising=False)
    assert main(["solve", "kuhn_poker"]) == 1
    assert capsys.readouterr().err == "sog: unexpected TypeError: two lines (set SOG_TRACEBACK=1 to see where)\n"
    monkeypatch.setenv("SOG_TRACEBACK", "1")
    with pytest.raises(TypeError):
        main(["solve", "kuhn_poker"])


# --- games ---


def test_games_lists_game_strings_that_can_be_made(capsys: Capture) -> None:
    listed = answer(capsys, "games")["games"]
    assert "leduc_poker" in [row["game"] for row in listed]
    assert main(["games"]) == 0
    printed = capsys.readouterr().out
    for row in listed:
        assert catalog.make_game(row["game"]).name == row["game"]
        assert row["game"] in [line.split(" ")[0] for line in printed.splitlines()]


def test_games_says_what_is_trained_and_what_policies_learn(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """As making the game by histories and finding a checkpoint do; all but one string fits 100 columns."""
    listed = answer(capsys, "games")["games"]
    for row in listed:
        made = (
            contextlib.nullcontext()
            if row["histories"]
            else pytest.raises(GameError, match=r"no game by histories|public states alone")
        )
        with made:
            make_history_game(row["game"])
        for game in row["checkpoints"]:
            assert load_meta(find_checkpoint(game)).game == game
    assert sum(len(row["checkpoints"]) for row in listed) == len({load_meta(f).game for f in shipped_checkpoints()})
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["games"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0].partition("(")[0] for line in lines if len(line) > 100] == ["holdem", "battleship"]
    marks = {words[0]: words[1:3] for line in lines if len(words := line.split()) > 3}
    assert marks["kuhn_poker"] == ["no", "yes"] and marks["leduc_poker"] == ["yes", "yes"]
    assert marks["chess"] == ["yes", "no"] and marks["go(board_size=9,komi=7.5)"] == ["no", "no"]
    assert any("trained: go(board_size=7,komi=9.0)" in line for line in lines)


def test_games_says_what_each_parameter_means(capsys: Capture) -> None:
    by_name = {game["game"].partition("(")[0]: game for game in answer(capsys, "games")["games"]}
    assert by_name["go"]["parameters"]["board_size"] == "points a side; 2 to 19"
    assert by_name["kuhn_poker"]["parameters"] == {}


@pytest.mark.parametrize("name", [*GAMES, "go(board_size=5)", "openspiel:matrix_rps", "openspiel:othello"])
def test_a_game_has_a_page_with_commands_that_can_be_given(name: str, capsys: Capture) -> None:
    """Every command is one that there is, with options that it takes; each parameter is said with its default."""
    found = answer(capsys, "games", name)
    group = typer.main.get_command(app)
    assert isinstance(group, typer.main.TyperGroup) and found["game"].startswith(name)
    for line in found["commands"]:
        sog, command, *words = shlex.split(line)
        assert sog == "sog"
        group.commands[command].make_context(command, words)
    assert main(["games", name]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == found["game"] and len(printed.splitlines()) <= 40
    assert all(line in printed for line in found["commands"])
    assert all(f"\n{key} " in printed for key in found["parameters"])


def test_a_games_page_runs_for_the_networks_that_there_are(capsys: Capture) -> None:
    commands = answer(capsys, "games", "go")["commands"]
    assert "sog play 'go(board_size=7,komi=9.0)'" in commands and not any("solve" in line for line in commands)
    assert answer(capsys, "games", "leduc_poker")["commands"][:2] == [
        "sog play leduc_poker",
        "sog solve leduc_poker --iterations 1000",
    ]
    boards = {name: answer(capsys, "games", name)["commands"] for name in ("openspiel:othello", "openspiel:pig")}
    assert "sog train openspiel:othello" in boards["openspiel:othello"]
    assert [any("match" in line for line in lines) for lines in boards.values()] == [False, True]
    assert not any("solve" in line or "exploit" in line for lines in boards.values() for line in lines)


def test_a_page_has_no_command_that_is_refused(capsys: Capture) -> None:
    for name in ("scotland_yard(map=london)", "chess", "connect_four", "go", "holdem(bets=0.75)", "openspiel:othello"):
        commands = answer(capsys, "games", name)["commands"]
        assert not any("--iterations" in line or "sog exploit" in line for line in commands), name
    assert "sog exploit kuhn_poker --algorithm 'sog(leaves=zero)'" in answer(capsys, "games", "kuhn_poker")["commands"]
    # A network of another game is no network of this one.
    pig = answer(capsys, "games", "openspiel:pig")
    assert pig["checkpoints"] == [] and not any("othello" in line for line in pig["commands"])
    dice = answer(capsys, "games", "liars_dice(numdice=1,dice_sides=3)")
    assert dice["commands"][0] == "sog play 'liars_dice(numdice=1,dice_sides=3)'"
    assert "sog match 'scotland_yard(map=london)' random" in " ".join(
        answer(capsys, "games", "scotland_yard(map=london)")["commands"]
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["kun_poker"], "did you mean kuhn_poker?"),
        (["go(board_size=100)"], "go"),
        (["openspiel:nosuch"], "OpenSpiel has no game called nosuch"),
        (["kuhn_poker", "--markdown"], "--markdown goes with --check-openspiel"),
    ],
)
def test_what_is_no_game_has_no_page(words: list[str], why: str, capsys: Capture) -> None:
    assert main(["games", *words]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


def test_games_are_checked_against_openspiel(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    said = answer(capsys, "games", "--check-openspiel", "kuhn_poker", "openspiel:matrix_rps", "matrix_pd")
    assert [row["game"] for row in said["games"]] == ["kuhn_poker", "matrix_rps", "matrix_pd"]
    assert [row["agrees"] for row in said["games"]] == [True, True, False]
    assert main(["games", "--check-openspiel", "matrix_pd", "--markdown"]) == 0
    assert "| `matrix_pd` | is not zero-sum" in capsys.readouterr().out
    assert main(["games", "--check-openspiel", "nosuch_game"]) == 2
    assert "OpenSpiel has no game called nosuch_game" in capsys.readouterr().err
    monkeypatch.setattr(openspiel_table, "TOLERANCE", -1.0)
    assert main(["games", "--check-openspiel", "kuhn_poker"]) == 1
    assert "0 games agree with OpenSpiel" in capsys.readouterr().out


def test_a_nashconv_that_is_no_number_differs() -> None:
    sound = {f"{whose}{name}": 1.0 for whose in ("", "openspiel_") for name in ("uniform", "random", "cfr")}
    assert openspiel_table.OpenSpielRow("kuhn_poker", **sound).agrees
    for name in ("random", "openspiel_cfr"):
        row = openspiel_table.OpenSpielRow("kuhn_poker", **{**sound, name: float("nan")})
        assert row.differs and not row.agrees


# --- solve ---


def test_solve_prints_what_it_found(capsys: Capture) -> None:
    found = answer(capsys, "solve", "kuhn_poker", "--algorithm", "pcfr+", "--iterations", "500")
    assert list(found) == ["game", "algorithm", "iterations", "seconds", "value", "exploitability"]
    assert (found["game"], found["algorithm"], found["iterations"]) == ("kuhn_poker", "pcfr+", 500)
    assert found["value"] == pytest.approx(-1 / 18, abs=1e-5)
    assert 0 <= found["exploitability"] < 1e-6
    assert found["seconds"] > 0


def test_solve_tells_people_the_games_own_unit(capsys: Capture) -> None:
    found = answer(capsys, "solve", "leduc_poker", "--iterations", "100")
    assert main(["solve", "leduc_poker", "--iterations", "100"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for name in ("value", "exploitability"):
        assert f" {found[name]:.4g} ({1000 * found[name]:.4g} mbb/h)" in printed


def test_solve_in_batches_is_one_solve(capsys: Capture) -> None:
    found = answer(capsys, "solve", "kuhn_poker", "--iterations", "137")
    measure = exact.measure(exact.solve(PublicTree(Kuhn()).list_all(), CFR_PLUS, 137))
    assert (found["value"], found["exploitability"]) == (measure.value, measure.exploitability)


def test_solve_stops_at_its_target(capsys: Capture) -> None:
    line = ("solve", "kuhn_poker", "--target", "1e-3", "--iterations", "5000")
    found = answer(capsys, *line)
    assert found["exploitability"] <= 1e-3
    assert 10 < found["iterations"] < 1000
    assert answer(capsys, *line)["iterations"] == found["iterations"]


def test_solve_says_when_a_target_is_not_reached(capsys: Capture) -> None:
    assert main(["solve", "kuhn_poker", "--target", "1e-9", "--iterations", "20"]) == 0
    assert "not reached" in capsys.readouterr().out


def test_solve_checks_with_openspiel(capsys: Capture) -> None:
    found = answer(capsys, "solve", "kuhn_poker", "--iterations", "50", "--check-openspiel")
    assert found["nash_conv"] == 2 * found["exploitability"]
    assert found["openspiel_nash_conv"] == pytest.approx(found["nash_conv"], abs=1e-9)


def test_solve_writes_the_policy_and_overwrites_nothing(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "policy.json"
    line = ["solve", "leduc_poker", "--iterations", "10", "--out", str(out)]
    assert main(line) == 0
    written = out.read_text()
    read = json.loads(written)
    assert read["game"] == "leduc_poker"
    assert {entry["player"] for entry in read["policy"]} == {0, 1}
    for entry in read["policy"]:
        assert sum(entry["policy"].values()) == pytest.approx(1)
    capsys.readouterr()
    assert main(line) == 2
    assert "exists already" in capsys.readouterr().err
    assert out.read_text() == written
    assert list(tmp_path.iterdir()) == [out]


# --- bench ---


def test_bench_cfr(capfd: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rows = answer(capfd, "bench", "cfr", "kuhn_poker", "--rounds", "1")["rows"]
    assert {"ours, CFR+", "ours, CFR+ simultaneous", "OpenSpiel CFR+"} <= {row["solver"] for row in rows}
    ours = rows[0]
    for row in rows:
        assert row["game"] == "kuhn_poker"
        assert row["ratio_to_ours"] == pytest.approx(row["us_per_iteration"] / ours["us_per_iteration"])
        assert row["target_ratio"] == pytest.approx(row["seconds_to_target"] / ours["seconds_to_target"])
        assert row["setup_seconds"] > 0
    # LiteEFG keeps its game files out of the home folder; compiled kernels are kept there.
    assert {path.name for path in tmp_path.iterdir()} <= {".cache"}


# --- the progress bar ---


def until(shown: Callable[[], bool]) -> None:
    """Wait for the thread that draws the bar, for half a minute at most."""
    deadline = time.monotonic() + 30
    while not shown() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize("terminal", [True, False])
def test_the_progress_bar_is_for_terminals(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=terminal, width=120)
    monkeypatch.setattr(cli_frame, "stderr", lambda: console)
    monkeypatch.setattr(cli_frame, "_SILENT_SECONDS", 0.0)
    with progress_bar("solving", 10, "iterations") as report:
        report(5, "exploitability 0.5")
        until(lambda: "5 iterations" in shown.getvalue() or not terminal)
        report(10, "exploitability 0.1")
    assert ("solving" in shown.getvalue()) == terminal
    assert ("5 iterations" in shown.getvalue()) == terminal


def test_without_a_terminal_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(cli_frame, "stderr", lambda: Console(file=shown, width=40))
    monkeypatch.setattr(cli_frame, "_LINE_SECONDS", 0.0)
    _clock(monkeypatch, [0.0, 120.0, 180.0])
    with progress_bar("solving", 1_000, "iterations") as report:
        report(500, "exploitability [0.5]")
        report(1_000, "")
    first, second = shown.getvalue().splitlines()
    assert first == "solving: 500 of 1,000 iterations, 2.0 min, 2.0 left  exploitability [0.5]"
    assert second == "solving: 1,000 of 1,000 iterations, 3.0 min, 0.0 left"


def test_time_left_counts_what_was_done_before_and_ends_with_the_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(cli_frame, "stderr", lambda: Console(file=shown, width=40))
    monkeypatch.setattr(cli_frame, "_LINE_SECONDS", 0.0)
    _clock(monkeypatch, [0.0, 60.0, 120.0, 180.0])
    with progress_bar("training", 1_000, "rounds", begun=900, minutes=4.0) as report:
        for done in (900, 920, 990):
            report(done, "")
    assert [line.split(", ")[2] for line in shown.getvalue().splitlines()] == ["3.0 left", "2.0 left", "0.3 left"]


def test_time_left_of_a_processor_that_others_use_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the clock's time is this process's own: 4 minutes of it take 12, and 1.5 the last 4.5 of these."""
    shown = io.StringIO()
    monkeypatch.setattr(cli_frame, "stderr", lambda: Console(file=shown, width=40))
    monkeypatch.setattr(cli_frame, "_LINE_SECONDS", 0.0)
    _clock(monkeypatch, [0.0, 60.0, 450.0], share=1 / 3)
    with progress_bar("training", 1_000_000, "rounds", minutes=20.0, processor=4.0) as report:
        report(1, "")
        report(2, "")
    assert [line.split(", ")[2] for line in shown.getvalue().splitlines()] == ["11.0 left", "4.5 left"]


def test_time_left_counts_no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first two minutes one went by compiling: 10 rounds took the other one."""
    shown = io.StringIO()
    monkeypatch.setattr(cli_frame, "stderr", lambda: Console(file=shown, width=40))
    monkeypatch.setattr(cli_frame, "_LINE_SECONDS", 0.0)
    _clock(monkeypatch, [0.0, 120.0], compiling=60.0)
    with progress_bar("training", 100, "rounds") as report:
        report(10, "")
    assert shown.getvalue() == "training: 10 of 100 rounds, 2.0 min, 9.0 left\n"


def test_minutes_of_training_are_minutes_without_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `--minutes 4` three are left after two by the clock, of which one went by compiling."""
    shown = io.StringIO()
    monkeypatch.setattr(cli_frame, "stderr", lambda: Console(file=shown, width=40))
    monkeypatch.setattr(cli_frame, "_LINE_SECONDS", 0.0)
    _clock(monkeypatch, [0.0, 120.0], compiling=60.0)
    with progress_bar("training", 1_000_000, "rounds", minutes=4.0) as report:
        report(1, "")
    assert shown.getvalue() == "training: 1 of 1,000,000 rounds, 2.0 min, 3.0 left\n"


def _clock(monkeypatch: pytest.MonkeyPatch, times: list[float], compiling: float = 0.0, share: float = 1.0) -> None:
    """The progress lines' clock says these times, one after another; after the first, kernels have compiled so long.

    share: of the clock's time, what this process had a processor for.
    """
    clock, now = iter(times), times[0]

    def tick() -> float:
        nonlocal now
        now = next(clock)
        return now

    monkeypatch.setattr(cli_frame, "time", SimpleNamespace(monotonic=tick, process_time=lambda: share * now))
    monkeypatch.setattr(cli_frame, "working_time", lambda: now - (compiling if now > times[0] else 0.0))


def test_the_bar_says_how_long_until_the_minutes_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=120)
    monkeypatch.setattr(cli_frame, "stderr", lambda: console)
    monkeypatch.setattr(cli_frame, "_SILENT_SECONDS", 0.0)
    with progress_bar("training", 1_000_000, "rounds", minutes=75.5) as report:
        report(1, "")
        until(lambda: "1:15:2" in shown.getvalue())
    assert "1:15:2" in shown.getvalue()


def test_short_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True)
    monkeypatch.setattr(cli_frame, "stderr", lambda: console)
    monkeypatch.setattr(cli_frame, "_SILENT_SECONDS", 60.0)  # two of them may pass on a busy machine
    with progress_bar("solving", 10, "iterations") as report:
        report(10, "")
    assert shown.getvalue() == ""


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("games >&-", "stdout is closed"),
        ("solve kuhn_poker --algorithm list >/dev/full", "cannot write: No space left on device"),
        ("play kuhn_poker --seat 0 <&-", "standard input is closed: nobody can answer"),
    ],
)
def test_closed_or_full_pipes_are_no_fault_of_ours(line: str, why: str) -> None:
    """One line on stderr and exit code 2, with nothing that Python says at its end."""
    command = f"{shlex.quote(sys.executable)} -m sog {line}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    notes = [row for row in done.stderr.splitlines() if row.startswith("sog: ")]
    assert done.returncode == 2 and why in notes[-1] and "Error" not in done.stderr


def test_words_in_brackets_are_shown_as_they_are(capsys: Capture) -> None:
    """A game's own words, such as an infostate's name, may look like markup."""
    stdout().print("held: [bold]")
    table = Table(title="[red]")
    table.add_row("[/]")
    stdout().print(table)
    shown = capsys.readouterr().out
    assert all(words in shown for words in ("held: [bold]", "[red]", "[/]"))


def test_a_file_that_came_in_between_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "policy.json"
    write_unless_there(out, "ours")
    with pytest.raises(SettingError, match="exists already"):
        write_unless_there(out, "again")
    assert out.read_text() == "ours"


def test_an_agent_that_ends_the_program_is_a_fault_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "leaving_agent.py").write_text(
        "import sys\nimport sog\n\n\nclass Leaves(sog.Agent):\n    def policy(self, node):\n        sys.exit(0)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["exploit", "kuhn_poker", "--agent", "leaving_agent:Leaves", "--json"]) == 2
    said = capsys.readouterr()
    assert not said.out and "ended the program" in said.err

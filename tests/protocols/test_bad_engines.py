"""Engines at fault: each loses its games, soon, with the reason that is true, and nothing of it lives on."""

from __future__ import annotations

import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sog.errors import SettingError
from sog.protocols.tournament import Result, play_tournament
from sog.protocols.tournament_file import read_tournament

ENGINE = Path(__file__).parent / "fake_engine.py"
FAKE = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(ENGINE))}"
GO = 'game = "go(board_size=5,komi=0.5)"'
PATIENCE = 3.0  # a program that ends is begun anew for each game, on a machine that may be busy
AMPLE = 30.0  # for those that nobody waits for: a busy machine may take a while to start them
BRIEF = 0.5  # for those that are late whatever they are given
LATE = r"took longer than (0\.5|3) s"

# What an engine does when it is to make its second move, and what is then said of it.
GTP = {
    "dies": r"has ended \(exit code 3\)",
    "crashes": r"has ended \(signal 11\)",
    "hangs": LATE,
    "stops": LATE,
    "trickles": LATE,
    "half-a-line": LATE,
    "half-and-dies": r"has ended \(exit code 0\)",
    "endless-lines": r"printed more than 1,048,576 bytes without the empty line that ends an answer",
    "endless-line": r"printed a line of more than 1,048,576 bytes",
    "huge-line": r"printed a line of more than 1,048,576 bytes",
    "bytes": r"names \S+: illegal move",
    "number": r"names 9{77}\.\.\.: illegal move",
    "illegal": r"names a1a8: illegal move",
    "garbage": r"names Q99: illegal move",
    "wrong-id": r"names 17 c3: illegal move",
    "two-lines": r"names c3 d4: illegal move",
    "error": r"genmove \w: answered \? cannot think",
    "child": r"has ended \(exit code 3\)",
    "closes-output": r"genmove \w: has closed its output",
    "closes-input": r"(play \w \w+|boardsize 5): has closed its input",
    "komi-refused": r"komi 0\.5: answered \? unacceptable komi",
}
UCI = {
    "dies": r"has ended \(exit code 3\)",
    "hangs": LATE,
    "endless-line": r"printed a line of more than 1,048,576 bytes",
    "endless-lines": LATE,
    "illegal": r"names a1a8: illegal move",
    "bytes": r"names \S+: illegal move",
    "number": r"names 9{77}\.\.\.: illegal move",
    "error": r"names \(none\): illegal move",
    "wrong-id": r"names no move: illegal move",
    "two-lines": r"names 0000: illegal move",
    "child": r"has ended \(exit code 3\)",
    "closes-output": r"has closed its output",
}
FINE = ("none", "deaf", "keeps-a-child", "chatters", "komi-number", "resigns")


def tournament(folder: Path, text: str, patience: float = PATIENCE) -> list[Result]:
    (folder / "matches.toml").write_text(f"patience = {patience}\n{text}\n[agents.r]\nrandom = true\n")
    return list(play_tournament(read_tournament(folder / "matches.toml"), folder / "games"))


def patience_with(reason: str) -> float:
    return BRIEF if LATE in reason else AMPLE


def agent(protocol: str, fault: str, moves: int = 1) -> str:
    limit = "\nnodes = 1" if protocol == "uci" else ""
    return f'[agents.{fault}]\n{protocol} = "{FAKE} {protocol} {fault} {int(moves)}"{limit}'


@pytest.fixture(autouse=True)
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process that this test begins inherits its mark: other tests have fake engines at the same time."""
    monkeypatch.setenv(_MARK, str(tmp_path))


_MARK = "SOG_TEST_OF_BAD_ENGINES"


def running() -> set[str]:
    """The command lines of all processes that came of this test's fake engines."""
    mark = f"{_MARK}={os.environ[_MARK]}".encode()
    found = set[str]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            ours = mark in (process / "environ").read_bytes().split(b"\0")
            if ours and (str(ENGINE) in command or "time.sleep(1000.0)" in command):
                found.add(f"{process.name} {command}")
        except OSError:
            continue
    return found


def none_left(before: set[str]) -> bool:
    """Whether those that came since are gone; one that was just killed is listed for a moment."""
    deadline = time.monotonic() + 10
    while not running() <= before and time.monotonic() < deadline:
        time.sleep(0.05)
    return running() <= before


def check(results: list[Result], reasons: dict[str, str]) -> None:
    for result in results:
        bad = set(result.seats) & set(reasons)
        assert result.fault and len(bad) == 1
        name = bad.pop()
        assert re.search(rf"^{name}: .*{reasons[name]}$", result.why), result.why
        assert result.points[2] == (0.0 if result.seats[0] == name else 1.0)


def test_a_tournament_of_bad_gtp_engines_ends_with_every_reason_right(tmp_path: Path) -> None:
    """21 kinds against random play, each both ways round."""
    before = running()
    for name in GTP:
        (tmp_path / name).mkdir()
        moves = 0 if name == "closes-input" else 1  # its answer is legal on an empty board
        results = tournament(tmp_path / name, f"{GO}\n{agent('gtp', name, moves)}", patience_with(GTP[name]))
        assert len(results) == 2
        check(results, GTP)
    assert none_left(before)


@pytest.mark.parametrize("fault", UCI)
def test_bad_uci_engines_lose_with_the_right_reason(tmp_path: Path, fault: str) -> None:
    before = running()
    text = f'game = "chess"\n{agent("uci", fault)}'
    check(tournament(tmp_path, text, patience_with(UCI[fault])), {fault: UCI[fault]})
    assert none_left(before)


def test_odd_engines_that_break_no_rule_play_on(tmp_path: Path) -> None:
    before = running()
    engines = "\n".join(agent("gtp", fault, 99) for fault in FINE)
    results = tournament(tmp_path, f"{GO}\nlongest = 6\n{engines}", AMPLE)
    assert len(results) == len(FINE) * (len(FINE) + 1)
    assert not [result.why for result in results if result.fault]
    assert none_left(before)


def test_one_tournament_may_have_many_kinds_of_bad_engines(tmp_path: Path) -> None:
    """All against all and against random play: it ends, and every game has its loser and the true reason.

    Kinds that are waited for fail at their second move, so that only games among them and against random play wait.
    """
    before = running()
    waited = ("hangs", "trickles")
    kinds = [kind for kind in GTP if kind in waited or kind not in ("stops", "half-a-line")]
    assert len(kinds) == 19
    results = tournament(tmp_path, "\n".join([GO, *(agent("gtp", kind, kind in waited) for kind in kinds)]))
    assert len(results) == 20 * 19 and all(result.fault for result in results)
    for result in results:
        loser = result.seats[0] if result.utility < 0 else result.seats[1]
        assert re.search(rf"^{loser}: .*{GTP[loser]}$", result.why), result.why
    assert {result.why.split(":")[0] for result in results} == set(kinds)
    assert none_left(before)


def test_an_endless_engine_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "fine").mkdir()
    tournament(tmp_path / "fine", f"{GO}\nlongest = 4\n{agent('gtp', 'none')}")  # what any tournament takes
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tournament(tmp_path, f"{GO}\n{agent('gtp', 'endless-line', 0)}")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB; it pours gigabytes a second


def test_commands_that_cannot_start_lose_no_game(tmp_path: Path) -> None:
    """A wrong command is the person's mistake, not the engine's: the tournament does not begin."""
    (tmp_path / "text").write_text("not a program")
    broken = tmp_path / "broken"  # it may be started, as far as its mode says
    broken.write_bytes(b"\x7fELF, but not really")
    broken.chmod(0o755)
    commands = (str(tmp_path / "text"), "/no/such", "a\\u0000b", str(broken))
    for k, command in enumerate(commands):
        folder = tmp_path / str(k)
        folder.mkdir()
        with pytest.raises(SettingError, match=r"no program that can be started|does not start: Exec format"):
            tournament(folder, f"{GO}\n[agents.x]\ngtp = \"'{command}'\"")
        assert not any(path.is_dir() for path in folder.iterdir())


@pytest.mark.parametrize("protocol", ["gtp", "uci"])
@pytest.mark.parametrize("program", ["cat", "true", "yes", "silent", "dies-at-start"])
def test_a_program_that_speaks_no_protocol_loses_no_game(tmp_path: Path, protocol: str, program: str) -> None:
    """Nobody waits for `cat`, `true` and `yes`, whatever the patience; it is said before the first game."""
    before, started = running(), time.monotonic()
    of_ours, first = program in ("silent", "dies-at-start"), "[agents.a]\nrandom = true"
    command = f"{FAKE} {protocol} {program} 1" if of_ours else program
    game = GO if protocol == "gtp" else 'game = "chess"'
    text = f'{game}\n{first}\n[agents.x]\n{protocol} = "{command}"' + "\nnodes = 1" * (protocol == "uci")
    with pytest.raises(SettingError, match=f"agent x speaks no {protocol.upper()}: "):
        tournament(tmp_path, text, BRIEF if of_ours else 600.0)
    assert time.monotonic() - started < 60 and none_left(before)
    assert not (tmp_path / "games").exists()


def test_programs_that_other_processes_start_are_met_first(tmp_path: Path) -> None:
    path = tmp_path / "matches.toml"
    path.write_text(f'{GO}\n[agents.x]\ngtp = "cat"\n[agents.r]\nrandom = true\n')

    def apart(fixtures: object) -> Iterator[Any]:
        raise AssertionError("a game began")

    with pytest.raises(SettingError, match="agent x speaks no GTP"):
        list(play_tournament(read_tournament(path), tmp_path / "games", apart))


def test_a_path_may_have_spaces(tmp_path: Path) -> None:
    """As the whole line, or in quotes with arguments after it."""
    program = tmp_path / "my engines" / "one engine"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {FAKE} gtp none 9\n")
    program.chmod(0o755)
    for k, command in enumerate((str(program), f"'{program}' --quick")):
        (tmp_path / str(k)).mkdir()
        results = tournament(tmp_path / str(k), f'{GO}\nlongest = 4\n[agents.x]\ngtp = "{command}"', AMPLE)
        assert len(results) == 2 and not any(result.fault for result in results)


def test_a_gtp_engine_is_given_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_HEARS", str(tmp_path / "heard"))
    text = f"{GO}\n{agent('gtp', 'none')}\nseconds = 2"
    tournament(tmp_path, text, AMPLE)
    assert "time_settings 0 2 1" in (tmp_path / "heard").read_text().splitlines()


def test_a_uci_engine_is_given_its_options_and_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ENGINE_HEARS", str(tmp_path / "heard"))
    text = f'game = "chess"\nlongest = 3\n{agent("uci", "none")}'
    assert not any(r.fault for r in tournament(tmp_path, text + "\nseconds = 2\noptions = { hash = 4 }", AMPLE))
    heard = (tmp_path / "heard").read_text().splitlines()
    assert "setoption name hash value 4" in heard and any(line.endswith("movetime 2000") for line in heard)
    (tmp_path / "2").mkdir()
    with pytest.raises(SettingError, match="none has no option Hush"):
        tournament(tmp_path / "2", text + "\noptions = { Hush = 4 }", AMPLE)


@pytest.mark.parametrize("apart", [(), ("--cluster", "local:1")], ids=["here", "apart"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill"])
def test_engines_die_with_the_tournament(tmp_path: Path, apart: tuple[str, ...], how: signal.Signals) -> None:
    """In the middle of a game that hangs, whether this process or a worker plays it."""
    if how == signal.SIGKILL and not sys.platform.startswith("linux"):
        pytest.skip("WARNING: no signal of a parent's death here")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background is deaf to Ctrl-C
    before = running()
    path = tmp_path / "matches.toml"
    path.write_text(f"{GO}\npatience = 60\n{agent('gtp', 'hangs')}\n[agents.r]\nrandom = true\n")
    command = [sys.executable, "-m", "sog.cli.app", "tournament", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen([*command, *apart], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not running() - before and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(how)
        assert process.wait(60) == (130 if how == signal.SIGINT else -how)
    finally:
        process.kill()
    assert none_left(before)


@pytest.mark.parametrize("seed", [0, 1])
def test_othello_is_played_with_an_engine_that_speaks_gtp(tmp_path: Path, seed: int) -> None:
    """Whole games, passes among them; the engine refuses a wrong colour and a move that is illegal there."""
    engine = f"{sys.executable} {Path(__file__).with_name('othello_engine.py')}"
    said = f'game = "openspiel:othello"\nrounds = 3\nplies = 3\nseed = {seed}\n[agents.a]\ngtp = "{engine}"'
    results = tournament(tmp_path, said)
    assert len(results) == 6 and {result.why for result in results} == {"rules"}
    assert max(result.moves for result in results) > 60  # more than there are empty squares: some are passes
    assert not any(result.fault for result in results)

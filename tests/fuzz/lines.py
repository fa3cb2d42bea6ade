"""Lines for the UCI and the GTP engine, half of them valid but for one change; real processes under three locales.

Engines are called in this process, with a network that answers zero and searches of a node or two. A case is a
conversation of some lines. What must not be: an exception, a command without its one answer, a line of more than two
seconds, output that is no UTF-8, a process that ends before it is told to.
"""

from __future__ import annotations

import io
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Final

from sog.algorithms.student.player import SogPlayer, SogSearch
from sog.games.boards.chess import START, Chess
from sog.games.boards.go import Go
from sog.protocols import gtp, uci
from sog.protocols.lines import LONGEST, Lines
from sog.searches.gtcfr.settings import Budget
from sog.searches.leaves.evaluator import zero_evaluator
from tests.fuzz.frame import Finding, arguments, hunt

SLOWEST: Final = 2.0  # seconds for a line
LINES: Final = 40  # in a case
FLOOD: Final = 10_000  # lines during a search without an end
BYTES: Final = 1.2e9  # of a real process, most of which is the program itself
REAL: Final = 500  # cases from one of real processes to the next
LOCALES: Final = (
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:strict"},
)
FENS: Final = (
    START,
    "r3k2r/1P4pp/8/8/2pP4/8/PP3PPP/R3K2R b KQkq d3 0 7",
    "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1",
    "7k/P7/8/8/8/8/8/K7 w - - 99 150",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
)
PLAYED: Final = (
    *("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "e1g1", "f6e4"),
    *("d2d4", "e4d6", "c4f7", "e8f7", "d4e5", "d6f5", "d1d5", "f7e8"),
)
# By its first word, lines of each command; {n} is a number, {f} a FEN, {m} moves.
UCI: Final = {
    "uci": ["uci"], "isready": ["isready"], "ucinewgame": ["ucinewgame"], "stop": ["stop"], "quit": ["quit"],
    "ponderhit": ["ponderhit"], "debug": ["debug on"], "register": ["register later"],
    "setoption": [
        "setoption name MultiPV value {n}", "setoption name PerUpdate value {n}", "setoption name Threads value 1",
        "setoption name Simulations value 2", "setoption name Hash value {n}",
    ],
    "position": ["position startpos moves {m}", "position fen {f}", "position fen {f} moves {m}", "position startpos"],
    "go": [
        "go nodes 1", "go nodes 2 searchmoves {m}", "go nodes 1 wtime {n} btime {n} winc {n} binc {n} movestogo {n}",
        "go nodes 1 movetime {n}", "go nodes 1 depth {n}", "go nodes 1 mate {n}", "go movetime 1", "go", "go wtime 1",
        "go infinite", "go ponder nodes {n}", "go depth 1",
    ],
}  # fmt: skip
GTP: Final = {
    "protocol_version": [""], "name": [""], "version": [""], "list_commands": [""], "quit": [""], "clear_board": [""],
    "known_command": ["genmove", "{n}"], "boardsize": ["5", "{n}"], "komi": ["{n}", "0.5", "-7.5", "1e{n}"],
    "play": ["b {v}", "w {v}", "black pass", "WHITE {v}"], "genmove": ["b", "w"], "kgs-genmove_cleanup": ["b"],
    "reg_genmove": ["w"], "undo": [""], "time_settings": ["{n} {n} {n}", "0 1 0", "0 0 0"],
    "kgs-time_settings": ["none", "absolute {n}", "byoyomi {n} {n} {n}", "canadian {n} {n} {n}"],
    "time_left": ["b {n} {n}", "w {n} 0"], "final_score": [""], "final_status_list": ["alive", "dead", "seki"],
    "showboard": [""], "lz-analyze": ["", "b", "w {n}", "interval 1", "b interval {n}"], "sog-policy": [""],
    "sog-value": [""], "gogui-analyze_commands": [""], "kata-analyze": ["", "b", "w {n}"], "fixed_handicap": ["{n}"],
    "place_free_handicap": ["{n}", "2"], "set_free_handicap": ["{v} {v}"], "loadsgf": ["{n}", "/dev/null", "x {n}"],
}  # fmt: skip
NUMBERS: Final = (
    *("0", "1", "5", "30", "1000", "-1", "-0", "+1", "007", "1.5", ".5", "1e3", "1e308", "1e-400", "nan", "inf"),
    *("-inf", "0x10", "1_0", "\u0663", "\u00b2", "NaN", "2147483647", "2147483648", "9223372036854775808"),
    *("9" * 23, "9" * 400, "9" * 5000, "-" + "9" * 5000, "0" * 5000 + "1", "1." + "0" * 5000),
)
counts: Counter[str] = Counter()


def number(rng: random.Random) -> str:
    return rng.choice(NUMBERS) if rng.random() < 0.3 else str(rng.randrange(1, 100))


def valid(rng: random.Random, protocol: str) -> bytes:
    """A line of a command picked at random."""
    table = UCI if protocol == "uci" else GTP
    # `quit` ends the conversation, and what follows is not answered: seldom.
    command = rng.choice([name for name in table if name != "quit" or rng.random() < 0.02])
    line = rng.choice(table[command])
    if protocol == "gtp":
        line = f"{rng.choice(['', '', f'{rng.randrange(100)} '])}{command} {line}".strip()
    while "{n}" in line:
        line = line.replace("{n}", number(rng), 1)
    vertex = rng.choice("ABCDE") + rng.choice("12345")
    moves = PLAYED[: rng.randrange(len(PLAYED))]
    return line.replace("{v}", vertex).replace("{f}", rng.choice(FENS)).replace("{m}", " ".join(moves)).encode()


def mutated(rng: random.Random, line: bytes) -> bytes:
    """The line with one change."""
    words = line.split(b" ")
    k = rng.randrange(len(words))
    at = rng.randrange(len(line) + 1)
    bad = rng.choice([b"\xff", b"\xc3", b"\x00", b"\xed\xa0\x80", b"\r", b"\x1b[31m", b"\xe2\x80\xa8", b"\x85", b"#"])
    changes = (
        lambda: line[:at] + bytes([rng.randrange(256)]) + line[at + 1 :],
        lambda: line[:at] + bad + line[at:],
        lambda: line[:at],
        lambda: b" ".join([*words[:k], *words[k + 1 :]]),
        lambda: b" ".join([*words[:k], words[k], *words[k:]]),
        lambda: b" ".join([*words[:k], number(rng).encode(), *words[k:]]),
        lambda: b" ".join([*words[:k], number(rng).encode(), *words[k + 1 :]]),
        lambda: b" ".join(rng.sample(words, len(words))),
        lambda: b" ".join([*words[:k], rng.choice(valid(rng, "uci").split() or [b""]), *words[k:]]),
    )
    return rng.choice(changes)()


def garbage(rng: random.Random) -> bytes:
    kind = rng.randrange(20)
    if kind == 0:
        return rng.choice([b"x", b"9", b"position startpos moves e2e4 ", b"7 play "]) * rng.choice([1000, LONGEST])
    return rng.randbytes(rng.randrange(60)) if kind < 10 else mutated(rng, mutated(rng, valid(rng, "gtp")))


def conversation(rng: random.Random, protocol: str) -> list[bytes]:
    """Lines without their ends: a third valid, a third with one change, the rest anything."""
    said: list[bytes] = []
    for _ in range(rng.randrange(1, LINES)):
        kind = rng.randrange(6)
        line = garbage(rng) if kind > 3 else valid(rng, protocol) if kind < 2 else mutated(rng, valid(rng, protocol))
        said += line.split(b"\n")  # a change may have made two lines of it
    return said


def flood(rng: random.Random) -> list[bytes]:
    """Very many lines or very long ones during a search without an end, which stop, quit or the end of input ends."""
    line = rng.choice((b"isready", b"x", b"position startpos moves e2e4", b"x" * LONGEST))
    ends: tuple[list[bytes], ...] = ([b"stop"], [b"stop", b"quit"], [b"quit"], [])
    return [b"position startpos", b"go infinite", *[line] * min(FLOOD, 2**27 // len(line)), *rng.choice(ends)]


def read(line: bytes) -> str:
    """The line as the engines are given it."""
    given = Lines(io.BytesIO(line + b"\n")).next()
    return given or ""


def count(said: list[bytes], protocol: str) -> None:
    known = UCI if protocol == "uci" else GTP
    for line in said:
        words = line[:40].decode("utf-8", "replace").split()
        name = next((word for word in words[:2] if word in known), "(none)")
        counts[f"{protocol} {name}"] += 1


class Quick(SogPlayer):
    """Searches of two nodes, whatever a line asks for."""

    def search_at(self, node: int, simulations: int | None) -> SogSearch:
        return super().search_at(node, min(simulations or 2, 2))


def too_long(line: bytes) -> bool:
    """Whether the line rightly makes the real program search for long."""
    words = read(line).split()
    if "quit" in words:
        return True
    if "go" not in words:
        return False
    limits = uci.limits_of(uci.read_go(words[words.index("go") + 1 :]), 2, True)
    return (limits.simulations or 0) > 200 and (limits.seconds is None or limits.seconds > 0.2)


def in_process(said: list[bytes], protocol: str, slowest: float = SLOWEST) -> None:
    """All lines to one engine. Answers are checked after; AssertionError says what is missing.

    slowest: seconds of processor time for a line.
    """
    heard: list[str] = []
    player = Quick("zero", zero_evaluator, Budget(2, 1.0))
    lines = Lines(io.BytesIO(b"".join(line + b"\n" for line in said)))
    began = time.process_time()
    if protocol == "uci":
        uci.UciEngine(player, CHESS, heard.append, simulations=2).serve(lines)
    else:
        gtp.GtpEngine(player, GO, heard.append, simulations=2).serve(lines)
    spent = time.process_time() - began
    assert spent < slowest * (1 + len(said) / 10), f"{spent:.1f} s for {len(said)} lines"
    for line in heard:
        line.encode("utf-8")
    check = check_uci if protocol == "uci" else check_gtp
    check(said, heard)


def check_gtp(said: list[bytes], heard: list[str]) -> None:
    """Each command has exactly one response with its id, in order."""
    wanted = []
    for line in said:
        number, words = gtp.read_command(read(line))
        if words:
            wanted.append(number)
        if words == ["quit"] and not read(line).endswith("\n"):
            break
    answers = [match for line in heard if (match := re.match(r"([=?])([0-9]*)(?: |$)", line))]
    assert [answer[2] for answer in answers] == wanted, f"{len(wanted)} commands, {len(answers)} answers"


def check_uci(said: list[bytes], heard: list[str]) -> None:
    """Each `go` up to `quit` has one bestmove, each isready its readyok."""
    wanted: Counter[str] = Counter()
    quits = False
    for line in said:
        text = read(line)
        words = [] if text.endswith("\n") else text.split()
        command = next((word for word in words if word in UCI), "")
        if command == "quit":
            quits = True
            break
        wanted[{"go": "bestmove", "isready": "readyok", "uci": "uciok"}.get(command, "")] += 1
    said_back = Counter(line.split()[0] for line in heard if line.split())
    for word in ("bestmove", "readyok", "uciok"):
        few = said_back[word] < wanted[word] and not quits
        assert not few and said_back[word] <= wanted[word], f"{wanted[word]} {word} wanted, {said_back[word]} said"


def in_processes(said: list[bytes], protocol: str, locale: dict[str, str]) -> None:
    """The same lines to the real program, ended by the end of its input or, cut in a line, by closing our end."""
    game = "chess" if protocol == "uci" else "go(board_size=5,komi=0.5)"
    command = [sys.executable, "-m", "sog", protocol, game, "-s", "2"]
    left_out = ("LC_ALL", "LANG", "PYTHONUTF8", "PYTHONIOENCODING")
    environment = {key: value for key, value in os.environ.items() if key not in left_out} | locale
    try:
        done = subprocess.run(command, input=b"\n".join(said), capture_output=True, env=environment, timeout=120)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"{protocol} under {locale}: still there after 120 s") from None
    assert done.returncode == 0, f"{protocol} under {locale}: exit {done.returncode}: {done.stderr[-300:]!r}"
    done.stdout.decode("utf-8")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024  # of the largest so far
    assert peak < BYTES, f"{protocol} under {locale}: {peak / 1e6:.0f} MB"


class Slow(Exception):
    """A conversation took far too long."""


def alarm(signum: int, frame: object) -> None:
    raise Slow


def case(rng: random.Random) -> str:
    global tried
    tried += 1
    protocol = rng.choice(["uci", "gtp"])
    said = conversation(rng, protocol)
    kind = protocol
    signal.alarm(150 if tried % REAL == 0 else 20)
    try:
        if tried % REAL == 0:
            locale = LOCALES[tried // REAL % len(LOCALES)]
            kind = f"{protocol} process {locale['LC_ALL']}{' strict' * ('PYTHONIOENCODING' in locale)}"
            if protocol == "uci" and rng.random() < 0.5:
                kind, said = f"{kind} flooded", flood(rng)
            else:
                said = [line for line in said if not too_long(line)]
            in_processes(said, protocol, locale)
        else:
            in_process(said, protocol)
    except Exception as error:
        text = b"\n".join(said).decode("utf-8", "backslashreplace")
        raise Finding(f"{protocol}: {type(error).__name__}: {str(error)[:300]}", text) from error
    finally:
        signal.alarm(0)
    count(said, protocol)
    return kind


if __name__ == "__main__":
    CHESS, GO = Chess(), Go(5, 0.5)
    tried = 0
    signal.signal(signal.SIGALRM, alarm)
    os.chdir(Path(__file__).parents[2])
    in_process([b"position startpos", b"go nodes 2"], "uci", math.inf)  # compiling is no line's fault
    in_process([b"genmove b"], "gtp", math.inf)
    code = hunt("lines", case, arguments("lines").parse_args())
    print(json.dumps({"lines": sum(counts.values()), "by command": dict(sorted(counts.items()))}))
    sys.exit(code)

"""Random arguments over all commands, made from the command line's own description: `python -m tests.fuzz.arguments`.

Most lines run in this process with the work behind the commands replaced: parsing and checks run, and whatever passes
them ends there. Every `--every`-th line is a real process in a temporary folder, with small budgets, which gets Ctrl-C
if it goes on. A line must end with 0, 2 or 130, say why in one line, and show no traceback.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from unittest import mock

import typer

from sog.cli.app import app, main
from tests.fuzz.frame import Finding, arguments, hunt

ROOT: Final = Path(__file__).parents[2]
SILENT_SECONDS: Final = 10.0  # of processor time, so that a busy machine finds no more than an idle one
WAITING: Final = 6.0  # times as long on the wall, for what waits and does not work
LONGEST: Final = 3_000  # characters of a line that says what is wrong

# The work behind the commands: reaching it is the end of a line in this process.
WORK: Final = (
    "sog.searches.tree.whole:whole_tree",
    "sog.agents.own:whole_tree",
    "sog.algorithms.student.measure:measure_seeds",
    "sog.algorithms.rebel.measure:measure_rebel",
    "sog.searches.holdem.solver:HoldemSolver",
    "sog.searches.holdem.saved:load",
    "sog.training.self_play:train",
    "sog.algorithms.policy.loop:train_policy",
    "sog.algorithms.sepot.learner:train_sepot",
    "sog.algorithms.distil.distil:distil_into",
    "sog.cli.connect_four:solve_position",
    "sog.training.stream.loop:train_stream",
    "sog.cli.engines:open_with_note",
    "sog.protocols.tournament:play_tournament",
    "sog.protocols.acpc_dealer:Dealer",
    "sog.protocols.acpc_client:connected",
    "sog.protocols.slumbot:SlumbotClient",
    "sog.protocols.gtowizard:GtoWizardClient",
    "soglab.reproduce:Reproduction",
    "sog.games.checks.perft:perft",
    "sog.measure.openspiel_table:rows",
    "soglab.bench.cfr:bench_games",
    "soglab.bench.search:bench_searches",
    "soglab.bench.training_minute:profile_training",
    "soglab.bench.rounds:bench_rounds",
    "soglab.bench.histories:bench_histories",
    "soglab.bench.root:bench_root",
    "soglab.bench.simulations:bench_simulations",
    "soglab.bench.rebel:bench_rebel",
    "soglab.bench.holdem:bench_spot",
    "soglab.scale.inference:bench_inference",
    "soglab.scale.pipeline:measure_throughput",
    "sog.web.server:application",
    "sog.nets.cvpn:CVPN",
)

GAMES: Final = (
    "kuhn_poker",
    "leduc_poker",
    "tic_tac_toe",
    "liars_dice(numdice=1,dice_sides=4)",
    "goofspiel(imp_info=True,num_cards=4,points_order=descending)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2,allow_repeated_shots=False)",
    "holdem(board=2s2h2d7c9c,pot=100,stacks=50,bets=allin,range0=AA,range1=KK)",
    "scotland_yard(map=glasses)",
    "scotland_yard(map=london)",
    "rps",
    "chess",
    "chess(fen=4k3/8/8/8/8/8/8/4K2R w K - 0 1)",
    "connect_four",
    "go(board_size=5,komi=0.5)",
    "openspiel:kuhn_poker",
    "openspiel:hex(board_size=5)",
)
NUMBERS: Final = ("0", "1", "2", "3", "-1", "0.1", "1e3", "1e-300", "1e999", "nan", "inf", "-inf", "9" * 23, "9" * 5000)
HOSTILE: Final = (
    *("", " ", "-", "--", "\x1b[31m", "[/bold]", "'", '"', "\udcff", "\u202e", "a" * 9999, "x" * 300, "..", "/", "~"),
    *("/dev/null", "/dev/full", "/proc/self/mem", "no/such/folder/x", "None", "True", "(", ")", "((((", "%s%n", "\n"),
    *("os:system", "sog:UniformAgent", "sog:solve", "1x1", "0x0", "9x99999999", "100,1", "1,nan", "list", "rebel"),
)
CLUSTERS: Final = ("local:1", "local:2", "ray:1", "auto", "127.0.0.1:1", "localhost:65536", "ray://head:10001")
WORDS: Final = ("sog", "rebel", "alphazero", "demo", "full", "paper", "cfr+", "dcfr", "external-mccfr", "flop", "zero")
# What keeps a real process short, by command; given last, so that it counts.
SMALL: Final = {
    ("solve",): ["--iterations", "3"],
    ("train",): ["--rounds", "1", "--minutes", "0.02", "--workers", "1", "--algorithm", "sog(network=1x8)"],
    ("distil",): ["--steps", "2", "--network", "1x8"],
    ("exploit",): ["--seeds", "1", "--workers", "1"],
    ("perft",): [],
    ("slumbot",): ["--url", "http://127.0.0.1:9"],  # no stranger's server
    ("gtowizard",): ["--url", "http://127.0.0.1:9"],
    ("reproduce",): ["--quick", "--workers", "1"],
}


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that name it."""
    inner = getattr(group, "commands", None)
    if inner is None:
        yield path, group
        return
    for name, command in inner.items():
        yield from commands(command, (*path, name))


COMMANDS: Final = list(commands(typer.main.get_command(app)))


def described(parameter: Any) -> tuple[str, float | None, float | None]:
    """What kind of value a parameter takes, in lower case, and the ends of its range; Typer's own form or Click's."""
    own = getattr(parameter, "type_descriptor", None)
    if own is not None:
        return str(own.annotation).lower(), parameter.min, parameter.max
    kind = parameter.type
    return str(kind.name).lower(), getattr(kind, "min", None), getattr(kind, "max", None)


def value(parameter: Any, chance: random.Random) -> str:
    """A valid value, one with a mutation, one at or past the end of its range, or a hostile one."""
    kind, low, high = described(parameter)
    words: list[str] = [*WORDS]
    if "int" in kind or "float" in kind:
        ends = [str(int(end) + step) for end in (low, high) if end is not None for step in (-1, 0, 1)]
        words = [*NUMBERS, *ends, str(chance.randrange(1, 5))]
    elif "GAME" in str(parameter.metavar).upper() or parameter.name in ("game", "games", "checkpoint"):
        words = [*GAMES]
    elif "path" in kind:
        words = ["out", "x.npz", "x.toml", "folder/x", "/dev/full"]
    elif parameter.name == "cluster":
        words = [*CLUSTERS]
    word = chance.choice(words)
    drawn = chance.random()
    if drawn < 0.15:
        return chance.choice(HOSTILE)
    if drawn < 0.25:
        return chance.choice(NUMBERS)
    return mutated(word, chance) if drawn < 0.5 else word


def mutated(word: str, chance: random.Random) -> str:
    """One change: a letter dropped, doubled or replaced, or a number replaced by another."""
    if not word:
        return "x"
    k = chance.randrange(len(word))
    if word[k].isdigit() and chance.random() < 0.7:
        return word[:k] + chance.choice(NUMBERS) + word[k + 1 :]
    return word[:k] + chance.choice(["", word[k] * 2, chance.choice("=,;()[]./:-0nKkQ \x00é")]) + word[k + 1 :]


def line(chance: random.Random) -> tuple[tuple[str, ...], list[str]]:
    """A command's path and its arguments."""
    path, command = chance.choice(COMMANDS)
    words: list[str] = []
    for parameter in command.params:
        is_option = parameter.param_type_name == "option"
        if is_option and (parameter.name == "help" or chance.random() > 0.25):
            continue
        if not is_option and chance.random() < 0.05:
            continue
        if is_option:
            words.append(chance.choice([*parameter.opts, *parameter.secondary_opts]))
            if parameter.is_flag:
                continue
        words.append(value(parameter, chance))
    if chance.random() < 0.05:
        words.insert(chance.randrange(len(words) + 1), chance.choice(HOSTILE))
    return path, words


def raising(*arguments: object, **more: object) -> None:
    raise typer.Exit(0)


def check(code: int, out: str, err: str, words: list[str]) -> None:
    """Finding where the line did not end as it must."""
    shown = repr(words)
    if code not in (0, 2, 130):
        raise Finding(f"exit code {code}: {err[-300:]!r} of {shown[:300]}", f"{shown}\n{err}")
    if "Traceback" in err or "OpenSpiel exception" in err:
        raise Finding(f"a traceback of {shown[:300]}", f"{shown}\n{err}")
    if code == 2 and len(err.splitlines()[-1]) > LONGEST:
        raise Finding(f"{len(err.splitlines()[-1])} characters of error of {shown[:300]}", f"{shown}\n{err}")
    if code == 2 and not err.splitlines()[-1].startswith("sog: "):
        raise Finding(f"no line of ours: {err[-300:]!r} of {shown[:300]}", f"{shown}\n{err}")


def in_process(path: tuple[str, ...], words: list[str]) -> str:
    """Run a line in this process up to the work."""
    out, err = io.StringIO(), io.StringIO()
    for place in WORK:  # importing counts as no command's time
        importlib.import_module(place.split(":")[0])
    begun = time.process_time()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.ExitStack() as stack,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        for place in WORK:
            module, name = place.split(":")
            stack.enter_context(mock.patch.object(importlib.import_module(module), name, raising))
        stack.enter_context(mock.patch.object(importlib.import_module("sog.cli.compile"), "_WORK", ()))
        code = main([*path, *words])
    check(code, out.getvalue(), err.getvalue(), [*path, *words])
    if (spent := time.process_time() - begun) > SILENT_SECONDS:
        raise Finding(f"{spent:.0f} s to check {words!r}"[:400], repr([*path, *words]))
    return f"{' '.join(path)}: {code}"


def as_process(path: tuple[str, ...], words: list[str], chance: random.Random) -> str:
    """Run a line as a process of its own; Ctrl-C after a random time if it goes on, and an end soon after."""
    words = [word for word in words if "\x00" not in word] + ([] if "--help" in words else SMALL.get(path, []))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [os.fsencode(word) for word in (sys.executable, "-m", "sog", *path, *words)]
    # A fifth of the lines is let go on until it has been silent for too long.
    patience = SILENT_SECONDS if chance.random() < 0.2 else chance.uniform(0.2, SILENT_SECONDS)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as err:
        streams = {"stdin": subprocess.DEVNULL, "stdout": err, "stderr": err}
        process = subprocess.Popen(command, cwd=folder, env=environment, **streams)  # type: ignore[call-overload]
        try:
            code = ended(process, patience)
        except subprocess.TimeoutExpired:
            silent = patience == SILENT_SECONDS and os.fstat(err.fileno()).st_size == 0
            process.send_signal(signal.SIGINT)
            try:
                code = ended(process, 2 * SILENT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Finding(f"goes on after Ctrl-C: {words!r}"[:400], repr([*path, *words])) from None
            if silent:
                raise Finding(f"silent for {patience:g} s: {path} {words!r}"[:400], repr([*path, *words])) from None
        err.seek(0)
        said = err.read().decode(errors="replace")
    check(code, "", said, [*path, *words])
    if code == 130 and "sog: stopped" not in said:
        raise Finding(f"stopped without a word: {words!r}"[:400], repr([*path, *words]))
    return f"process {' '.join(path)}: {code}"


def ended(process: subprocess.Popen[bytes], patience: float) -> int:
    """Its exit code; TimeoutExpired where it has used so much of a processor, or has waited for long."""
    deadline = time.monotonic() + WAITING * patience
    while (code := process.poll()) is None:
        try:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if spent > patience or time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(process.args, patience)
        time.sleep(0.02)
    return code


def run() -> int:
    parser = arguments("arguments")
    parser.add_argument("--every", type=int, default=20, help="one line in so many is a real process; 0: none")
    options = parser.parse_args()
    number = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in a shell's background children are born deaf to it

    def case(chance: random.Random) -> str:
        nonlocal number
        number += 1
        path, words = line(chance)
        if options.every and number % options.every == 0:
            return as_process(path, words, chance)
        return in_process(path, words)

    return hunt("arguments", case, options)


if __name__ == "__main__":
    sys.exit(run())

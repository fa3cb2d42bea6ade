"""The command line `sog`: which commands there are, and how their errors end."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from importlib.metadata import entry_points
from typing import Annotated

import typer

import sog
from sog.cli.acpc import acpc, dealer
from sog.cli.aivat import aivat
from sog.cli.algorithms import algorithms
from sog.cli.city_map import city_map
from sog.cli.compile import compile_kernels
from sog.cli.distil import distil
from sog.cli.engines import gtp, uci
from sog.cli.exploit import exploit
from sog.cli.frame import for_json, say, stderr
from sog.cli.games import games
from sog.cli.gtowizard import gtowizard
from sog.cli.lbr import lbr
from sog.cli.match import match
from sog.cli.perft import perft
from sog.cli.phh import phh
from sog.cli.play import play
from sog.cli.serve import serve
from sog.cli.show import show
from sog.cli.slumbot import slumbot
from sog.cli.solve import solve
from sog.cli.stopping import Interrupted, exit_code, listening, no_more
from sog.cli.tournament import tournament
from sog.cli.train import train
from sog.cluster.executor import plain_error
from sog.errors import SettingError, SogError, needs_pytorch
from sog.memory import gigabytes, machine_bytes
from sog.searches.kernels.compiling import note_once

# Set to see where an unexpected error came from.
_TRACEBACK_VARIABLE = "SOG_TRACEBACK"

_JSON = "--json"
_WITH_WORDS = {"--help", "algorithms"}  # they print docstrings
_COMPLETION = {"--install-completion", "--show-completion"}  # of Typer's, left out of --help
_COMPLETE = "_SOG_COMPLETE"  # set by a shell that asks what may come next

# What Typer returns, without a word, where a command was interrupted.
_TYPERS_INTERRUPT = 130

# What people derive classes of their own from.
_BASES = (("sog.games.base", "Game"), ("sog.play.agent", "Agent"))

# What the system says of names that no file can have.
_NAMES = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.ENOTDIR)

# What it says where nothing more can be written.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)

# Longer messages, such as those that repeat a word of 100,000 letters, lose their middle.
_LONGEST_LINE = 2_000

# Newer versions of Typer carry their own Click, so its base of usage errors is reached through Typer's names.
_ClickException = typer.BadParameter.mro()[2]

# Options of before 28 November 2026 that are settings of an algorithm now.
_SETTINGS = dict.fromkeys(("--solver", "--warm", "--recycle"), "rebel")
_SETTINGS |= dict.fromkeys(("--transformations", "--step", "--policy", "--depth", "--histories", "--gadget"), "sepot")
_SETTINGS |= {"--alpha": "sog", "--leaves": "sog", "--network": "sog", "--updates": "rebel", "--pog": "sog"}

# Entry points of this group take the program and add commands to it.
_LABORATORY = "sog.commands"
_ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}

app = typer.Typer(
    name="sog",
    help="Student of Games: solve, learn and play perfect- and imperfect-information games.",
    epilog="Example: sog solve leduc_poker --iterations 1000",
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(sog.__version__)
        raise typer.Exit


@app.callback()
def _sog(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _add_laboratory() -> None:
    """Add `bench` and `reproduce`, which are a second package: an installation may be without it."""
    commands = entry_points(group=_LABORATORY)
    for command in commands:
        command.load()(app)
    if not commands:
        for name in ("bench", "reproduce"):
            say_so = "Not installed: the package soglab."
            app.command(name, context_settings=_ANY_ARGUMENTS, help=say_so, rich_help_panel="Laboratory")(_missing)


def _missing() -> None:
    raise SettingError(
        "this installation is without the laboratory (the package soglab): reinstall sog, or run it "
        "from a checkout after `pip install -e .`"
    )


# A command is a plain function of a module sog/cli/*.py whose epilog is an example to copy. It raises
# SogError for bad input, and imports what it runs inside, so that `sog --help` needs no Numba or PyTorch.
def _add(panel: str, command: Callable[..., None], example: str, name: str | None = None) -> None:
    app.command(name, epilog=f"Example: sog {example}", rich_help_panel=panel)(command)


_LEARN = "Games, solving, learning"
_add(_LEARN, games, "games")
_add(_LEARN, algorithms, "algorithms rebel")
_add(_LEARN, solve, "solve leduc_poker --algorithm cfr+ --iterations 1000")
_add(_LEARN, train, "train leduc_poker --preset demo --out runs/demo")
_add(_LEARN, distil, "distil runs/sepot --out runs/distilled")

_PLAY = "Play and look"
_add(_PLAY, play, "play runs/demo --seat 0")
_add(_PLAY, serve, "serve runs/demo")
_add(_PLAY, match, "match leduc_poker random --game leduc_poker --hands 1000 --records hands.jsonl")
_add(_PLAY, tournament, "tournament matches.toml --out runs/matches")
_add(_PLAY, show, 'show leduc_poker --line "raise, call, board Jh"')

_MEASURE = "Measure"
_add(_MEASURE, exploit, "exploit runs/demo --simulations 100 --per-update 0.1 --seeds 10")
_add(_MEASURE, lbr, "lbr always-call --game leduc_poker --bets offered --hands 10000")
_add(_MEASURE, aivat, "aivat hands.jsonl --values exact --a leduc.json --b random")

_PROGRAMS = "Engines and other programs"
_add(_PROGRAMS, uci, "uci chess --simulations 400")
_add(_PROGRAMS, gtp, "gtp 'go(board_size=7)' --simulations 400")
_add(_PROGRAMS, dealer, "dealer night holdem.game 1000 0 ours theirs --log night.log")
_add(_PROGRAMS, acpc, "acpc always-call --port 18374")
_add(_PROGRAMS, slumbot, "slumbot equity --hands 200 --records slumbot.jsonl")
_add(_PROGRAMS, gtowizard, "gtowizard equity --hands 200 --records gtowizard.jsonl")
_add(_PROGRAMS, phh, "phh hands.jsonl --out hands.phhs")

_TOOLS = "Tools"
_add(_TOOLS, perft, 'perft "chess(fen=8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1)" 4')
_add(_TOOLS, city_map, "map --stations 40 --around 100", "map")
_add(_TOOLS, compile_kernels, "compile", "compile")

_add_laboratory()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    0: done.  2: bad input, explained in one line on stderr.  130: stopped by Ctrl-C, 143 by SIGTERM.  1: the
    output's pipe was closed, or a fault of this program, whose traceback is shown where SOG_TRACEBACK is set.
    """
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if sys.stdout is None:  # closed before we began
        return _fail("stdout is closed: send it to a file, or to /dev/null", 2)
    streams = sys.stdout, sys.stderr
    try:
        with listening() as signals:
            return _exit_code(words, signals)
    finally:
        sys.stdout, sys.stderr = streams  # Click puts others in their place where a pipe is closed
        _discard_unwritten()


def _exit_code(words: list[str], signals: list[int]) -> int:
    """Run one command and explain how it ended."""
    try:
        with needs_pytorch(f"sog {words[0]}"):
            return _run(words)
    except (Interrupted, KeyboardInterrupt, typer.Abort) as error:
        return _stopped(str(error), signals)
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # Rich and Click exit where a pipe is closed
            return 1
        if _COMPLETE in os.environ or _COMPLETION & {*words}:  # Typer has answered the shell
            return 0
        return _fail(str(plain_error(error)), 2)
    except Exception as error:
        if signals:  # a compiled module's import, for one, makes another error of Ctrl-C
            return _stopped("", signals)
        return _failed(error)


def _run(words: list[str]) -> int:
    """Run one command; its exit code. KeyboardInterrupt where it was stopped and did not say what is kept."""
    if sys.flags.optimize > 1 and _WITH_WORDS & {*words}:
        say("sog: Python drops the texts of help here: unset PYTHONOPTIMIZE, or leave out -OO")
    command = typer.main.get_command(app)
    for option in command.params:
        if _COMPLETION & {*option.opts}:
            vars(option)["hidden"] = True
    with note_once(), for_json() if _JSON in words else nullcontext():
        code = command(words, prog_name="sog", standalone_mode=False)
    if code == _TYPERS_INTERRUPT:
        raise KeyboardInterrupt
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _stopped(notice: str, signals: list[int]) -> int:
    no_more()
    return _fail(f"stopped; {notice or 'this run kept nothing: the same command begins again'}", exit_code(signals))


def _failed(error: Exception) -> int:
    """Say what went wrong in one line and return the exit code; a fault of this program is raised again on request."""
    if isinstance(error, SogError):
        return _fail(str(error), 2)
    if isinstance(error, BrokenPipeError):
        return 1
    if isinstance(error, _ClickException):
        return _fail(_usage_text(error), 2)
    if isinstance(error, OSError) and error.errno in _NAMES and error.filename is not None:
        return _fail(f"{os.fsdecode(error.filename)}: {error.strerror}", 2)
    if isinstance(error, OSError) and error.errno in _FULL:
        return _fail(f"cannot write{'' if error.filename is None else f' {error.filename}'}: {error.strerror}", 2)
    if isinstance(error, MemoryError):
        return _fail(f"not enough memory: {gigabytes(machine_bytes())} is all that this machine has ({error})", 2)
    if _TRACEBACK_VARIABLE in os.environ:
        raise error
    if whose := _theirs(error):
        return _fail(f"{whose}'s code raised {type(error).__name__}: {error}", 2)
    hint = f"set {_TRACEBACK_VARIABLE}=1 to see where"
    return _fail(f"unexpected {type(error).__name__}: {error} ({hint})", 1)


def _discard_unwritten() -> None:
    """Drop what stdout and stderr cannot take, so that Python does not complain about it when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _theirs(error: Exception) -> str:
    """The class of the user-defined game or agent whose code raised the error; empty where it was ours."""
    kinds = [getattr(sys.modules.get(module), name, None) for module, name in _BASES]
    frames = traceback.walk_tb(error.__traceback__)
    selves = [type(frame.f_locals.get("self")) for frame, _ in frames]
    own = [kind for kind in selves if not kind.__module__.startswith("sog.")]
    return next((kind.__name__ for kind in own if any(base in kind.mro() for base in kinds)), "")


def _fail(message: str, code: int) -> int:
    """Say why in one line on stderr and return the exit code."""
    line = " ".join(message.split())
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE // 2]} ... {line[-_LONGEST_LINE // 2 :]}"
    with suppress(BrokenPipeError):  # the exit code remains where the line cannot be printed
        stderr().print(f"sog: {_shown(line)}", soft_wrap=True)
    return code


def _shown(line: str) -> str:
    """The line with what a terminal would act on, or cannot show, written as Python writes it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in line)


def _usage_text(error: Exception) -> str:
    """A usage error of Typer's with the command whose help has more."""
    message = str(getattr(error, "format_message", error.__str__)())
    if owner := _SETTINGS.get(str(getattr(error, "option_name", ""))):
        name = str(getattr(error, "option_name", "")).removeprefix("--")
        setting = "paper=pog" if name == "pog" else f"{name}=..."
        return f"{message.rstrip('.')}: it is a setting of the algorithm, --algorithm '{owner}({setting})'"
    context = getattr(error, "ctx", None)
    return message if context is None else f"{message.rstrip('.')}; try `{context.command_path} --help`"


if __name__ == "__main__":
    sys.exit(main())

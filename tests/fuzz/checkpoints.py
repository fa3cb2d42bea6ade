"""Damages small checkpoints in every way it knows and opens them: refused in the project's words, or loaded unchanged.

Checkpoints of several games and algorithms are made at the start. A case copies one,
damages it and opens it as every command does (`load_agent`) or as `sog train --resume` does; one with other weights is
asked for a move. It is a finding where the
program ends in another way than its own error of one line, where other weights or another game come out, and where it
takes more than SECONDS of processor time, waits, or needs more than MEGABYTES above what it had at the start.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from sog.agents.loaded import load_agent
from sog.agents.opening import open_network
from sog.algorithms.policy.presets import PolicySettings
from sog.algorithms.table import read, settings_of
from sog.errors import SogError
from sog.nets.serialized import network_bytes
from sog.training import checkpoint
from sog.training.run import Run, Until
from tests.fuzz.frame import Finding, arguments, hunt

SECONDS: Final = 2.0
MEGABYTES: Final = 500.0
WAITING: Final = 20  # seconds on the wall after which it waits for something
RUNS: Final = (
    Run("kuhn_poker", algorithm="sog(network=1x8)"),
    Run("leduc_poker", algorithm="sog(network=2x8)"),
    Run("liars_dice(numdice=1,dice_sides=2)", algorithm="rebel(network=1x8)"),
    Run("tic_tac_toe", algorithm="alphazero(network=1x8)"),
    Run("connect_four", algorithm="alphazero(network=1x4)"),
    Run("leduc_poker", algorithm="rnad(network=1x8)"),
    Run("goofspiel(imp_info=True,num_cards=3,points_order=random)", algorithm="mmd(network=1x8)"),
    Run("leduc_poker", algorithm="nashpg(network=1x8)"),
    Run("leduc_poker", algorithm="sepot(network=1x8)"),
)
FILES: Final = ("meta.json", "network", "state.json", "arrays", "critic")
PATTERNS: Final = {
    "network": "network.*.safetensors",
    "state.json": "state.*.json",
    "arrays": "state.*.safetensors",
    "critic": "critic.*.safetensors",
}
FOREIGN: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    3,
    2**31,
    2**63,
    10**30,
    1.5,
    "",
    "x",
    "1",
    [],
    {},
    [1],
    [1, 2],
    [[1]],
    {"x": 1},
    "kuhn_poker",
    "leduc_poker",
    "chess",
    "openspiel:chess",
    "openspiel:goofspiel(num_cards=100000000)",
    "openspiel:connect_four(rows=100000,columns=100000)",
    "go(board_size=9)",
    "no_such_game",
    "\x1b[2J",
    "\ud800",
    "../../etc/passwd",
    "/dev/zero",
    "network.1.safetensors",
    "x" * 100_000,
    [0] * 10_000,
    "resnet",
    "mlp",
    "rebel",
)
NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "1" + "0" * 400, "[" * 100_000)


@dataclass(frozen=True)
class Made:
    """A whole run's folder, and what must come out of it."""

    run: Run
    folder: Path
    digest: str

    @property
    def settings(self) -> Any:
        return few_games(self.run)

    @property
    def algorithm(self) -> str:
        """Its name; a network that is there takes no settings of training."""
        return self.run.algorithm.partition("(")[0]


def few_games(run: Run) -> Any:
    """The demo preset with two games a round and a small replay window, or a policy learner's with one step a round."""
    wanted = settings_of(read(run.algorithm).rules(run.game), "demo", run.algorithm)
    if isinstance(wanted, PolicySettings):
        return replace(wanted, games=2, steps=1)
    return replace(wanted, games=2, replay=200, learner=replace(wanted.learner, batch=16, updates_per_example=0.2))


def make(home: Path) -> list[Made]:
    """Each run after one round."""
    found = []
    for k, run in enumerate(RUNS):
        folder = home / f"run{k}"
        read(run.algorithm).loop()(run, few_games(run), folder, Until(rounds=1))
        shutil.rmtree(folder / "snapshots")
        found.append(Made(run, folder, digest(folder, run.algorithm)))
    return found


def digest(folder: Path, algorithm: str) -> str:
    """Of the weights that the folder's network, and the critic of one by sepot, have when they are loaded."""
    game, network, _ = checkpoint.load_network(folder / "checkpoint")
    found = hashlib.sha256(game.encode() + network_bytes(network))
    if algorithm.startswith("sepot"):
        for name, weights in sorted(checkpoint.load_critic(folder / "checkpoint").items()):
            found.update(f"{name} {weights.dtype} {weights.shape}".encode() + weights.tobytes())
    return found.hexdigest()


def edit(folder: Path, change: Callable[[dict[str, Any]], None], sign: bool) -> None:
    """Change meta.json; sign: with the hash that then is right, as a forger would."""
    path = folder / "meta.json"
    said = json.loads(path.read_bytes())
    change(said)
    path.write_text(json.dumps(signed(said) if sign else said))


def signed(said: dict[str, Any]) -> dict[str, Any]:
    """What meta.json says with the hash that is right for it, where it has one."""
    if "sha256" not in said:
        return said
    said = {name: value for name, value in said.items() if name != "sha256"}
    content = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    return {**said, "sha256": hashlib.sha256(content).hexdigest()}


def kinds(folder: Path) -> list[str]:
    """The kinds of files that the checkpoint has."""
    return [kind for kind in FILES if kind == "meta.json" or any(folder.glob(PATTERNS[kind]))]


def path_of(folder: Path, kind: str) -> Path:
    """A file of the checkpoint by what it is."""
    if kind == "meta.json":
        return folder / kind
    return next(folder.glob(PATTERNS[kind]))


def sign_file(folder: Path, path: Path) -> None:
    """Make meta.json state the hash and the size that a changed file has now."""
    with path.open("rb") as file:
        found, size = hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size

    def change(said: dict[str, Any]) -> None:
        for entry in said["files"].values():
            if entry["name"] == path.name:
                entry["sha256"], entry["size"] = found, size

    edit(folder, change, sign=True)


# The damages: each takes a random generator, the checkpoint's folder and another whole one.


def flip(rng: random.Random, folder: Path, other: Path) -> None:
    path = path_of(folder, rng.choice(kinds(folder)))
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 8))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def flip_signed(rng: random.Random, folder: Path, other: Path) -> None:
    """Before the weights, where a file says how it is laid out, with hash and size as they should then be."""
    path = path_of(folder, rng.choice(kinds(folder)[1:]))
    content = bytearray(path.read_bytes())
    layout = len(content) if path.suffix == ".json" else 8 + struct.unpack("<Q", content[:8])[0]
    content[rng.randrange(rng.choice((8, layout)))] = rng.randrange(256)
    path.write_bytes(content)
    sign_file(folder, path)


def truncate(rng: random.Random, folder: Path, other: Path) -> None:
    path = path_of(folder, rng.choice(kinds(folder)))
    os.truncate(path, rng.randrange(path.stat().st_size))
    if rng.random() < 0.3 and path.name != "meta.json":
        sign_file(folder, path)


def append(rng: random.Random, folder: Path, other: Path) -> None:
    path = path_of(folder, rng.choice(kinds(folder)))
    with path.open("ab") as file:
        file.write(rng.randbytes(rng.choice((1, 8, 5000))))
    if rng.random() < 0.3 and path.name != "meta.json":
        sign_file(folder, path)


def grow(rng: random.Random, folder: Path, other: Path) -> None:
    """A file of holes far larger than the memory."""
    os.truncate(path_of(folder, rng.choice(kinds(folder))), rng.choice((2**31, 2**36, 2**42)))


def swap(rng: random.Random, folder: Path, other: Path) -> None:
    kind = rng.choice([kind for kind in kinds(folder) if kind in kinds(other)])
    shutil.copyfile(path_of(other, kind), path_of(folder, kind))
    if rng.random() < 0.3 and kind in ("state.json",):
        sign_file(folder, path_of(folder, kind))


def mix(rng: random.Random, folder: Path, other: Path) -> None:
    """One kind of file in place of another kind of the same checkpoint."""
    one, two = rng.sample(kinds(folder), 2)
    shutil.copyfile(path_of(folder, one), path_of(folder, two))


def special(rng: random.Random, folder: Path, other: Path) -> None:
    path = path_of(folder, rng.choice(kinds(folder)))
    path.unlink()
    kind = rng.choice(("fifo", "socket", "folder", "loop", "zero", "random", "missing", "dangling", "tty", "full"))
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound, contextlib.chdir(path.parent):
            bound.bind(path.name)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind != "missing":
        path.symlink_to({"dangling": "/nowhere", "tty": "/dev/tty"}.get(kind, f"/dev/{kind}"))


def field(rng: random.Random, folder: Path, other: Path) -> None:
    """Another value, or one of another checkpoint's, somewhere in meta.json."""

    def change(said: dict[str, Any]) -> None:
        where, name = rng.choice(list(places(said)))
        how = rng.random()
        if how < 0.2:
            del where[name]
        elif how < 0.4:
            theirs = json.loads((other / "meta.json").read_bytes())
            where[name] = rng.choice([inside[key] for inside, key in places(theirs)])
        elif how < 0.5 and isinstance(where, dict):
            where[rng.choice(("x", "", "version", "$array", "planes"))] = where.pop(name)
        else:
            where[name] = rng.choice(FOREIGN)

    edit(folder, change, sign=rng.random() < 0.5)


def number(rng: random.Random, folder: Path, other: Path) -> None:
    """Numbers that no JSON has, or that are too long, or brackets without end, in meta.json or the state."""
    path = path_of(folder, rng.choice(("meta.json", "state.json")))
    text = path.read_text()
    spots = [k for k, letter in enumerate(text) if letter in ":,[" and k + 1 < len(text)]
    spot = rng.choice(spots) + 1
    end = min((p for p in (text.find(c, spot) for c in ",]}") if p >= 0), default=len(text))
    path.write_text(text[:spot] + rng.choice(NUMBERS) + text[end:])
    if path.name != "meta.json" and rng.random() < 0.5:
        sign_file(folder, path)


def header(rng: random.Random, folder: Path, other: Path) -> None:
    """A safetensors header whose length or sizes lie, signed."""
    path = path_of(folder, rng.choice([kind for kind in kinds(folder) if kind in ("network", "arrays", "critic")]))
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    said = json.loads(content[8 : 8 + length])
    if rng.random() < 0.5 or not said:  # a state may have no array
        content = struct.pack("<Q", rng.choice((0, 1, length - 1, length + 1, 2**32, 2**63, 2**64 - 1))) + content[8:]
    else:
        where, name = rng.choice(list(places(said)))
        where[name] = rng.choice((*FOREIGN[:19], "F64", "BF16", [2**40, 2**40], [2**62, 4]))
        new = json.dumps(said).encode()
        content = struct.pack("<Q", len(new)) + new + content[8 + length :]
    path.write_bytes(content)
    sign_file(folder, path)


def state(rng: random.Random, folder: Path, other: Path) -> None:
    """Another value somewhere in the training state, signed: a state that this program never wrote."""
    path = path_of(folder, "state.json")
    said = json.loads(path.read_bytes())
    where, name = rng.choice(list(places(said)))
    if rng.random() < 0.2:
        del where[name]
    else:
        where[name] = rng.choice(FOREIGN)
    path.write_text(json.dumps(said))
    sign_file(folder, path)


def scale(rng: random.Random, folder: Path, other: Path) -> None:
    """Weights that are finite and large, signed: what the network answers may not be finite."""
    path = path_of(folder, rng.choice([kind for kind in kinds(folder) if kind in ("network", "critic")]))
    content = bytearray(path.read_bytes())
    start = 8 + struct.unpack("<Q", content[:8])[0]
    factor = np.float32(10.0 ** rng.randrange(3, 36))
    for name, entry in json.loads(content[8:start]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            place = slice(*(start + offset for offset in entry["data_offsets"]))
            content[place] = (np.frombuffer(content[place], np.float32) * factor).tobytes()
    path.write_bytes(content)
    sign_file(folder, path)


def hole(rng: random.Random, folder: Path, other: Path) -> None:
    add_hole(folder, rng.choice([kind for kind in kinds(folder) if kind in ("network", "arrays", "critic")]))


def add_hole(folder: Path, kind: str) -> None:
    """One more array in a file, of a gigabyte that takes no room on the disk, signed."""
    path = path_of(folder, kind)
    content = path.read_bytes()
    start = 8 + struct.unpack("<Q", content[:8])[0]
    end = len(content) - start
    said = json.loads(content[8:start])
    said["hole"] = {"dtype": "F32", "shape": [2**28], "data_offsets": [end, end + 2**30]}
    new = json.dumps(said).encode()
    path.write_bytes(struct.pack("<Q", len(new)) + new + content[start:])
    os.truncate(path, path.stat().st_size + 2**30)
    sign_file(folder, path)


def link(rng: random.Random, folder: Path, other: Path) -> None:
    """A link in the place of the folder: training writes nothing to where it leads."""
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")


def nothing(rng: random.Random, folder: Path, other: Path) -> None:
    """No damage: it must load."""


def places(said: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or index) in it."""
    pairs = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ()
    for name, value in list(pairs):
        yield said, name
        yield from places(value)


DAMAGES: Final = (
    flip,
    flip_signed,
    truncate,
    append,
    grow,
    swap,
    mix,
    special,
    field,
    field,
    number,
    header,
    state,
    scale,
    hole,
    link,
    nothing,
)


class Waited(BaseException):
    """It took WAITING seconds on the wall: no error that the program may catch."""


def _wake(number: int, frame: object) -> None:
    raise Waited


def open_agent(made: Made, folder: Path) -> None:
    agent = load_agent(str(folder), algorithm=made.algorithm)
    if made.algorithm == "sepot":
        agent.seat(0)  # which opens the critic
    open_network(str(folder), made.algorithm)


def ask(made: Made, folder: Path) -> None:
    """Open it, and ask for the first move."""
    agent = load_agent(str(folder), algorithm=made.algorithm)
    if agent.game.deterministic:
        agent.think([])
    else:
        next(agent.policies())


def resume(made: Made, folder: Path) -> None:
    """As `sog train --resume` with nothing left to do, which loads everything and saves it again."""
    read(made.run.algorithm).loop()(made.run, made.settings, folder, Until(rounds=1), True)


def machine(home: Path) -> Callable[[random.Random], str]:
    """The function that tries one case."""
    whole = make(home)
    for made in whole:
        ask(made, made.folder)  # which compiles
        resume(made, Path(shutil.copytree(made.folder, home / "first")))
        shutil.rmtree(home / "first")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + 2**31, now + 2**31))  # a MemoryError rather than a dead machine
    signal.signal(signal.SIGALRM, _wake)

    def case(rng: random.Random) -> str:
        made, other = rng.choice(whole), rng.choice(whole)
        damage, way = rng.choice(DAMAGES), rng.choice((open_agent, resume))
        way = ask if damage is scale else way
        folder = home / "case"
        shutil.copytree(made.folder, folder, symlinks=True)
        damage(rng, folder / "checkpoint", other.folder / "checkpoint")
        kind, what = f"{damage.__name__}, {way.__name__}", f"{made.folder.name} {made.run.name}"
        try:
            outcome = tried(way, made, folder, kind)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1e3
            if grown > MEGABYTES:
                raise Finding(f"{kind}: {grown:.0f} MB more than at the start", what)
            if damage is nothing and outcome != "loaded":
                raise Finding(f"{kind}: a whole checkpoint was refused", what)
            if damage is link and way is resume and outcome == "loaded":
                raise Finding(f"{kind}: written to where the link leads", what)
        finally:
            shutil.rmtree(folder)
        return f"{kind}: {outcome}"

    return case


def tried(way: Callable[[Made, Path], None], made: Made, folder: Path, kind: str) -> str:
    """Refused or loaded, or else a Finding."""
    begun = time.process_time()
    signal.alarm(WAITING)
    try:
        way(made, folder)
        signal.alarm(0)
        outcome, said = "loaded", ""
    except SogError as error:
        outcome, said = "refused", str(error)
    except Waited:
        raise Finding(f"{kind}: it waited for {WAITING} s", made.run.name) from None
    except Exception as error:
        raise Finding(f"{kind}: {type(error).__name__}: {str(error)[:200]}", made.run.name) from error
    finally:
        signal.alarm(0)
    spent = time.process_time() - begun
    if spent > SECONDS:
        raise Finding(f"{kind}: {outcome} after {spent:.1f} s", made.run.name)
    if "\n" in said or len(said) > 2000 or not said.isprintable():
        raise Finding(f"{kind}: not one line of text: {said[:200]!r}", made.run.name)
    if outcome == "loaded" and way is not ask:
        try:
            found = digest(folder, made.run.algorithm)
        except SogError as error:
            raise Finding(f"{kind}: loaded, and then not: {error}", made.run.name) from error
        if found != made.digest:
            raise Finding(f"{kind}: it loaded something else", made.run.name)
    return outcome


def main() -> int:
    options = arguments("checkpoints").parse_args()
    with tempfile.TemporaryDirectory() as home:
        return hunt("checkpoints", machine(Path(home)), options)


if __name__ == "__main__":
    sys.exit(main())

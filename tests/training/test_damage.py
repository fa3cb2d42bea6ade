"""Checkpoints that lie, or that are no files, are refused in one line and bounded time."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sog.agents.loaded import load_agent
from sog.agents.opening import open_network
from sog.errors import CheckpointError, SogError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.network import StoredNetwork
from sog.nets.shape import is_for, shape_for
from sog.training import checkpoint
from sog.training.shipped import find_checkpoint
from sog.training.shipped_folders import shipped_checkpoints
from tests.fuzz.checkpoints import NUMBERS, add_hole, edit, path_of, places, sign_file, special

LEDUC = make_game("leduc_poker")
SHAPE = shape_for(LEDUC, width=8, depth=2, crossed=LEDUC.crossed)
SETTINGS = {"game": "leduc_poker", "preset": "demo", "round": 3, "minutes": 0.5}
KINDS = ("meta.json", "network", "state.json", "arrays")


@pytest.fixture(autouse=True)
def nothing_waits_for_ever() -> Iterator[None]:
    """A program that waits for a pipe's other end fails its test after a minute."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A checkpoint of Leduc poker with a training state."""
    folder = tmp_path / "whole"
    state = {"round": 3, "points": [0.5]}
    checkpoint.save(folder, CVPN(SHAPE, 1), "leduc_poker", "leduc_poker run", 7, SETTINGS, state)
    return folder


def refused(folder: Path) -> str:
    """The one line with which it is refused."""
    with pytest.raises(CheckpointError) as caught:
        checkpoint.load_network(folder)
        checkpoint.load_state(folder)
    said = str(caught.value)
    assert said.isprintable() and len(said) < 1000
    return said


def rename_game(said: dict[str, Any]) -> None:
    """Wherever the game is stated."""
    said["game"], said["run"] = "kuhn_poker", "kuhn_poker run"
    said["settings"]["game"] = "kuhn_poker"


def test_a_checkpoint_of_leduc_is_none_of_kuhn_poker(whole: Path) -> None:
    edit(whole, rename_game, sign=True)
    said = refused(whole)
    assert "its network is not for kuhn_poker" in said and "24 features" in said
    with pytest.raises(CheckpointError, match="not for kuhn_poker"):
        load_agent(str(whole))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda said: said.update(version=1), "version 1; this program reads 2"),
        (lambda said: said["settings"].update(variant={"warm": 0}), "a checkpoint of before 28 November 2026"),
    ],
)
def test_checkpoints_of_before_are_refused_by_their_age(
    whole: Path, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    edit(whole, change, sign=True)
    assert says in refused(whole)


@pytest.mark.parametrize("folder", shipped_checkpoints(), ids=lambda folder: folder.name)
def test_shipped_checkpoints_are_of_their_games(folder: Path) -> None:
    game, network, meta = checkpoint.load_network(folder)
    content = (folder / meta.files["network"].name).read_bytes()
    assert meta.files["network"].sha256 == hashlib.sha256(content).hexdigest()
    assert is_for(network.shape, make_game(game))


@pytest.mark.parametrize("name", KINDS[:2])
def test_no_untrained_network_stands_in_for_a_damaged_shipped_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = next(folder for folder in shipped_checkpoints() if folder.name == "tic_tac_toe")
    shutil.copytree(folder, tmp_path / "tic_tac_toe")
    monkeypatch.setattr("sog.training.shipped.shipped_checkpoints", lambda: [tmp_path / "tic_tac_toe"])
    assert open_network("tic_tac_toe").trained and not open_network("kuhn_poker").trained
    path = path_of(tmp_path / "tic_tac_toe", name)
    path.write_bytes(path.read_bytes()[:-100])
    for call in (open_network, load_agent):
        with pytest.raises(CheckpointError, match=f"{tmp_path}/tic_tac_toe: .*(truncated|damaged)"):
            call("tic_tac_toe")


def test_every_field_is_under_the_hash(whole: Path) -> None:
    said = json.loads((whole / "meta.json").read_text())
    count = len(list(places(said)))
    assert count > 25
    for k in range(count):
        changed = json.loads((whole / "meta.json").read_text())
        container, name = list(places(changed))[k]
        container[name] = 3 if container[name] != 3 else 4
        folder = whole.parent / "changed"
        shutil.copytree(whole, folder)
        (folder / "meta.json").write_text(json.dumps(changed))
        refused(folder)
        shutil.rmtree(folder)


@pytest.mark.parametrize("wrong", [None, -1, 1.5, "x", [], {}, [[]], True, 10**30], ids=repr)
def test_wrong_types_that_a_forger_signed(whole: Path, wrong: Any) -> None:
    """Whatever the program reads again later is refused at once, or is of no consequence: preset and the like."""
    before = (whole / "meta.json").read_text()
    for name in ("format", "version", "game", "run", "step", "save", "shape", "settings", "files"):
        if (name, wrong) in [("settings", {}), ("run", "x")]:
            continue
        edit(whole, lambda said, name=name: said.update({name: wrong}), sign=True)
        refused(whole)
        (whole / "meta.json").write_text(before)
    for name in ("round", "minutes", "algorithm"):
        if (name, wrong) in [("minutes", 1.5), ("algorithm", "x")]:
            continue
        edit(whole, lambda said, name=name: said["settings"].update({name: wrong}), sign=True)
        refused(whole)
        (whole / "meta.json").write_text(before)
    checkpoint.load_network(whole)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:12])
def test_numbers_that_are_none_and_deep_brackets(whole: Path, number: str) -> None:
    content = (whole / "meta.json").read_text()
    for old in ('"step": 7', '"minutes": 0.5', '"round": 3'):
        assert old in content
        (whole / "meta.json").write_text(content.replace(old, f"{old.split(':')[0]}: {number}"))
        refused(whole)
    (whole / "meta.json").write_text(content)
    state = path_of(whole, "state.json")
    state.write_text("[" * 100_000)
    sign_file(whole, state)
    assert "training state is damaged" in refused(whole)


class Choosing(random.Random):
    """Chooses what it was made with, in turn."""

    def __init__(self, *chosen: Any) -> None:
        super().__init__(0)
        self.chosen = list(chosen)

    def choice(self, seq: Any) -> Any:
        return self.chosen.pop(0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("thing", ["fifo", "socket", "folder", "loop", "zero", "random", "full", "dangling", "missing"])
def test_what_is_no_file_is_not_waited_for(whole: Path, kind: str, thing: str) -> None:
    special(Choosing(kind, thing), whole, whole)
    refused(whole)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 7, 2**31, 2**42])
def test_sizes_out_of_bounds(whole: Path, kind: str, size: int) -> None:
    """A file of holes is larger than any memory, and is not read."""
    os.truncate(path_of(whole, kind), size)
    refused(whole)


@pytest.mark.parametrize("kind", ["network", "arrays"])
def test_headers_that_lie(whole: Path, kind: str) -> None:
    state = {"bias": CVPN(SHAPE).head.bias.detach().numpy()}
    checkpoint.save(whole, CVPN(SHAPE), "leduc_poker", "leduc_poker run", 8, SETTINGS, state)
    path = path_of(whole, kind)
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    for lie in (0, 1, length - 1, length + 1, 2**32, 2**63, 2**64 - 1):
        path.write_bytes(struct.pack("<Q", lie) + content[8:])
        sign_file(whole, path)
        assert path.name in refused(whole)
    lies = [(b'"F32"', b'"F64"'), (b'"data_offsets":[0,', b'"data_offsets":[9,')]
    for old, new in lies + [(b'"F32"', b'"I32"')] * (kind == "network"):
        changed = content[8 : 8 + length].replace(old, new, 1)
        assert changed != content[8 : 8 + length]
        path.write_bytes(struct.pack("<Q", len(changed)) + changed + content[8 + length :])
        sign_file(whole, path)
        refused(whole)


@pytest.mark.parametrize(
    "name", ["x/" * 50_000, "/" + "x" * 100_000, "a\0/b", "runs/\x1b[2J"], ids=lambda name: repr(name[:8])
)
def test_names_that_no_folder_has(name: str) -> None:
    calls: tuple[Callable[[str], object], ...] = (find_checkpoint, open_network, load_agent)
    for call in calls:
        with pytest.raises(SogError) as caught:
            call(name)
        assert len(str(caught.value)) < 500 and str(caught.value).isprintable()
    with pytest.raises(CheckpointError, match="no such"):
        checkpoint.load_meta(Path(name))


def test_a_save_does_not_wait_for_what_stands_in_its_place(whole: Path) -> None:
    os.mkfifo(whole / "network.2.safetensors")
    secret = whole.parent / "secret"
    secret.write_text("kept")
    (whole / "meta.json.new").symlink_to(secret)
    checkpoint.save(whole, CVPN(SHAPE, 2), "leduc_poker", "leduc_poker run", 8, SETTINGS)
    assert checkpoint.load_network(whole)[2].step == 8 and secret.read_text() == "kept"
    assert sorted(os.listdir(whole)) == ["meta.json", "network.2.safetensors"]


@pytest.mark.parametrize("name", ["leduc_poker", "tic_tac_toe", "liars_dice(numdice=1,dice_sides=4)", "chess"])
def test_a_network_that_answers_nonsense_is_refused_when_it_is_loaded(name: str, tmp_path: Path) -> None:
    """Its weights are finite, and what they give is not."""
    game, network, meta = checkpoint.load_network(find_checkpoint(name))
    huge = StoredNetwork(
        network.shape,
        {name: weight * np.float32(1e30) if weight.ndim > 1 else weight for name, weight in network.arrays().items()},
    )
    checkpoint.save(tmp_path / "huge", huge, game, meta.run, 1, meta.settings)
    for opening in (checkpoint.load_network, load_agent, lambda folder: open_network(str(folder))):
        with pytest.raises(CheckpointError, match="values that are not finite; its weights may be broken"):
            opening(tmp_path / "huge")


@pytest.mark.parametrize("folder", shipped_checkpoints(), ids=lambda folder: folder.name)
def test_shipped_networks_answer_with_numbers(folder: Path) -> None:
    checkpoint.load_network(folder)


@pytest.mark.parametrize("named", [False, True])
def test_an_array_that_no_training_keeps_is_not_read(whole: Path, named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 2 GB of holes, signed; whether the training state names it or not."""
    arrays, size = path_of(whole, "arrays"), 2**31
    header = json.dumps({"/more": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    arrays.write_bytes(struct.pack("<Q", len(header)) + header)
    if named:
        skeleton = path_of(whole, "state.json")
        skeleton.write_text(json.dumps({**json.loads(skeleton.read_text()), "more": {"$array": "/more"}}))
        sign_file(whole, skeleton)
    sign_file(whole, arrays)
    os.truncate(arrays, 8 + len(header) + size)

    def stated(said: dict[str, Any]) -> None:
        said["files"]["arrays"]["size"] = 8 + len(header) + size

    edit(whole, stated, sign=True)
    read: list[int] = []
    bounded = checkpoint.read_bounded
    monkeypatch.setattr(checkpoint, "read_bounded", lambda file, size: read.append(size) or bounded(file, size))
    with pytest.raises(CheckpointError, match="arrays that no training keeps"):
        checkpoint.load_state(whole)
    assert max(read) < 2**20


def test_a_critic_that_no_training_keeps_is_not_read(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.save(whole, CVPN(SHAPE, 1), "leduc_poker", "leduc_poker run", 8, SETTINGS, critic={"w": np.ones(3)})
    assert list(checkpoint.load_critic(whole)) == ["w"]
    add_hole(whole, "critic")
    bounded = checkpoint.read_bounded
    monkeypatch.setattr(checkpoint, "read_bounded", lambda file, size: bounded(file, min(size, 2**20)))
    for load in (checkpoint.load_critic, checkpoint.load_with_critic):
        with pytest.raises(CheckpointError, match="larger than a critic"):
            load(whole)


def test_a_state_with_its_windows_rows_in_it_is_read_whatever_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without rounds holds all rows; one by rounds has them in files, and a bound."""
    monkeypatch.setattr(checkpoint, "_BESIDE", 0)
    game = make_game("kuhn_poker")
    network = CVPN(shape_for(game, 4, 1))
    rows = np.arange(20_000, dtype=np.float32)
    for name, replay in {"inside": {"window": rows}, "apart": {"window": rows, "files": []}}.items():
        checkpoint.save(tmp_path / name, network, game.name, "run", 1, {}, {"replay": replay})
    np.testing.assert_array_equal(checkpoint.load_state(tmp_path / "inside")["replay"]["window"], rows)
    with pytest.raises(CheckpointError, match="arrays that no training keeps"):
        checkpoint.load_state(tmp_path / "apart")

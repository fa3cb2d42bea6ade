"""Checkpoints: what is saved comes back, damage and foreign files end in one line, kills leave one complete."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

from sog.errors import CheckpointError
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN, module_of
from sog.nets.serialized import network_bytes, network_of
from sog.nets.shape import shape_for
from sog.training import checkpoint
from sog.training.state import State, pack, tensor_pieces
from tests.fuzz.checkpoints import signed

LEDUC = make_game("leduc_poker")
SHAPE = shape_for(LEDUC, width=8, depth=2, crossed=LEDUC.crossed)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """fsync matters when the power fails, which no test here does."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def state_at(step: int) -> State:
    rng = np.random.default_rng(step)
    rng.integers(10)
    return {
        "replay": {"inputs": np.full((20, 3), step, dtype=np.float32), "added": 10 * step},
        "optimiser": {"0": {"step": np.array(float(step), dtype=np.float32)}},
        "generator": rng.bit_generator.state,
        "search": np.array([2**63 + step], dtype=np.uint64),
        "queue": [[step, np.arange(3)], None, "text", True, 0.1 + step],
        "legal": np.eye(2, dtype=np.bool_),
    }


def save(folder: Path, step: int = 1, run: str = "run", game: str = "leduc_poker") -> CVPN:
    network = CVPN(SHAPE, seed=step)
    checkpoint.save(folder, network, game, run, step, {"batch": 7}, state_at(step))
    return network


def assert_same(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list):
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


def step_of(folder: Path) -> int:
    """The checkpoint's step, after checking that all of it is of that step."""
    game, network, meta = checkpoint.load_network(folder)
    assert game == "leduc_poker"
    assert_same(checkpoint.load_state(folder), state_at(meta.step))
    wanted = CVPN(SHAPE, seed=meta.step).arrays()
    assert all(np.array_equal(weight, wanted[name]) for name, weight in network.arrays().items())
    return meta.step


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    save(tmp_path / "run")
    assert step_of(tmp_path / "run") == 1
    meta = checkpoint.load_meta(tmp_path / "run")
    assert (meta.run, meta.shape, meta.settings) == ("run", SHAPE, {"batch": 7})


def test_a_checkpoint_that_states_no_legal_pairs_has_none(tmp_path: Path) -> None:
    """Those of before 29 November 2026; policies apart come back so."""
    save(tmp_path / "old")
    shape = json.loads((tmp_path / "old" / "meta.json").read_text())["shape"]
    assert shape.pop("legal_pairs") == [] and shape.pop("game") == ""
    change_meta(tmp_path / "old", shape=shape)
    assert step_of(tmp_path / "old") == 1
    apart = replace(SHAPE, policies_apart=True)
    checkpoint.save(tmp_path / "new", CVPN(apart), "leduc_poker", "run", 0, {})
    assert checkpoint.load_network(tmp_path / "new")[1].shape == apart


def test_a_restored_generator_draws_the_same(tmp_path: Path) -> None:
    save(tmp_path)
    restored, original = np.random.default_rng(), np.random.default_rng(1)
    restored.bit_generator.state = checkpoint.load_state(tmp_path)["generator"]
    original.integers(10)
    assert restored.integers(2**60) == original.integers(2**60)


def test_a_loaded_network_learns_on(tmp_path: Path) -> None:
    network = save(tmp_path)
    loaded = module_of(checkpoint.load_network(tmp_path)[1])
    x = torch.ones(2, SHAPE.inputs)
    assert torch.equal(network(x), loaded(x))
    loaded(x).sum().backward()
    with torch.no_grad():
        loaded.head.weight.add_(1.0)


def test_newer_replaces_older_and_leaves_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text("kept")
    for step in (1, 2, 3):
        save(tmp_path, step)
    assert step_of(tmp_path) == 3
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["curve.csv", "meta.json", "network.3.safetensors", "state.3.json", "state.3.safetensors"]


def test_a_network_alone(tmp_path: Path) -> None:
    checkpoint.save(tmp_path, CVPN(SHAPE), "leduc_poker", "run", 0, {})
    assert checkpoint.load_network(tmp_path, "leduc_poker")[0] == "leduc_poker"
    with pytest.raises(CheckpointError, match="resumed"):
        checkpoint.load_state(tmp_path)


def refused(folder: Path, game: str | None = None) -> str:
    """The one line with which the checkpoint is refused."""
    with pytest.raises(CheckpointError) as caught:
        checkpoint.load_network(folder, game)
        checkpoint.load_state(folder)
    said = str(caught.value)
    assert "\n" not in said and str(folder) in said
    return said


@pytest.mark.parametrize("name", ["meta.json", "network.1.safetensors", "state.1.json", "state.1.safetensors"])
def test_truncated_missing_and_changed_files(tmp_path: Path, name: str) -> None:
    save(tmp_path / "whole")
    content = (tmp_path / "whole" / name).read_bytes()
    folder = tmp_path / "damaged"
    shutil.copytree(tmp_path / "whole", folder)
    for size in [0, 1, len(content) - 2, *random.Random(name).sample(range(len(content) - 1), 20)]:
        (folder / name).write_bytes(content[:size])
        refused(folder)
    for foreign in (b"\x89PNG\r\n", b"[]", b"{}", b"null", b"\xff" * 64, b'{"format": "sog checkpoint", "version": 1}'):
        (folder / name).write_bytes(foreign)
        refused(folder)
    (folder / name).unlink()
    refused(folder)
    (folder / name).mkdir()
    refused(folder)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    save(tmp_path)
    for name in ("network.1.safetensors", "state.1.json", "state.1.safetensors"):
        content = bytearray((tmp_path / name).read_bytes())
        content[-3] ^= 1
        (tmp_path / name).write_bytes(content)
        assert name in refused(tmp_path)
        content[-3] ^= 1
        (tmp_path / name).write_bytes(content)
    assert step_of(tmp_path) == 1


def change_meta(folder: Path, **changes: Any) -> None:
    said = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(signed({**said, **changes})))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 99}, "version 99"),
        ({"format": "other"}, "not a checkpoint"),
        ({"step": "x"}, "truncated or not"),
        ({"files": {}}, "truncated or not"),
        ({"files": {"network": {"name": "../secret", "sha256": ""}}}, "truncated or not"),
    ],
)
def test_foreign_meta(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    save(tmp_path)
    change_meta(tmp_path, **changes)
    assert said in refused(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 9},
        {"width": 1 << 70},
        {"width": "9"},
        {"depth": 3},
        {"depth": 10**9},
        {"kind": "x"},
        {"slots": [2]},
        {"slots": [10**9] * 2},
        {"new": 1},
        {"policies_apart": True},
        {"policies_apart": 1},
        {"ownership": True},
        {"ownership": 0},
    ],
)
def test_a_shape_that_is_not_the_weights(tmp_path: Path, changes: dict[str, Any]) -> None:
    save(tmp_path)
    shape = json.loads((tmp_path / "meta.json").read_text())["shape"]
    change_meta(tmp_path, shape={**shape, **changes})
    refused(tmp_path)


def test_missing_foreign_and_other_games(tmp_path: Path) -> None:
    assert "no such" in refused(tmp_path / "nowhere")
    assert "not a checkpoint" in refused(tmp_path)
    (tmp_path / "file").write_text("text")
    refused(tmp_path / "file")
    save(tmp_path / "run")
    assert "of leduc_poker, not of kuhn_poker" in refused(tmp_path / "run", "kuhn_poker")


def broken_network() -> CVPN:
    network = CVPN(SHAPE)
    with torch.no_grad():
        network.head.weight[0, 0] = float("nan")
    return network


def test_nan_is_refused_at_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as careless:
        careless.setattr(checkpoint, "refuse_broken", lambda network: None)
        checkpoint.save(tmp_path, broken_network(), "leduc_poker", "run", 0, {})
    assert "NaN" in refused(tmp_path)


def test_nan_is_refused_at_save_and_what_was_saved_before_stays(tmp_path: Path) -> None:
    save(tmp_path, 1)
    with pytest.raises(CheckpointError, match="NaN or infinite weight in head"):
        checkpoint.save(tmp_path, broken_network(), "leduc_poker", "run", 2, {})
    critic = {"weight": np.full(3, np.inf)}
    with pytest.raises(CheckpointError, match="the critic has a NaN"):
        checkpoint.save(tmp_path, CVPN(SHAPE), "leduc_poker", "run", 2, {}, critic=critic)
    assert step_of(tmp_path) == 1


def test_another_run_is_not_overwritten(tmp_path: Path) -> None:
    save(tmp_path, 1)
    with pytest.raises(CheckpointError, match="another run"):
        save(tmp_path, 2, run="other")
    with pytest.raises(CheckpointError, match="another game"):
        save(tmp_path, 2, game="kuhn_poker")
    assert step_of(tmp_path) == 1
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "meta.json").write_text("{}")
    with pytest.raises(CheckpointError):
        save(tmp_path / "foreign")
    assert os.listdir(tmp_path / "foreign") == ["meta.json"]
    (tmp_path / "file").write_text("text")
    with pytest.raises(CheckpointError, match="not a folder"):
        save(tmp_path / "file")


def test_no_pickle_is_ever_read(tmp_path: Path) -> None:
    save(tmp_path)
    evil = b"cos\nsystem\n(S'touch /tmp/evil'\ntR."
    (tmp_path / "network.1.safetensors").write_bytes(evil)
    refused(tmp_path)
    with pytest.raises(TypeError):
        checkpoint.save(tmp_path / "new", CVPN(SHAPE), "g", "run", 0, {}, {"bad": np.array([object()])})
    assert not (tmp_path / "new").exists()
    with pytest.raises(TypeError):
        pack({"thing": object()})


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_write_that_fails_leaves_the_older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    save(tmp_path, 1)

    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(CheckpointError, match="No space left"):
            save(tmp_path, 2)
    assert step_of(tmp_path) == 1
    save(tmp_path, 3)
    assert step_of(tmp_path) == 3
    assert len(os.listdir(tmp_path)) == 4


def test_kill_at_any_moment(tmp_path: Path) -> None:
    rng, before = random.Random(0), 0
    for _ in range(10):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            save_for_ever(tmp_path, before, writer)
        os.close(writer)
        os.read(reader, 4)
        time.sleep(0.03 * rng.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader, "rb") as pipe:
            finished = before + 1 + len(pipe.read()) // 4
        after = step_of(tmp_path)
        assert finished <= after <= finished + 1
        before = after


def save_for_ever(folder: Path, step: int, told: int) -> None:
    """In a child process: save step after step, and say so after each, until killed."""
    try:
        while True:
            step += 1
            save(folder, step)
            os.write(told, b"done")
    finally:
        os._exit(1)


def test_every_state_a_kill_can_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop a save before each call that changes the folder: the older or the newer checkpoint is complete."""
    calls, seen = 0, set()

    class Killed(BaseException):
        pass

    def guard(function: Any) -> Any:
        def stopped(*args: Any, **keywords: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == limit:
                raise Killed
            return function(*args, **keywords)

        return stopped

    for limit in range(1, 30):
        folder = tmp_path / str(limit)
        save(folder, 1)
        calls = 0
        with monkeypatch.context() as patched:
            for owner, name in ((os, "replace"), (os, "fsync"), (Path, "open"), (Path, "unlink")):
                patched.setattr(owner, name, guard(getattr(owner, name)))
            try:
                save(folder, 2)
                break
            except Killed:
                pass
        seen.add(step_of(folder))
        save(folder, 3)
        assert step_of(folder) == 3 and len(os.listdir(folder)) == 4
    else:
        pytest.fail("the save never finished")
    assert seen == {1, 2}


def test_pieces_of_a_file_are_what_safetensors_reads() -> None:
    rng = np.random.default_rng(0)
    kinds = (np.bool_, np.int8, np.uint8, np.int16, np.float16, np.int32, np.float32, np.int64, np.float64)
    arrays = {f"x{k}": rng.integers(0, 2, (k, 3)).astype(kind) for k, kind in enumerate(kinds)}
    arrays |= {"one": np.array(2.5), "none": np.zeros(0, dtype=np.float32), "\u00e4": arrays["x4"].T}
    pieces = tensor_pieces(arrays)
    assert any(np.shares_memory(np.frombuffer(piece, dtype=np.uint8), arrays["x8"]) for piece in pieces[2:])
    read = safetensors.numpy.load(b"".join(pieces))
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype and np.array_equal(read[name], array), name


def test_weights_for_workers() -> None:
    network = CVPN(SHAPE, 5)
    copy = module_of(network_of(SHAPE, network_bytes(network)))
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), copy.parameters(), strict=True))
    with pytest.raises(CheckpointError):
        network_of(SHAPE, safetensors.torch.save({"x": torch.zeros(1)}))


def test_an_unknown_game_may_be_ones_own(tmp_path: Path) -> None:
    """A new shell without SOG_GAMES: the likely cause stands in the message."""
    game = make_game("kuhn_poker")
    checkpoint.save(tmp_path, CVPN(shape_for(game, 8, 1), 0), "my_poker", "a run", 1, {})
    with pytest.raises(CheckpointError, match=r"no game is called my_poker; .*SOG_GAMES must name its module"):
        checkpoint.load_network(tmp_path)


def test_chess_from_before_it_had_inputs_is_of_alphazeros_planes(tmp_path: Path) -> None:
    """What it was saved as is `chess`; it loads and plays as chess(inputs=paper)."""
    paper = make_game("chess(inputs=paper)")
    checkpoint.save(tmp_path, CVPN(shape_for(paper, 2, 1, "resnet")), "chess", "chess run", 1, {"game": "chess"})
    assert checkpoint.load_meta(tmp_path).game == checkpoint.load_network(tmp_path, paper.name)[0] == paper.name
    with pytest.raises(CheckpointError, match=r"of chess\(inputs=paper\), not of chess"):
        checkpoint.load_network(tmp_path, "chess")

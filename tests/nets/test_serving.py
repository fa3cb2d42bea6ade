"""An evaluator process answers as the network does, batches what many actors ask, and leaves nothing when killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from sog.arrays import Float32
from sog.errors import CheckpointError, SettingError, SogError
from sog.games.catalog import make_game
from sog.games.rules.leduc.game import Leduc
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import network_evaluator
from sog.nets.serving import wire
from sog.nets.serving.client import EvaluatorLost, EvaluatorProcess, ServedEvaluator, serving
from sog.nets.serving.resident import Residence, ResidentNetwork
from sog.nets.serving.server import Flushing
from sog.nets.serving.wire import Message, MessageKind, connect, receive, send
from sog.nets.shape import shape_for
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.network import random_beliefs
from tests.waiting import wait_for

PUBLIC = PublicTree(Leduc()).list_all()
SHAPE = shape_for(PUBLIC.game, 32, 2, crossed=(0, 1, 2), matchups=True)
NAME = f"of-test-{os.getpid()}"  # names are the machine's, on which this may be tested twice
PATIENT = Flushing(rows=10_000, microseconds=30e6)  # answers only when every actor waits


def drawn(seed: int) -> CVPN:
    """A network without zeros."""
    network = CVPN(SHAPE, seed)
    with torch.no_grad():
        network.head.weight.normal_(0.0, 0.3, generator=torch.Generator().manual_seed(seed))
    return network


def rows_of(count: int, seed: int = 0) -> Float32:
    beliefs = random_beliefs(PUBLIC, count, np.random.default_rng(seed))
    return encode(beliefs, SHAPE.crossed, SHAPE.matchups)


@pytest.fixture(scope="module")
def process() -> Iterator[EvaluatorProcess]:
    with serving(SHAPE, flushing=PATIENT) as owner:
        yield owner


def in_shared_memory() -> set[str]:
    return set(os.listdir("/dev/shm"))


# --- the resident network ---


def test_it_answers_as_the_network_does() -> None:
    network, resident = drawn(1), ResidentNetwork(SHAPE, Residence(buckets=(8, 32)))
    resident.load(network.state_dict())
    parts = [rows_of(count, count) for count in (3, 0, 32, 1, 30, 40)]
    with torch.no_grad():
        wanted = network(torch.from_numpy(np.concatenate(parts))).numpy()
    np.testing.assert_allclose(resident.answer(parts), wanted, atol=1e-5)
    assert resident.answer([]).shape == (0, SHAPE.outputs)


def test_weights_are_copied_into_place() -> None:
    """Compiled graphs hold the addresses of weights, which loading must not change."""
    resident = ResidentNetwork(SHAPE, Residence())
    places = [weight.data_ptr() for weight in resident.weights().values()]
    x = rows_of(5)
    resident.load(drawn(1).state_dict())
    first = resident.answer([x])
    resident.load(drawn(2).state_dict())
    assert np.abs(resident.answer([x]) - first).max() > 0.01
    assert [weight.data_ptr() for weight in resident.weights().values()] == places


def test_wrong_weights_are_refused_and_the_old_ones_stay() -> None:
    resident, x = ResidentNetwork(SHAPE, Residence()), rows_of(4)
    resident.load(drawn(1).state_dict())
    before = resident.answer([x])
    broken = drawn(2)
    with torch.no_grad():
        next(broken.parameters())[0, 0] = torch.nan
    with pytest.raises(CheckpointError):
        resident.load(broken.state_dict())
    with pytest.raises(SettingError):
        resident.load(CVPN(shape_for(PUBLIC.game, 16, 2)).state_dict())
    np.testing.assert_array_equal(resident.answer([x]), before)


def test_bf16_is_near_in_value_units() -> None:
    network, x = drawn(1), rows_of(200)
    answers = []
    for precision in ("f32", "bf16"):
        resident = ResidentNetwork(SHAPE, Residence(precision=precision))
        resident.load(network.state_dict())
        answers.append(resident.answer([x])[:, : SHAPE.num_values])
    error = np.abs(answers[0] - answers[1]).max() / np.abs(answers[0]).max()
    assert 0.0 < error < 1e-2 and answers[1].dtype == np.float32


def test_a_resnet_is_folded() -> None:
    game = make_game("connect_four")
    network = CVPN(shape_for(game, 8, 1, "resnet"), 1).eval()
    with torch.no_grad():
        for name, weight in network.state_dict().items():
            if weight.dtype == torch.float32:
                weight.uniform_(0.1, 0.5) if "norm" in name else weight.normal_(0.0, 0.1)
    resident = ResidentNetwork(network.shape, Residence())
    resident.load(network.state_dict())
    x = np.random.default_rng(0).integers(0, 2, (3, network.shape.inputs)).astype(np.float32)
    with torch.no_grad():
        np.testing.assert_allclose(resident.answer([x]), network(torch.from_numpy(x)).numpy(), atol=1e-4)


def test_compiled_batches_are_padded_and_follow_the_weights() -> None:
    resident = ResidentNetwork(SHAPE, Residence(mode="compiled", buckets=(4, 16)))
    assert [resident.padded(count) for count in (1, 4, 5, 16)] == [4, 4, 16, 16]
    resident.warm_up()
    for seed in (1, 2):
        network = drawn(seed)
        resident.load(network.state_dict())
        for count in (1, 3, 5, 16, 20):
            x = rows_of(count)
            with torch.no_grad():
                np.testing.assert_allclose(resident.answer([x]), network(torch.from_numpy(x)).numpy(), atol=1e-5)


WRONG = [{"precision": "f8"}, {"mode": "fast"}, {"buckets": ()}, {"buckets": (4, 4)}, {"buckets": tuple(range(1, 10))}]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        Residence(**wrong)  # type: ignore[arg-type]


# --- the process ---


def test_a_served_evaluator_answers_as_one_of_its_own(process: EvaluatorProcess) -> None:
    network = drawn(3)
    process.load(network, 7)
    evaluator = ServedEvaluator(process.name, SHAPE, rows=64)
    other = PublicTree(Leduc()).list_all()
    sizes = ((PUBLIC, 3), (other, 5), (PUBLIC, 150))
    requests = [random_beliefs(tree, count, np.random.default_rng(count)) for tree, count in sizes]
    own = network_evaluator(network)(requests)
    for mine, served in zip(own, evaluator(requests), strict=True):
        np.testing.assert_allclose(mine.values, served.values, atol=1e-4)
        np.testing.assert_allclose(mine.logits, served.logits, atol=1e-4)
    assert evaluator.version == 7
    evaluator.close()


def test_an_interrupted_call_takes_nobody_elses_answer(
    process: EvaluatorProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to what was interrupted is still on its way; the next call must not return it."""
    evaluator = ServedEvaluator(process.name, SHAPE, rows=64)
    with monkeypatch.context() as interrupted:

        def receive_never(talk: object) -> None:
            raise KeyboardInterrupt

        interrupted.setattr("sog.nets.serving.client.receive", receive_never)
        with pytest.raises(KeyboardInterrupt):
            evaluator.rows(rows_of(3))
    with pytest.raises(EvaluatorLost):
        evaluator.rows(rows_of(3, seed=1))


def test_actors_are_joined_in_one_batch(process: EvaluatorProcess) -> None:
    """It waits for the second of two actors; the figures say so."""
    network = drawn(4)
    process.load(network, 8)
    actors = [ServedEvaluator(process.name, SHAPE, rows=64) for _ in range(2)]
    before, found = process.counters(), {}

    def ask(k: int) -> None:
        found[k] = actors[k].rows(rows_of(10 + k, k))

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = process.counters()
    assert (after.batches - before.batches, after.requests - before.requests, after.rows - before.rows) == (1, 2, 21)
    assert after.actors == 2 and after.version == 8
    assert after.mean_batch > 0 and after.p95_ms > 0 and 0 < after.network_share < 1
    for k in range(2):
        with torch.no_grad():
            np.testing.assert_allclose(found[k], network(torch.from_numpy(rows_of(10 + k, k))).numpy(), atol=1e-5)
        actors[k].close()


def test_the_oldest_request_does_not_wait_for_ever() -> None:
    with serving(SHAPE, flushing=Flushing(10_000, 2_000.0)) as owner:
        asking, silent = (ServedEvaluator(owner.name, SHAPE, rows=8) for _ in range(2))
        asking.rows(rows_of(3))
        assert owner.counters().batches == 1 and owner.counters().p95_ms >= 2.0
        silent.close()


def test_wrong_messages_harm_nobody(process: EvaluatorProcess) -> None:
    evaluator = ServedEvaluator(process.name, SHAPE, rows=8)
    for kind, rows in ((MessageKind.EVALUATE, 3), (MessageKind.JOIN, 0), (MessageKind.DONE, 1)):
        stranger = connect(process.name)
        send(stranger, Message(kind, rows))
        answer = receive(stranger)
        assert answer is not None and answer.kind == MessageKind.REFUSED
        stranger.close()
    stranger = connect(process.name)
    stranger.send(b"x")
    assert receive(stranger) is None
    with pytest.raises(SogError, match="another network"):
        process.load(CVPN(shape_for(PUBLIC.game, 16, 2)), 9)
    assert evaluator.rows(rows_of(2)).shape == (2, SHAPE.outputs)
    evaluator.close()


def _die_waiting(name: str, joined: str) -> None:
    """An actor that asks, so that the process owes it an answer, and is killed."""
    evaluator = ServedEvaluator(name, SHAPE, rows=8)
    Path(joined).touch()
    evaluator.rows(rows_of(4))


def test_actors_killed_while_they_wait_hold_up_nobody(process: EvaluatorProcess, tmp_path: Path) -> None:
    before = in_shared_memory()
    evaluator = ServedEvaluator(process.name, SHAPE, rows=8)
    actor = multiprocessing.get_context("spawn").Process(target=_die_waiting, args=(process.name, str(tmp_path / "on")))
    actor.start()
    wait_for((tmp_path / "on").exists)
    actor.kill()
    actor.join()
    wait_for(lambda: process.counters().actors == 1)
    assert evaluator.rows(rows_of(4)).shape == (4, SHAPE.outputs)
    wait_for(lambda: in_shared_memory() <= before)  # other tests use it, too, for moments
    evaluator.close()


def test_a_name_that_another_user_took_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the abstract namespace any user may take one."""
    listener = wire.listen("taken-by-another")
    connect("taken-by-another").close()
    monkeypatch.setattr("sog.nets.serving.wire.os.getuid", lambda: os.geteuid() + 1)
    with pytest.raises(SogError, match="the evaluator process called taken-by-another is another user's"):
        connect("taken-by-another")
    listener.close()


def test_a_killed_process_is_told_of_and_another_takes_its_name() -> None:
    before = in_shared_memory()
    with serving(SHAPE, name=NAME) as owner:
        evaluator = ServedEvaluator(owner.name, SHAPE, rows=8)
        (victim,) = [p for p in multiprocessing.active_children() if p.name.endswith(NAME)]
        with pytest.raises(SogError, match="runs already"), serving(SHAPE, name=NAME):
            pass
        os.kill(victim.pid or 0, signal.SIGKILL)
        with pytest.raises(EvaluatorLost, match="has ended"):
            evaluator.rows(rows_of(4))
    with serving(SHAPE, name=NAME) as owner:
        assert ServedEvaluator(owner.name, SHAPE).rows(rows_of(2)).shape == (2, SHAPE.outputs)
    with pytest.raises(EvaluatorLost):
        ServedEvaluator(NAME, SHAPE)
    wait_for(lambda: in_shared_memory() <= before)  # other tests use it, too, for moments


def test_signals_to_the_whole_group_are_the_owners_to_handle() -> None:
    """A training that is stopped by SIGTERM finishes its round with the process's answers."""
    with serving(SHAPE, name=NAME) as owner:
        evaluator = ServedEvaluator(owner.name, SHAPE, rows=8)
        (process,) = [p for p in multiprocessing.active_children() if p.name.endswith(NAME)]
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(process.pid or 0, number)
        time.sleep(0.2)
        assert evaluator.rows(rows_of(4)).shape == (4, SHAPE.outputs)
    assert not process.is_alive()


def _own_and_wait(said: str) -> None:
    with serving(SHAPE, name="of-an-orphan"):
        Path(said).touch()
        time.sleep(600)


def test_it_ends_with_its_owner(tmp_path: Path) -> None:
    """Also when the owner is killed, whose own end of the block never comes."""
    owner = multiprocessing.get_context("spawn").Process(target=_own_and_wait, args=(str(tmp_path / "on"),))
    owner.start()
    wait_for((tmp_path / "on").exists)
    owner.kill()
    owner.join()

    def gone() -> bool:
        try:
            connect("of-an-orphan").close()
        except SogError:
            return True
        return False

    wait_for(gone)

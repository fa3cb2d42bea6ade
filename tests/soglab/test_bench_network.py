"""The network benchmark measures every back end at every size, and its beliefs are ones that searches ask."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from sog.games.base import TERMINAL
from sog.games.catalog import make_game
from sog.games.rules.kuhn import Kuhn
from sog.nets.cvpn import CVPN
from sog.nets.inference import rows_answer
from sog.nets.shape import shape_for
from sog.nets.torch_rows import TorchRows
from sog.searches.tree.public_tree import PublicTree
from soglab.bench.network import _shares, bench, random_beliefs
from soglab.bench.runtimes import other_programs, rows_of_program


def test_every_row_is_measured() -> None:
    rows = list(bench("kuhn_poker", sizes=((16, 1), (16, 2)), batches=(1, 5), rounds=1, rows_a_round=5))
    assert {(row.depth, row.batch) for row in rows if row.back_end == "numba"} == {(1, 1), (1, 5), (2, 1), (2, 5)}
    assert {row.back_end for row in rows} >= {"numba", "pytorch"}
    assert all(row.us > 0 for row in rows)


def test_operations_are_counted() -> None:
    rows = list(bench("kuhn_poker", sizes=((16, 1), (32, 1)), batches=(1, 4), rounds=1, rows_a_round=4))
    layers = 12 * 16 + 16 * 12  # six features and two ranges of three hands; six values and six logits
    assert rows[0].gflops == pytest.approx(2e-3 * layers / rows[0].us)
    row = replace(rows[0], chosen=True)
    said = _shares([replace(row, batch=64, gflops=90.0, blas=200.0), replace(row, width=32, gflops=150.0, blas=200.0)])
    assert said == "GFLOP/s at the largest batch, beside 200 of BLAS: 1x16 90 (45%), 1x32 150 (75%)"
    assert _shares([replace(row, gflops=None)]) == ""


def test_residual_networks_are_measured_on_boards() -> None:
    rows = list(bench("tic_tac_toe", sizes=((8, 1),), batches=(1,), rounds=1, rows_a_round=5))
    assert {row.kind for row in rows} == {"mlp"}
    rows = list(bench("connect_four", sizes=((8, 1),), batches=(1, 3), rounds=1, rows_a_round=5, kind="resnet"))
    assert {row.back_end for row in rows} >= {"numba", "pytorch"}
    assert {row.batch for row in rows} == {1, 3} and all(row.us > 0 for row in rows)
    assert {row.back_end for row in rows if row.chosen} == {"numba"}


def test_networks_over_hands_are_measured_on_holdem() -> None:
    game = "holdem(board=3s7hTdKs,pot=2000,stacks=2000,bets=allin)"
    rows = list(bench(game, sizes=((16, 1),), batches=(1, 3), rounds=1, rows_a_round=3, kind="hands"))
    assert {row.back_end for row in rows} == {"numba", "pytorch"} and all(row.us > 0 for row in rows)
    assert {row.back_end for row in rows if row.chosen} == {"numba"}


def test_beliefs_are_normalised_and_not_terminal() -> None:
    public = PublicTree(Kuhn()).list_all()
    beliefs = random_beliefs(public, 50, np.random.default_rng(0))
    assert (public.nodes.actor[beliefs.nodes] != TERMINAL).all()
    np.testing.assert_allclose(beliefs.ranges.sum(axis=1), 2.0)


@pytest.mark.parametrize("name", ["leduc_poker", "connect_four", "chess", "go(board_size=5,komi=7.5)"])
def test_other_programs_answer_as_pytorch(name: str) -> None:
    """ONNX Runtime and OpenVINO, where they are installed, run a copy of the network."""
    pytest.importorskip("onnx")
    game = make_game(name)
    network = CVPN(shape_for(game, 16, 2, "mlp" if game.planes is None else "resnet"), seed=3).eval()
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.2, generator=torch.Generator().manual_seed(4))
    public = PublicTree(game).list_all() if game.planes is None else PublicTree(game)
    beliefs = random_beliefs(public, 9, np.random.default_rng(0))
    ours = rows_answer(TorchRows(network))(beliefs)
    programs = other_programs(network)
    assert set(programs) <= {"onnxruntime", "openvino"} and programs
    for rows in programs.values():
        theirs = rows_of_program(network, rows)(beliefs)
        np.testing.assert_allclose(theirs.values, ours.values, atol=1e-4)
        np.testing.assert_allclose(theirs.logits, ours.logits, atol=1e-3)


STACK_OF_SIGNALS = """
import ctypes
from sog.games.catalog import make_game
from sog.nets.cvpn import CVPN
from sog.nets.shape import shape_for
from soglab.bench.runtimes import other_programs
programs = other_programs(CVPN(shape_for(make_game("leduc_poker"), 16, 2), seed=3).eval())
stack = ctypes.create_string_buffer(24)
ctypes.CDLL(None).sigaltstack(None, stack)
print(len(programs), int.from_bytes(stack.raw[:8], "little"))
"""


def test_openvino_leaves_signals_alone() -> None:
    """It gives the thread that compiles a stack for signals and frees it later: the next signal ends the process."""
    pytest.importorskip("openvino")
    pytest.importorskip("onnx")
    command = [sys.executable, "-P", "-c", STACK_OF_SIGNALS]
    count, stack = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(count) >= 1 and stack == "0"

"""Networks by ONNX Runtime and by OpenVINO on one core, where they are installed, to compare our kernels with."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sog.arrays import Float32
from sog.nets.cvpn import CVPN
from sog.nets.encode import encode
from sog.nets.inference import Answer, split_output
from sog.searches.leaves.evaluator import Beliefs, Evaluations

__all__ = ["Program", "other_programs", "rows_of_program"]

# From encoded beliefs, float32[B, D], to a network's outputs.
Program = Callable[[Float32], Float32]


def other_programs(network: CVPN) -> dict[str, Program]:
    """A copy of a resnet, or of an MLP without matchups, in each program that is installed (`pip install sog[bench]`).

    Outputs are within 1e-4 value units of PyTorch's, in float32.
    """
    if importlib.util.find_spec("onnx") is None:
        return {}
    from soglab.bench.onnx_models import onnx_model

    model, programs = onnx_model(network), dict[str, Program]()
    if importlib.util.find_spec("onnxruntime") is not None:
        programs["onnxruntime"] = _by_onnx_runtime(model)
    if importlib.util.find_spec("openvino") is not None:
        programs["openvino"] = _by_openvino(model)
    return programs


def rows_of_program(network: CVPN, rows: Program) -> Answer:
    """From beliefs to evaluations."""

    def answer(beliefs: Beliefs) -> Evaluations:
        return split_output(network.shape, beliefs, rows(encode(beliefs, network.shape.crossed)))

    return answer


def _by_onnx_runtime(model: bytes) -> Program:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def rows(x: Float32) -> Float32:
        out: Float32 = session.run(None, {"x": x})[0]
        return out

    return rows


def _by_openvino(model: bytes) -> Program:
    """One request at a time, tuned for latency, in float32 though the processor may have 16 bits."""
    # Compiling gives its thread a stack for signals, which is gone later: a signal would then end the process.
    with ThreadPoolExecutor(1) as apart:
        request = apart.submit(_openvino_request, model).result()

    def rows(x: Float32) -> Float32:
        out: Float32 = np.asarray(request.infer({"x": x}, share_inputs=True, share_outputs=True)[0])
        return out

    return rows


def _openvino_request(model: bytes) -> Any:
    import openvino

    hints = {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    core = openvino.Core()
    return core.compile_model(core.read_model(model), "CPU", hints).create_infer_request()

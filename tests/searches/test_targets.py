"""Kernels as other processors' compilers make them: their tests pass there, and they give this processor's very bits.

Numba compiles for a processor that is named, and this one runs the result where it has the instructions. Another
processor's BLAS and NumPy loops are chosen likewise, for the programs that kernels are compared with.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__

from tests.searches.bits import FUSED

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# What a target has that the one before has not, and the BLAS of such processors.
NEEDS = {
    "x86-64-v2": ("sse4.2", "popcnt", "ssse3"),
    "x86-64-v3": ("avx2", "bmi2", "fma", "f16c", "lzcnt", "movbe"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
BLAS = {"x86-64-v2": "Nehalem", "x86-64-v3": "Haswell", "x86-64-v4": "SkylakeX"}
# NumPy's names for loops that only later processors have.
LATER = {"x86-64-v2": ("AVX", "FMA", "V3", "V4"), "x86-64-v3": ("AVX512", "V4"), "x86-64-v4": ()}
KERNEL_TESTS = ("test_kernels.py", "test_rows.py", "test_pairs.py", "test_cards.py", "test_gadget.py")


def environment(target: str) -> dict[str, str]:
    """Variables for a process that compiles for `target`; skips the test where this processor could not run it."""
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip(f"not an x86-64: kernels as {target} compiles them are NOT TESTED here")
    features = llvm.get_host_cpu_features()
    missing = [name for name in NEEDS[target] if not features.get(name)]
    if missing:
        pytest.skip(f"no {', '.join(missing)} here: kernels as {target} compiles them are NOT TESTED")
    later = [name for name in __cpu_dispatch__ if any(part in name for part in LATER[target])]
    return {
        **os.environ,
        "NUMBA_CPU_NAME": target,
        "NUMBA_CPU_FEATURES": "",  # with the name alone Numba keeps this processor's features
        "OPENBLAS_CORETYPE": BLAS[target],
        "NPY_DISABLE_CPU_FEATURES": " ".join(later),
    }


def output_of(environment: dict[str, str], *arguments: str) -> str:
    """What Python prints, run in the repository's root; fails with all of it where Python does."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=1_200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-4_000:]
    return done.stdout


@cache
def bits_here() -> dict[str, str]:
    """The digests as this processor's own kernels compute them."""
    found: dict[str, str] = json.loads(output_of(dict(os.environ), str(HERE / "bits.py")))
    return found


@pytest.mark.parametrize("target", NEEDS)
def test_kernel_tests_pass_as(target: str) -> None:
    tests = [str(HERE / name) for name in KERNEL_TESTS]
    output_of(environment(target), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)


@pytest.mark.parametrize("target", NEEDS)
def test_the_bits_are_the_same_as(target: str) -> None:
    there, here = json.loads(output_of(environment(target), str(HERE / "bits.py"))), bits_here()
    assert there.keys() == here.keys()
    fused = "fma" in {feature for each in list(NEEDS)[: list(NEEDS).index(target) + 1] for feature in NEEDS[each]}
    same = [name for name in here if fused or not name.startswith(FUSED)]
    assert {name: there[name] for name in same} == {name: here[name] for name in same}

"""Numba's insides are as parts.py and dispatch.py need them; where they are not, plain njit gives the same bits.

As a program it prints the digests of a small solve and a small search.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import types
from numba.core.registry import CPUDispatcher

from sog.arrays import Array
from sog.games.rules.kuhn import Kuhn
from sog.searches.cfr import exact
from sog.searches.cfr.lookahead import Lookahead
from sog.searches.cfr.rules import CFR_PLUS
from sog.searches.gtcfr.search import search
from sog.searches.gtcfr.settings import Budget, SearchSettings
from sog.searches.kernels import dispatch, fallback
from sog.searches.kernels.dispatch import SameTypes, same_types
from sog.searches.kernels.jit import inlined, njit
from sog.searches.kernels.parts import KernelEntry
from sog.searches.leaves.drive import run
from sog.searches.leaves.evaluator import Beliefs, Evaluations
from sog.searches.tree.public_tree import PublicTree
from sog.searches.tree.records import Entry

ROOT = Path(__file__).parents[2]
ADVICE = (
    f"with Numba {numba.__version__}. Adapt sog/searches/kernels/parts.py, dispatch.py and the list in fallback.py "
    "to it, or lower Numba's bound in pyproject.toml below it. Until then set SOG_PLAIN_NUMBA=1: kernels are then "
    "compiled by plain njit, more slowly."
)


def test_names_and_parameters_are_as_they_were() -> None:
    changes = fallback.changes()
    assert not changes, "; ".join(changes) + f": {ADVICE}"
    assert not fallback.PLAIN


@inlined
def _half(values: Array, k: Any) -> Any:
    return values[k] / 2.0


@inlined
def _shown(value: float) -> float:
    print("the part's own constant", value)
    return value


@njit
def _halves(values: Array, counts: Array) -> Any:
    return _half(values, 0) + _half(values, counts[0]) + _half(values, len(values) - 1)


@njit
def _shown_twice(value: float) -> float:
    return _shown(value) + value


def _uncached(kernel: Any, *arguments: Any) -> tuple[Any, Any]:
    """The kernel compiled anew, since parts come out of no cache: what Python calls, and all about it."""
    anew: Any = KernelEntry(kernel.py_func, targetoptions=kernel.targetoptions, cached=False)
    compiled = anew.compile(tuple(map(numba.typeof, arguments)))
    (result,) = anew.overloads.values()
    return compiled, result


def test_a_part_is_pasted_into_its_caller_and_shares_code() -> None:
    """For the constant 0, an entry of an int32 table, and an int64."""
    values, counts = np.array([2.0, 4.0, 8.0]), np.array([1], dtype=np.int32)
    compiled, result = _uncached(_halves, values, counts)
    assert compiled(values, counts) == 7.0
    part: Any = _half
    assert len(part.overloads) == 1, f"A part has the forms {[str(key) for key in part.overloads]}, not one {ADVICE}"
    (own,) = part.overloads.values()
    assert own.signature.args[1] == types.int64, f"Integers are not widened {ADVICE}"
    name = own.fndesc.llvm_func_name
    assert own.library.get_pointer_to_function(name) == 0, f"A part has machine code of its own {ADVICE}"
    assert "alwaysinline" in str(own.library._final_module), f"The option forceinline does not work {ADVICE}"
    calls = [line for line in result.library.get_llvm_str().splitlines() if "call" in line and name in line]
    assert not calls, f"A part is called, not pasted into its caller {ADVICE}"


def test_environments_are_set(capfd: pytest.CaptureFixture[str]) -> None:
    """A function's environment has the objects of Python that its code names; printing needs one of the part."""
    compiled, result = _uncached(_shown_twice, 1.5)
    environments = result._find_referenced_environments()
    assert len(environments) == 2, f"A kernel and its part refer to {len(environments)} environments {ADVICE}"
    for environment in environments:
        address = result.codegen._engine.get_global_value_address(environment.env_name)
        pointer = ctypes.c_void_p.from_address(address).value
        assert pointer == id(environment), f"The environment {environment.env_name} is not set {ADVICE}"
    assert compiled(1.5) == 3.0
    assert capfd.readouterr().out == "the part's own constant 1.5\n"


def test_a_compiled_form_is_called_and_fingerprints_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SameTypes, "checked", False)
    values, counts = np.array([2.0, 4.0, 8.0]), np.array([1], dtype=np.int32)
    kernel = same_types(_halves)
    assert kernel(values, counts) == 7.0
    ready = kernel.ready()
    assert ready is not kernel and ready(values, counts) == 7.0, f"The compiled form is not what Python calls {ADVICE}"
    arguments = (
        values,
        counts,
        values[::2],
        np.zeros((1, 1)),
        1,
        1.0,
        np.uint64(1),
        np.int32(1),
        (1, values),
        (counts,),
    )
    fingerprints = [dispatch._fingerprint(x) for x in arguments]
    assert len(set(fingerprints)) == len(arguments), f"Fingerprints of different types are the same {ADVICE}"
    assert dispatch._fingerprint(np.zeros(9)) == fingerprints[0], f"Equal types have different fingerprints {ADVICE}"


def test_code_is_saved_under_our_lock_in_our_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vars(numba.config), "CACHE_DIR", str(tmp_path))
    kernel: Any = njit(_halves.py_func)
    assert kernel(np.ones(3), np.ones(1, dtype=np.int32)) == 1.5
    saved = {path.suffix or path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert saved == {".nbi", ".nbc", "lock"}, f"Saved code is of {saved} {ADVICE}"


def test_what_changed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CPUDispatcher, "compile", lambda self, sig, target: None)
    monkeypatch.delattr("numba._dispatcher.compute_fingerprint")
    first, second = fallback.changes()
    assert first == "numba.core.registry.CPUDispatcher.compile takes (self sig target) in place of (self sig)"
    assert second.startswith("numba._dispatcher.compute_fingerprint cannot be had")
    monkeypatch.undo()
    monkeypatch.setattr(CPUDispatcher, "__init__", lambda self, py_func, locals, targetoptions, pipeline_class: None)
    assert fallback.changes() == ["CPUDispatcher._cache is gone", "CPUDispatcher.overloads is gone"]


def test_plain_njit_gives_the_same_bits_and_says_so_once(pytestconfig: pytest.Config) -> None:
    """With few of LLVM's optimisations, to compile faster, and into a cache that only this test reads."""
    folder = str(cache.mkdir("plain_njit")) if (cache := getattr(pytestconfig, "cache", None)) else ""
    plain = {"PYTHONPATH": str(ROOT), "SOG_PLAIN_NUMBA": "1", "NUMBA_OPT": "1", "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, __file__], cwd=ROOT, env={**os.environ, **plain},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, *digests()]
    assert done.stderr.count("kernels are compiled by plain njit, which takes longer") == 1
    assert done.stderr.count("Warning: ") == 1


def test_plain_njit_leaves_out_options_that_numba_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.cpu.CPUTargetOptions._nrt", None)
    fallback._has.cache_clear()
    assert fallback._known({"_nrt": False, "forceinline": True, "nogil": True}) == {"forceinline": True, "nogil": True}
    fallback._has.cache_clear()


def digests() -> list[str]:
    """Of twenty iterations of CFR+ on Kuhn poker, and of a search of ten simulations, one for each CFR update."""
    solved = exact.full_tree(PublicTree(Kuhn()).list_all())
    solved.iterate(CFR_PLUS, 20)
    searched = Lookahead(PublicTree(Kuhn()), 0, Kuhn().root_ranges())
    run(search(searched, 0, Budget(10, 1.0), SearchSettings(), np.ones(1, dtype=np.uint64)), _answers)
    rows = Entry.REGRET, Entry.POLICY, Entry.POLICY_SUM
    return [tree.table(n, row).tobytes().hex() for tree in (solved, searched) for n in tree.decisions() for row in rows]


def _answers(requests: list[Beliefs]) -> list[Evaluations]:
    """Values and priors that depend on the ranges."""
    out = []
    for request in requests:
        game, rows = request.public.game, len(request.nodes)
        logits = np.arange(rows * max(game.num_slots) * game.num_actions) % 5 / 8.0
        values = request.ranges / 8.0 - 0.25
        out.append(Evaluations(values, logits.reshape(rows, max(game.num_slots), game.num_actions)))
    return out


if __name__ == "__main__":
    print(json.dumps([fallback.PLAIN, *digests()]))

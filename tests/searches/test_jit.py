"""Kernels' cache on disk: a module's folder depends on its own text and on all that it imports of ours."""

from __future__ import annotations

import ast
import fcntl
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from sog.arrays import Array
from sog.searches.kernels import jit


def test_a_kernel_module_depends_on_what_it_imports() -> None:
    names = {file.stem for file in jit._sources("sog.searches.gtcfr.phases")}
    assert {"phases", "sweeps", "kernels", "trajectories", "growth", "records", "jit"} <= names
    assert "resolver" not in names and "leduc" not in names


def test_imports_are_those_that_python_reads() -> None:
    for file in (jit._PACKAGE / "searches").rglob("*.py"):
        froms = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
        own = [(str(node.module), node.names) for node in froms if str(node.module).startswith("sog")]
        wanted = {name for of, names in own for name in (of, *(f"{of}.{x.name}" for x in names))}
        assert wanted <= set(jit._imported(file)), file


def test_a_changed_import_changes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit._cache_folder("sog.searches.gtcfr.phases", "root")
    assert before == jit._cache_folder.__wrapped__("sog.searches.gtcfr.phases", "root")
    assert Path(before).name.startswith("numba-phases-")
    assert before != jit._cache_folder("sog.searches.cfr.sweeps", "root")
    copies = []
    for k, file in enumerate(sorted(jit._sources("sog.searches.gtcfr.phases"))):
        copy = tmp_path / f"{k:03}"
        copy.write_bytes(file.read_bytes() + (b"#" if file.stem == "trajectories" else b""))
        copies.append(copy)
    monkeypatch.setattr(jit, "_sources", lambda module: set(copies))
    assert jit._cache_folder.__wrapped__("sog.searches.gtcfr.phases", "root") != before


def test_without_a_folder_to_write_to_kernels_are_compiled_anew(tmp_path: Path) -> None:
    """Numba itself would take a cache beside the sources, which tells outdated code by one file alone, or none."""
    (tmp_path / "cache").write_text("no folder")
    beside = set(Path(jit.__file__).parents[1].rglob("*.nbi"))
    words = "import sog.searches.cfr.sweeps; import sog; print(sog.solve('kuhn_poker', iterations=5).value)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0 and ended.stderr.count("RuntimeWarning: ") == 1
    assert float(ended.stdout) < 0
    assert set(Path(jit.__file__).parents[1].rglob("*.nbi")) == beside


def run_kernels(environment: dict[str, str], user: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """A solve of Kuhn poker in a process of its own."""
    words = "import sog; print(sog.solve('kuhn_poker', iterations=5).value)"
    command = [*(user or []), sys.executable, "-c", words]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_cache_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    """What lies in a cache is run."""
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    ended = run_kernels({**os.environ, "NUMBA_CACHE_DIR": str(folder)})
    assert ended.returncode == 0 and ended.stderr.count("RuntimeWarning: ") == 1
    assert f"{folder} is another user's, or others may write to it: kernels are compiled anew" in ended.stderr
    assert not list(folder.rglob("*.nbi"))


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can be a user without an entry")
def test_a_user_without_a_home_is_told_that_nothing_is_kept() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    ended = run_kernels(environment, ["setpriv", "--reuid=54321", "--clear-groups"])
    assert ended.returncode == 0, ended.stderr
    assert "no home folder is known (HOME, XDG_CACHE_HOME): kernels are compiled anew" in ended.stderr


@jit.inlined
def _share(values: Any, k: int) -> Any:
    return values[k] / 2.0


@jit.njit
def _shares(values: Array, count: int) -> Any:
    total = 0.0
    for k in range(count):
        total += _share(values, k)
    return total + _share(values, 0)


@jit.njit
def _both_shares(values: Array, counts: Array) -> Any:
    return _shares(values, 1) + _shares(values, counts[0])


def test_a_kernel_is_compiled_once_for_constants_and_entries_of_tables() -> None:
    """The literal 1 and an int32 are no types of their own; what only a kernel called has no code for Python."""
    values, counts = np.array([2.0, 4.0]), np.array([2], dtype=np.int32)
    assert _both_shares(values, counts) == 2.0 + 4.0
    _both_shares.part.compile((numba.typeof(values), numba.typeof(counts)))  # parts come out of no cache
    assert len(_share.overloads) == len(_shares.part.overloads) == len(_both_shares.overloads) == 1
    assert not _shares.overloads and _shares(values, 2) == 4.0
    with pytest.raises(TypeError, match="_share can only be called by kernels"):
        _share(values, 1)


def test_processes_that_save_at_once_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba numbers a kernel's files by what it finds: both would take the same number."""
    kernel, order = _cached_in(tmp_path, monkeypatch), []
    kernel(1)
    folder = Path(kernel.stats.cache_path)
    assert folder.parents[1] == tmp_path and folder.parent.name.startswith("numba-test_jit-")  # by its sources' digest
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=lambda: (kernel(1.0), order.append("saved")))
        thread.start()
        thread.join(1.0)
        order.append("let go")
    thread.join()
    assert order == ["let go", "saved"]
    assert _cached_in(tmp_path, monkeypatch)(1.5) == 3.0


def _cached_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(vars(numba.config), "CACHE_DIR", str(folder))
    return jit.njit(_twice)


def _twice(x: Any) -> Any:
    return x + x

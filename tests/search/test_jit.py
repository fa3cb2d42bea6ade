"""Kernels' cache on disk: a module's folder depends on its own text and on all that it imports of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.search.simd import jit


def test_a_kernel_module_depends_on_what_it_imports() -> None:
    names = {file.stem for file in jit._sources("sog.search.gtcfr.phases")}
    assert {"phases", "sweeps", "kernels", "trajectories", "growth", "columns", "jit"} <= names
    assert "resolver" not in names and "leduc" not in names


def test_a_changed_import_changes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit._cache_folder("sog.search.gtcfr.phases")
    assert before == jit._cache_folder.__wrapped__("sog.search.gtcfr.phases")
    assert Path(before).name.startswith("numba-phases-")
    assert before != jit._cache_folder("sog.search.cfr.sweeps")
    copies = []
    for k, file in enumerate(sorted(jit._sources("sog.search.gtcfr.phases"))):
        copy = tmp_path / f"{k:03}"
        copy.write_bytes(file.read_bytes() + (b"#" if file.stem == "trajectories" else b""))
        copies.append(copy)
    monkeypatch.setattr(jit, "_sources", lambda module: set(copies))
    assert jit._cache_folder.__wrapped__("sog.search.gtcfr.phases") != before

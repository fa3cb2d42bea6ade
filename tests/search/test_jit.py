"""Kernels' cache on disk: a module's folder depends on its own text and on all that it imports of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from sog.search import jit


def test_a_kernel_module_depends_on_what_it_imports() -> None:
    names = {file.stem for file in jit._sources("sog.search.phases")}
    assert {"phases", "kernels", "leaves", "simulate", "growth", "fields", "jit"} <= names
    assert "resolver" not in names and "leduc" not in names


def test_a_changed_import_changes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = jit._cache_folder("sog.search.phases")
    assert before == jit._cache_folder.__wrapped__("sog.search.phases")
    assert Path(before).name.startswith("numba-phases-")
    assert before != jit._cache_folder("sog.search.kernels")
    copies = []
    for file in sorted(jit._sources("sog.search.phases")):
        copy = tmp_path / file.name
        copy.write_bytes(file.read_bytes() + (b"#" if file.stem == "simulate" else b""))
        copies.append(copy)
    monkeypatch.setattr(jit, "_sources", lambda module: set(copies))
    assert jit._cache_folder.__wrapped__("sog.search.phases") != before

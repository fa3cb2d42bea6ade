"""Numba's njit with the project's options, and a cache on disk that outdated kernels are never taken from."""

from __future__ import annotations

import ast
import hashlib
import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import numba

from sog.searches.kernels.parts import Entry, Part

# Kernels take flattened tuples of arrays, which types cannot follow: to mypy they are plain callables.
Kernel = Callable[..., Any]

# No fastmath: a sum in another order, or a product and a sum rounded once (`contract`), would differ from processor to
# processor in the last bit, regret matching makes whole policies of last bits where actions tie, and a thousand
# iterations make different figures of them. As they stand kernels give the same bits on every processor
# (tests/searches/test_targets.py); where order costs time, sums are written in registers, whose order is fixed.
# Without the runtime's reference counts (_nrt) kernels cannot allocate, and sweeps over small rows run three to four
# times faster.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


@cache
def _cache_folder(module: str, root: str) -> str:
    """A folder in `root` named after a kernel module and the text of all that it imports of ours.

    Numba looks only at a kernel's own file to tell whether its cached code is still good, but kernels freeze
    the constants and helpers of others.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(_sources(module)):
        digest.update(file.read_bytes())
    return str(Path(root) / f"numba-{module.rpartition('.')[2]}-{digest.hexdigest()[:16]}")


def _sources(module: str) -> set[Path]:
    """The module's file and those of the package's modules that it imports, and they import, and so on."""
    package, found = Path(__file__).parents[2], set()
    waiting = [module]
    while waiting:
        file = package.joinpath(*waiting.pop().split(".")[1:]).with_suffix(".py")
        if file in found or not file.exists():
            continue
        found.add(file)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == package.name:
                waiting += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return found


def njit(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, with the result cached on disk."""
    return cached(function, OPTIONS)


def fused(function: Kernel) -> Kernel:
    """`njit` for networks: a product and a sum may be rounded once, so that last bits depend on the processor.

    "reassoc" would let the compiler sum in different orders.
    """
    return cached(function, {**OPTIONS, "fastmath": {"contract", "nsz"}})


def cached(function: Kernel, options: dict[str, Any]) -> Kernel:
    """Compile with Numba's options, the result cached on disk: in NUMBA_CACHE_DIR if it is set, or for this user.

    From Python it is a function; kernels that call it take it in as a `Part`.
    """
    settings = vars(numba.config)
    before = settings["CACHE_DIR"]
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sog"
    root = before or str(own)
    settings["CACHE_DIR"] = folder = _cache_folder(function.__module__, root)  # Numba reads it while it decorates
    try:
        return cast(Kernel, Entry(function, targetoptions=options, kept=_can_be_written(folder, root)))
    finally:
        settings["CACHE_DIR"] = before


@cache
def _can_be_written(folder: str, root: str) -> bool:
    """Whether the folder is there, or can be made; otherwise Numba would take a cache that outdates unseen, or none."""
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
    if os.access(folder, os.W_OK | os.X_OK):
        return True
    _warn(root)
    return False


@cache
def _warn(root: str) -> None:
    """Once a process."""
    warnings.warn(f"{root} cannot be written to: kernels are compiled anew", RuntimeWarning, stacklevel=2)


def inlined(function: Kernel) -> Kernel:
    """A kernel's helper, pasted into its callers by the compiler; Python cannot call it."""
    return cast(Kernel, Part(function, targetoptions={"forceinline": True, **OPTIONS}))

"""Numba's njit with the project's options, and a cache on disk that outdated kernels are never taken from."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import numba
from numba.core import event

from sog.files import cache_folder, others_may_write
from sog.searches.kernels import whole_numbers  # noqa: F401
from sog.searches.kernels.compiling import WATCH
from sog.searches.kernels.fallback import PLAIN

if PLAIN:
    from sog.searches.kernels.fallback import entry, part
else:
    from sog.searches.kernels.parts import entry, part

# Kernels take flattened tuples of arrays, which types cannot follow: to mypy they are plain callables.
Kernel = Callable[..., Any]

# No fastmath: a sum in another order, or a product and a sum rounded once (`contract`), would differ from processor to
# processor in the last bit, regret matching makes whole policies of last bits where actions tie, and a thousand
# iterations make different figures of them. With these options kernels give the same bits on every processor
# (tests/searches/test_targets.py); where order costs time, sums are written in registers, whose order is fixed.
# Without the runtime's reference counts (_nrt) kernels cannot allocate, and sweeps over small rows run three to four
# times faster.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}


_PACKAGE: Final = Path(__file__).parents[2]
# Python's own parser takes half a second for the files of all kernels, at the start of each command.
_FROM: Final = re.compile(rf"^ *from ({_PACKAGE.name}\b[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


@cache
def _cache_folder(module: str, root: str) -> str:
    """A folder in `root` named after a kernel module and the text of all that it imports of ours.

    Numba looks only at a kernel's own file to decide whether its cached code is valid, but kernels freeze
    the constants and helpers of others.
    """
    digest = hashlib.sha256(f"{numba.__version__} {PLAIN}".encode())
    for file in sorted(_sources(module)):
        digest.update(file.read_bytes())
    return str(Path(root) / f"numba-{module.rpartition('.')[2]}-{digest.hexdigest()[:16]}")


def _sources(module: str) -> set[Path]:
    """The module's file and those of the package's modules that it imports, and they import, and so on."""
    files: set[Path] = set()
    waiting = [module]
    while waiting:
        file = _PACKAGE.joinpath(*waiting.pop().split(".")[1:]).with_suffix(".py")
        if file not in files and file.exists():
            files.add(file)
            waiting += _imported(file)
    return files


@cache
def _imported(file: Path) -> tuple[str, ...]:
    """The modules of ours that a file may import; every kernel's file leads to the same few, so each is read once."""
    imports = _FROM.findall(file.read_text(encoding="utf-8"))
    return tuple(name for of, names in imports for name in (of, *(f"{of}.{x}" for x in re.findall(r"\w+", names))))


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

    Python calls the result as a function; kernels that call it take it in as a `KernelPart`.
    """
    settings = vars(numba.config)
    before = settings.get("CACHE_DIR")
    root = before or str(cache_folder() or "")
    settings["CACHE_DIR"] = folder = _cache_folder(function.__module__, root)  # Numba reads it while it decorates
    try:
        return cast(Kernel, entry(function, options, before is not None and _is_safe(folder, root)))
    finally:
        settings["CACHE_DIR"] = before


@cache
def _is_safe(folder: str, root: str) -> bool:
    """Whether the folder is there, or can be made, and only this user can have put code into it.

    Without one Numba would take a cache that outdates unseen, or none. What lies in a cache is run.
    """
    if not root:
        return _refused("no home folder is known (HOME, XDG_CACHE_HOME)")
    with suppress(OSError):
        os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        return _refused(f"{root} cannot be written to")
    for path in (root, folder):
        if others_may_write(path):
            return _refused(f"{path} is another user's, or others may write to it")
    return True


@cache
def _refused(why: str) -> bool:
    """False, with a warning once a process."""
    warnings.warn(f"{why}: kernels are compiled anew", RuntimeWarning, stacklevel=2)
    return False


def inlined(function: Kernel) -> Kernel:
    """A kernel's helper, pasted into its callers by the compiler; Python cannot call it."""
    return cast(Kernel, part(function, OPTIONS))


class _Listener(cast(Any, event).Listener):  # type: ignore[misc]
    """Calls WATCH when Numba begins and ends to compile."""

    def on_start(self, event: event.Event) -> None:
        WATCH.begin()

    def on_end(self, event: event.Event) -> None:
        WATCH.end()


cast(Any, event).register("numba:compile", _Listener())

"""Numba's njit with the project's options, and a cache on disk that a change of any kernel file empties."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

# Kernels take flattened tuples of arrays, which types cannot follow: to mypy they are plain callables.
Kernel = Callable[..., Any]

# Sums may be reassociated; NaN and infinity keep their meaning. Without the runtime's reference counts
# (_nrt) kernels cannot allocate, and sweeps over small rows run three to four times faster.
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "_nrt": False,
}


def _cache_folder() -> str:
    """A folder of this user's named after the text of all kernel files.

    Numba looks only at a kernel's own file to tell whether its cached code is still good, but kernels freeze
    the constants and helpers of others.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(root / "sog" / f"numba-{digest.hexdigest()[:16]}")


if not os.environ.get("NUMBA_CACHE_DIR"):
    vars(numba.config)["CACHE_DIR"] = _cache_folder()


def njit(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, with the result cached on disk."""
    compiled: Kernel = numba.njit(cache=True, **_OPTIONS)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """A kernel's helper, pasted into its callers by the compiler."""
    compiled: Kernel = numba.njit(forceinline=True, **_OPTIONS)(function)
    return compiled

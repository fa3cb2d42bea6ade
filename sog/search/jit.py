"""Numba's njit with the project's options and a type that mypy --strict accepts."""

from __future__ import annotations

from collections.abc import Callable
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


def njit(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, with the result cached on disk."""
    compiled: Kernel = numba.njit(cache=True, **_OPTIONS)(function)
    return compiled


def inlined(function: Kernel) -> Kernel:
    """A kernel's helper, pasted into its callers by the compiler."""
    compiled: Kernel = numba.njit(forceinline=True, **_OPTIONS)(function)
    return compiled

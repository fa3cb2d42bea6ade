"""Numba's njit with the project's options and a type that mypy --strict accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reassociated; NaN and infinity keep their meaning. Without the runtime's reference counts
# (_nrt) kernels cannot allocate, and sweeps over small rows run three to four times faster.
_OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "_nrt": False,
}


def njit(function: F) -> F:
    """Compile a kernel that allocates nothing, with the result cached on disk."""
    return cast(F, numba.njit(cache=True, **_OPTIONS)(function))


def inlined(function: F) -> F:
    """A kernel's helper, pasted into its callers by the compiler."""
    return cast(F, numba.njit(forceinline=True, **_OPTIONS)(function))

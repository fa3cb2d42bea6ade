"""How rules are compiled: for each file by itself, with the code cached on disk.

Numba looks at a kernel's own file to decide whether its cached code is still valid, so a kernel of rules calls only
kernels of its file and uses no constants but its file's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba

# Kernels' types are Numba's to find: to mypy they are plain callables.
Kernel = Callable[..., Any]


def kernel(function: Kernel) -> Kernel:
    """Compile rules; the same bits on every processor."""
    return _compiled(function, set())


def fused_kernel(function: Kernel) -> Kernel:
    """`kernel`, with a product rounded together with the sum it enters; the same bits on processors with FMA."""
    return _compiled(function, {"contract"})


def _compiled(function: Kernel, fastmath: set[str]) -> Kernel:
    try:
        return cast(Kernel, numba.njit(cache=True, error_model="numpy", fastmath=fastmath)(function))
    except RuntimeError:  # no folder for the cache can be written to, the file's own included
        return cast(Kernel, numba.njit(error_model="numpy", fastmath=fastmath)(function))

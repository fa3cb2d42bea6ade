"""Kernels whose arguments are of the same types in every call: the types are looked at in the first one only.

Numba looks at all arguments of every call, about a microsecond for each named tuple, to choose among a kernel's
compiled forms. A search's one call an iteration has many of them: this would be a third of a small game's time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba

from sog.searches.kernels.fallback import PLAIN
from sog.searches.kernels.jit import Kernel

_typeof = cast(Callable[[Any], Any], numba.typeof)
if PLAIN:
    _fingerprint = _typeof
else:
    from numba import _dispatcher

    # Numba's own caches go by these: equal fingerprints are of equal types, and are made 30 times as fast.
    _fingerprint = cast(Any, _dispatcher).compute_fingerprint


class SameTypes:
    """A kernel with one compiled form. The caller must pass the same types: they are not checked again.

    checked: whether every call is checked all the same, with a TypeError; tests set it.
    """

    checked = False

    def __init__(self, kernel: Kernel) -> None:
        dispatcher = cast(Any, kernel)
        self.kernel, self.py_func = kernel, cast(Callable[..., Any], dispatcher.py_func)
        self._types: tuple[Any, ...] = ()
        self._checked_types: set[tuple[Any, ...]] = set()
        self._compiled: Kernel | None = None

    def __call__(self, *arguments: object) -> Any:
        if self._compiled is None:
            self._compile(arguments)
        if self.checked:
            self._check(arguments)
        return cast(Kernel, self._compiled)(*arguments)

    def ready(self) -> Kernel:
        """Its compiled form, where there is one and calls are not checked: for loops, which are spared a call each."""
        return self if self._compiled is None or self.checked else self._compiled

    def _compile(self, arguments: tuple[object, ...]) -> None:
        self._types = tuple(map(_typeof, arguments))
        self._compiled = self.kernel if PLAIN else cast(Any, self.kernel).compile(self._types)

    def _check(self, arguments: tuple[object, ...]) -> None:
        fingerprint = tuple(map(_fingerprint, arguments))
        if fingerprint in self._checked_types:
            return
        types = tuple(map(_typeof, arguments))
        if types != self._types:
            raise TypeError(f"{self.py_func.__name__} was compiled for {self._types}, not {types}")
        self._checked_types.add(fingerprint)


def same_types(kernel: Kernel) -> SameTypes:
    """Have a kernel look at its arguments' types in its first call only."""
    return SameTypes(kernel)

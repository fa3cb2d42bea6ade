"""Numba's dispatchers for kernels: what Python calls is compiled whole, what kernels call only as part of one.

Left to itself, Numba compiles every callee on its own, machine code and wrappers for Python and all, before it links it
into its caller, and once more for each constant that is passed: two thirds of the time that compiling took.
Classes of Numba's insides are extended here; fallback.py lists what they must have, and is used where they have not.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeAlias, TypeVar

from numba.core import types
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.cpu import CPUContext
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.typing.context import BaseContext
from numba.core.typing.templates import Signature

from sog.locks import lock

T = TypeVar("T")  # of Numba's types, for which Numba has a variable too
# Numba's options by name, and types of local variables by name.
Options: TypeAlias = Mapping[str, Any]
# What a kernel is compiled for.
ArgumentTypes: TypeAlias = str | tuple[types.Type, ...] | Signature


class KernelPart(CPUDispatcher):
    """A function that only kernels call, compiled once for each set of argument types, constants aside."""

    def __init__(
        self, py_func: Callable[..., Any], locals: Options | None = None, targetoptions: Options | None = None
    ) -> None:
        options = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(py_func, dict(locals or {}), {**(targetoptions or {}), **options}, _PartCompiler)

    def __call__(self, *args: object) -> NoReturn:
        """TypeError: there is no code that Python could call."""
        raise TypeError(f"{self.py_func.__name__} can only be called by kernels")

    def get_call_template(self, args: Sequence[T], kws: Sequence[tuple[str, T]] | dict[str, T]) -> Any:
        """Numba's, with the types widened."""
        widened = {name: _widest(kind) for name, kind in dict(kws).items()}
        return super().get_call_template([_widest(kind) for kind in args], widened)


class KernelEntry(CPUDispatcher):
    """A kernel that Python calls; kernels that call it take in its `part` instead.  cached: its code is, on disk."""

    def __init__(
        self,
        py_func: Callable[..., Any],
        locals: Options | None = None,
        targetoptions: Options | None = None,
        cached: bool = True,
    ) -> None:
        options = {**(targetoptions or {}), "nopython": True, "no_cfunc_wrapper": True}
        super().__init__(py_func, dict(locals or {}), options)
        self.part = KernelPart(py_func, locals, targetoptions)
        if cached:
            self._cache = _Cache(py_func)

    def get_call_template(self, args: Sequence[T], kws: Sequence[tuple[str, T]] | dict[str, T]) -> Any:
        """The part's, for a kernel that calls this."""
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: ArgumentTypes) -> Any:
        """The part's, for a kernel that calls this."""
        return self.part.get_overload(sig)

    def compile(self, sig: ArgumentTypes) -> Any:
        """Code for these argument types, compiled or out of the cache."""
        known = len(self.overloads)
        with _no_collections():
            entry = super().compile(sig)
        if len(self.overloads) > known:  # the parts taken in have their addresses only now
            result = next(reversed(self.overloads.values()))
            for environment in result._find_referenced_environments():
                result.codegen.set_env(environment.env_name, environment)
        return entry


class _Cache(FunctionCache):
    """Numba's cache on disk, for processes that compile at the same time.

    Two that saved code for different argument types at once would give both files the same name.
    """

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Save compiled code while no other process saves any."""
        os.makedirs(self.cache_path, exist_ok=True)
        with open(os.path.join(self.cache_path, "lock"), "w") as file:
            with suppress(OSError):  # a system without locks
                lock(file.fileno(), wait=True)
            super().save_overload(sig, data)


class _PartLibrary(JITCodeLibrary):
    """A part's code as LLVM's text: neither optimised nor turned into machine code before it is in a kernel."""

    def finalize(self) -> None:
        """Take in what the part calls."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Null: the function has no address."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> _NoAddresses:
        """What Numba hands the function's environment to."""
        return _NoAddresses()


class _NoAddresses:
    def set_env(self, name: str, environment: Environment) -> None:
        """Nothing has an address yet; `KernelEntry.compile` sets the environments."""


class _PartCompiler(Compiler):
    """Numba's compiler, writing into a _PartLibrary."""

    def __init__(
        self, typing_context: BaseContext, target_context: CPUContext, library: JITCodeLibrary | None, *more: object
    ) -> None:
        codegen = target_context.codegen()
        super().__init__(typing_context, target_context, _PartLibrary(codegen, "part"), *more)


def _widest(kind: T) -> types.Type:
    """A constant's type, int64 for every signed integer: calls with 1, with 2 and with a table's entry share code."""
    plain: types.Type = types.unliteral(kind)
    return types.int64 if plain in types.signed_domain else plain


@contextmanager
def _no_collections() -> Iterator[None]:
    """Without Python's garbage collector, which costs a fifth of the time that Numba takes."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def entry(function: Callable[..., Any], options: Options, cached: bool) -> Any:
    """A kernel that Python calls, and other kernels too.  cached: its code is, in a cache on disk."""
    return KernelEntry(function, targetoptions=options, cached=cached)


def part(function: Callable[..., Any], options: Options) -> Any:
    """A kernel's helper, pasted into its callers; Python cannot call it."""
    return KernelPart(function, targetoptions={"forceinline": True, **options})

"""Two things that let compiled kernels run on several threads in step: a shared counter and a barrier.

Each thread runs the same kernel, compiled to release Python's lock; what they share stands in an int64 array.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from sog.arrays import Array, Int64
from sog.search.simd.jit import OPTIONS, cached, inlined
from sog.search.simd.registers import declared, instruction

F = TypeVar("F", bound=Callable[..., Any])

# Entries of the shared array, a cache line apart: the next task, threads that have arrived, barriers passed.
NEXT, ARRIVED, PASSED = 0, 8, 16

# How often a waiting thread looks before it offers its core to other processes: about a tenth of a millisecond.
# Where others compute too, whoever gives the core up at once waits for their whole time slice.
_LOOKS: Final = 2_000
# LLVM's name for the instruction that lets the other thread of a core go first for a moment.
_PAUSE: Final = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else ""

_sched_yield = types.ExternalFunction("sched_yield", types.int32())


def shared() -> Int64:
    """int64[24]: what the threads of one run share."""
    return np.zeros(24, dtype=np.int64)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@instruction
def fetch_add(typing_context: Any, array: Any, index: Any, amount: Any) -> Any:
    """array[index] as it was before `amount` was added, in one step that no other thread interrupts."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", at, args[2], "seq_cst")

    return types.int64(array, types.uint64, types.int64), code


@instruction
def write(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = value, seen by every thread in order."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        builder.atomic_rmw("xchg", at, args[2], "seq_cst")
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64), code


@instruction
def read(typing_context: Any, array: Any, index: Any) -> Any:
    """array[index] as some thread wrote it last; what that thread wrote before is seen too."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(at, "acquire", 8)

    return types.int64(array, types.uint64), code


@instruction
def pause(typing_context: Any) -> Any:
    """Wait for some dozens of cycles, where the processor has an instruction for it."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _PAUSE:
            builder.call(declared(builder, _PAUSE, ir.VoidType(), []), [])
        return context.get_dummy_value()

    return types.void(), code


@inlined
def wait_for_all(sync: Array, threads: int) -> None:
    """Return once every thread has come here: before that, nobody does."""
    if threads > 1:
        turn = read(sync, np.uint64(PASSED))
        if fetch_add(sync, np.uint64(ARRIVED), 1) == threads - 1:
            write(sync, np.uint64(ARRIVED), 0)
            fetch_add(sync, np.uint64(PASSED), 1)
        else:
            looks = 0
            while read(sync, np.uint64(PASSED)) == turn:
                looks += 1
                if looks < _LOOKS:
                    pause()
                else:
                    _sched_yield()


def released(function: F) -> F:
    """Compile a kernel that other Python threads may run beside; it allocates nothing."""
    return cast(F, cached(function, {**OPTIONS, "nogil": True}))

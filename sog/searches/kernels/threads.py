"""A shared counter and a barrier, with which compiled kernels work on several threads in step.

Each thread runs the same kernel, which does not hold Python's lock; what the threads share is an int64 array.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

import numpy as np
from numba import types

from sog.arrays import Array, Int64
from sog.searches.kernels.compiler_types import Builder, Context, Instruction, Signature, TypingContext, Value, ir
from sog.searches.kernels.jit import OPTIONS, cached, inlined
from sog.searches.kernels.registers import address, declared, instruction

__all__ = ["NEXT", "fetch_add", "pause", "read", "released", "shared", "wait_for_all", "write"]

F = TypeVar("F", bound=Callable[..., Any])

# Entries of the shared array, a cache line apart.
NEXT: Final = 0  # the next task
_ARRIVED: Final = 8  # threads that wait at the barrier
_PASSED: Final = 16  # how often all threads have passed it
_ENTRIES: Final = 24

# How often a waiting thread reads before it offers its core to other processes: about a tenth of a millisecond.
# On a busy machine, a thread that gives its core up at once does not get it back for a whole time slice.
_READS: Final = 2_000
# LLVM's name for the instruction that briefly gives the other hardware thread of a core priority.
_PAUSE: Final = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else ""

_sched_yield = types.ExternalFunction("sched_yield", types.int32())


def shared() -> Int64:
    """int64[24]: what the threads of one run share."""
    return np.zeros(_ENTRIES, dtype=np.int64)


@instruction
def fetch_add(
    typing_context: TypingContext, array: types.Array, index: types.Integer, amount: types.Integer
) -> Instruction:
    """Add `amount` to array[index], atomically; returns what it was before."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = address(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw("add", at, args[2], "seq_cst")

    return types.int64(array, types.uint64, types.int64), code


@instruction
def write(typing_context: TypingContext, array: types.Array, index: types.Integer, value: types.Integer) -> Instruction:
    """array[index] = value, atomically; every thread sees such writes in the same order."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = address(context, builder, signature.args[0], args[0], args[1])
        builder.atomic_rmw("xchg", at, args[2], "seq_cst")
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.int64), code


@instruction
def read(typing_context: TypingContext, array: types.Array, index: types.Integer) -> Instruction:
    """array[index], atomically; all that the thread that wrote it had written before is then visible too."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        at = address(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(at, "acquire", 8)

    return types.int64(array, types.uint64), code


@instruction
def pause(typing_context: TypingContext) -> Instruction:
    """Wait for some dozens of cycles, where the processor has an instruction for it."""

    def code(context: Context, builder: Builder, signature: Signature, args: Sequence[Value]) -> Value:
        if _PAUSE:
            builder.call(declared(builder, _PAUSE, ir.VoidType(), []), [])
        return context.get_dummy_value()

    return types.void(), code


@inlined
def wait_for_all(sync: Array, threads: int) -> None:
    """Return once all `threads` have called this: none continues before that."""
    if threads > 1:
        # Before arriving: the last to arrive may open the barrier at once.
        passed = read(sync, np.uint64(_PASSED))
        if fetch_add(sync, np.uint64(_ARRIVED), 1) == threads - 1:
            # The last one empties the barrier for its next use, then opens it.
            write(sync, np.uint64(_ARRIVED), 0)
            fetch_add(sync, np.uint64(_PASSED), 1)
        else:
            reads = 0
            while read(sync, np.uint64(_PASSED)) == passed:
                reads += 1
                if reads < _READS:
                    pause()
                else:
                    _sched_yield()


def released(function: F) -> F:
    """Compile a kernel that allocates nothing and releases Python's lock while it runs."""
    return cast(F, cached(function, {**OPTIONS, "nogil": True}))

"""What lets compiled kernels share tasks between threads: a counter of tasks taken and one of tasks done.

Each thread runs the same kernel, compiled to release Python's lock; the counters stand in an int64 array. Tasks are
numbered and taken in order; one that needs others waits until enough are done, and while it waits it belongs to
nobody, so that a thread without a core holds the others up only by a task in its hands.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from sog.arrays import Array, Int64
from sog.search.jit import OPTIONS, cached, inlined
from sog.search.lanes import declared, instruction

F = TypeVar("F", bound=Callable[..., Any])

# Entries of the shared array, a cache line apart: the next task, and how many are done.
NEXT, DONE = 0, 8

# How often a waiting thread looks before it offers its core to other processes: about a tenth of a millisecond.
# Where others compute too, whoever gives the core up at once waits for their whole time slice.
_LOOKS: Final = 2_000
# LLVM's name for the instruction that lets the other thread of a core go first for a moment.
_PAUSE: Final = "llvm.x86.sse2.pause" if platform.machine() in ("x86_64", "AMD64") else ""

_sched_yield = types.ExternalFunction("sched_yield", types.int32())


def shared() -> Int64:
    """int64[16]: what the threads of one run share."""
    return np.zeros(16, dtype=np.int64)


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
def _exchange(typing_context: Any, array: Any, index: Any, old: Any, new: Any) -> Any:
    """array[index] = new if it is `old`, in one step that no other thread interrupts; whether it was."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        pair = builder.cmpxchg(at, args[2], args[3], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.uint64, types.int64, types.int64), code


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
def take(sync: Array, task: int, needs: int) -> bool:
    """Take the next task, `task`, once `needs` tasks are done; False where another thread was faster."""
    looks = 0
    while read(sync, np.uint64(DONE)) < needs:
        if read(sync, np.uint64(NEXT)) != task:
            return False
        looks += 1
        if looks < _LOOKS:
            pause()
        else:
            _sched_yield()
    return bool(_exchange(sync, np.uint64(NEXT), task, task + 1))


@inlined
def finish(sync: Array) -> None:
    """Say that a task is done."""
    fetch_add(sync, np.uint64(DONE), 1)


def released(function: F) -> F:
    """Compile a kernel that other Python threads may run beside; it allocates nothing."""
    return cast(F, cached(function, {**OPTIONS, "nogil": True}))

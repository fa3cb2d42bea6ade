"""Names of the compilers' types, with which the code that makes instructions says what its arguments are.

llvmlite has no type information: to a type checker `Builder`, `Value` and `LlvmType` are Any; they are there for the
reader. Numba has types for its types and signatures, but for few methods of its contexts: what is called of those is
listed here, as protocols. `ir` is imported from here, so that the lack of stubs is said in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from llvmlite import ir  # type: ignore[import-untyped]  # it has no stubs, in itself or in typeshed
from numba import types
from numba.core.typing.context import BaseContext as TypingContext
from numba.core.typing.templates import Signature

__all__ = [
    "ArrayStruct",
    "Builder",
    "Code",
    "Context",
    "Instruction",
    "LlvmType",
    "Signature",
    "TypingContext",
    "Value",
    "ir",
]

Builder: TypeAlias = ir.IRBuilder  # writes LLVM's instructions, one after another
Value: TypeAlias = ir.Value  # what an instruction makes or takes: a number, a register, an address, a constant
LlvmType: TypeAlias = ir.Type


class ArrayStruct(Protocol):
    """An array as compiled code has it."""

    @property
    def data(self) -> Value:
        """The address of its first number."""

    @property
    def shape(self) -> Value:
        """How long it is along each of its axes."""


class Context(Protocol):
    """What is used of Numba's target context (numba.core.base.BaseContext)."""

    def make_array(self, kind: types.Array) -> Callable[[Context, Builder, Value], ArrayStruct]:
        """What takes an array of this type apart."""

    def get_dummy_value(self) -> Value:
        """What code that answers nothing answers."""

    def get_constant(self, kind: types.Type, number: float) -> Value:
        """A number of this type."""


# The arguments have the types that the signature says.
Code: TypeAlias = Callable[[Context, Builder, Signature, Sequence[Value]], Value]
# What Numba asks of an intrinsic for given types of arguments: the signature that it is compiled for, and its code.
Instruction: TypeAlias = tuple[Signature, Code]

"""How kernels type whole numbers: importing this file teaches it to Numba, which jit.py does.

Members of IntEnum and IntFlag classes are the int64 that they are: Numba by itself has a type for each such class,
which has no bit masks. A signed number and an unsigned one of 64 bits make a signed one: Numba, like NumPy, would
make a float of them for the sake of numbers above 2**63, which no table has.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import types
from numba.core.typeconv.castgraph import Conversion
from numba.core.typeconv.rules import default_type_manager
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model, typeof_impl

from sog.searches.kernels.compiler_types import Builder, Context, Value

__all__: list[str] = []

F = TypeVar("F", bound=Callable[..., Any])

cast(Any, default_type_manager).set_compatible(types.uint64, types.int64, Conversion.safe)

# Numba's ways to register, which have no types.
_typed: Callable[[type], Callable[[F], F]] = cast(Any, typeof_impl).register
_lowered: Callable[[type], Callable[[F], F]] = cast(Any, lower_getattr_generic)

_of_other_class = cast(Any, typeof_impl).dispatch(enum.EnumMeta)


class _Members(types.Opaque):
    """The Numba type of a class of whole numbers; its attributes are the members."""

    def __init__(self, members: type[enum.Enum]) -> None:
        cast(Any, super()).__init__(f"{members.__module__}.{members.__name__}")
        self.members = members


register_model(_Members)(models.OpaqueModel)


@_typed(enum.EnumMeta)
def _of_class(value: type[enum.Enum], context: object) -> types.Type | None:
    """The type of an enumeration that a kernel names."""
    return _Members(value) if issubclass(value, (enum.IntEnum, enum.IntFlag)) else _of_other_class(value, context)


@_typed(enum.IntEnum)
@_typed(enum.IntFlag)
def _of_member(value: enum.IntEnum | enum.IntFlag, context: object) -> types.Type:
    """The type of a member that Python hands to a kernel."""
    return types.int64


@infer_getattr
class _MemberTypes(AttributeTemplate):
    key = _Members

    def generic_resolve(self, value: _Members, name: str) -> types.Type | None:  # type: ignore[override]
        """The type of a member that a kernel names."""
        return types.int64 if name in value.members.__members__ else None


@_lowered(_Members)
def _member(context: Context, builder: Builder, kind: _Members, value: Value, name: str) -> Value:
    return context.get_constant(types.int64, int(kind.members[name].value))

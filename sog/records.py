"""Tables of records: arrays whose rows have named, typed fields, for Python, for kernels and for type checkers.

A record is a class with a field a line; its table is an array of such rows. `table[n].field` is one row's number, as
kernels read and write it; `table.field` is the column of all rows, which is what Python should read, for it is faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar, overload

import numpy as np

from sog.arrays import Array

__all__ = ["Flag", "Pair", "Real", "Record", "Records", "Two", "Whole"]


class _Field:
    """A field of a record.  code: NumPy's name of its type.  shape: () for one number, (2,) for one of each player."""

    shape: tuple[int, ...] = ()

    def __init__(self, code: str) -> None:
        self.code, self.name = code, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    if not TYPE_CHECKING:  # the types are below, field by field

        def __get__(self, table, owner):
            """A table's column, as a plain array. A whole table keeps it, and answers with it from then on."""
            column = table.view(np.ndarray)[self.name]
            # A column holds the array whose memory it is in. Of a part or a copy of a table that is the part itself:
            # the two would hold each other for ever, since the garbage collector does not see what an array holds.
            if type(table.base) is np.ndarray:
                table.__dict__[self.name] = column
            return column


class Whole(_Field):
    """A whole number."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, at: Records[Any], owner: type) -> Array: ...
        @overload
        def __get__(self, at: Record, owner: type) -> int: ...
        def __get__(self, at: Any, owner: type) -> Any: ...
        def __set__(self, at: Record, value: int) -> None: ...


class Flag(_Field):
    """True or False."""

    def __init__(self) -> None:
        super().__init__("?")

    if TYPE_CHECKING:

        @overload
        def __get__(self, at: Records[Any], owner: type) -> Array: ...
        @overload
        def __get__(self, at: Record, owner: type) -> bool: ...
        def __get__(self, at: Any, owner: type) -> Any: ...
        def __set__(self, at: Record, value: bool) -> None: ...


class Real(_Field):
    """A floating-point number."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, at: Records[Any], owner: type) -> Array: ...
        @overload
        def __get__(self, at: Record, owner: type) -> float: ...
        def __get__(self, at: Any, owner: type) -> Any: ...
        def __set__(self, at: Record, value: float) -> None: ...


class Two(Protocol):
    """A row's pair to type checkers; it is an array."""

    def __getitem__(self, p: int) -> int: ...
    def __setitem__(self, p: int, value: int) -> None: ...


class Pair(_Field):
    """A whole number of each player: [2] of a row, [N, 2] of a table."""

    shape = (2,)

    if TYPE_CHECKING:

        @overload
        def __get__(self, at: Records[Any], owner: type) -> Array: ...
        @overload
        def __get__(self, at: Record, owner: type) -> Two: ...
        def __get__(self, at: Any, owner: type) -> Any: ...


class Record:
    """A row of a table. Its class names the fields; at run time rows are NumPy's records, with the same names."""


R = TypeVar("R", bound=Record)


class Records(np.ndarray[Any, np.dtype[np.void]], Generic[R]):
    """A table of records R. A subclass inherits from this and from R: `class Nodes(Records[Node], Node)`."""

    layout: np.dtype[np.void]  # of a row

    def __init_subclass__(cls) -> None:
        fields = [value for base in cls.__mro__ for value in vars(base).values() if isinstance(value, _Field)]
        taken = [field.name for field in fields if hasattr(Records, field.name)]
        assert not taken, f"an array has other uses for the names {taken}"
        plain = np.dtype([(field.name, field.code, field.shape) for field in fields], align=True)
        cls.layout = np.dtype((np.record, plain))

    @classmethod
    def zeros(cls, count: int) -> Self:
        """This many rows of zeros."""
        return np.zeros(count, dtype=cls.layout).view(cls)

    if not TYPE_CHECKING:

        def __setattr__(self, name, value):
            """A field's column is written, not put away."""
            if name in self.layout.names:
                getattr(self, name)[...] = value
            else:
                super().__setattr__(name, value)

    if TYPE_CHECKING:

        @overload  # type: ignore[override]
        def __getitem__(self, at: int | np.integer[Any]) -> R: ...
        @overload
        def __getitem__(self, at: slice | Array) -> Self: ...
        def __getitem__(self, at: Any) -> Any: ...

"""Any setting of a training run by its name: which there are, what they mean, and settings with some of them changed.

A training run's settings are frozen dataclasses inside frozen dataclasses. A setting is a number, a word or a truth
value in one of them; its name is the field's. Where two of them are of the same class, a setting is changed in both:
`c_puct` is that of self-play's searches and of the queries' searches.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

import numpy as np

from sog.errors import SettingError
from sog.games.strings import Parameter
from sog.nets.shape import NetworkShape
from sog.searches.cfr.rules import RULES, Rule
from sog.searches.depth_limited.settings import SOLVERS, Solver

__all__ = ["Setting", "all_settings", "changed", "coerced", "described", "kind_of", "value_of"]

# What a word in an algorithm string means, by the type of the field that it is given to.
_NAMED: Final[Mapping[type, Mapping[str, Any]]] = {
    Rule: {rule.name: rule for rule in RULES},
    Solver: {solver.name: solver for solver in SOLVERS},
}
# Not set by name: the network's sizes are the game's, its hidden layers are the setting `network`.
_LEFT_OUT: Final = (NetworkShape,)
# Fields that a string does not reach: which game it is, and the values by which halving compares (those of policy
# targets have the same names, and are what a string sets).
_UNNAMED: Final = ("game", "sigma")

# In a docstring, `name: what it is.` or `name, other: what they are.` at the beginning of a line or after two spaces.
_ENTRY: Final = re.compile(r"(?:^|  |\n) *((?:[a-z_][a-z_0-9]*)(?:, [a-z_][a-z_0-9]*)*): ")


@dataclass(frozen=True)
class Setting:
    """A setting of training.

    kind: its type.  owner: the class that has it.  text: what it is, in the words of that class's docstring.
    """

    name: str
    kind: Any
    owner: type
    text: str


def all_settings(kinds: Iterable[type]) -> dict[str, Setting]:
    """Every setting of these dataclasses and of those inside them, by name.

    Ways of acting that are never together, such as on boards and elsewhere, may have a name in common: the first's
    words count.
    """
    settings: dict[str, Setting] = {}
    waiting, seen = list(kinds), set()
    while waiting:
        owner = waiting.pop(0)
        if owner in seen:
            continue
        seen.add(owner)
        texts = described(owner)
        for name, hint in _fields(owner):
            # Dataclasses inside are asked too, breadth first; a name is the outermost's.
            for kind in _parts(hint):
                if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind not in _NAMED:
                    waiting.append(kind)
                elif _is_value(kind):
                    settings.setdefault(name, Setting(name, kind, owner, texts.get(name, "")))
    return settings


def described(owner: type) -> dict[str, str]:
    """What a class's docstring says of its fields, by name; fields that are explained together share the words."""
    text = owner.__doc__ or ""
    matches = list(_ENTRY.finditer(text))
    # A field's words end where the next entry begins.
    ends = [match.start() for match in matches[1:]] + [len(text)]
    known = {field.name for field in dataclasses.fields(owner)}
    descriptions: dict[str, str] = {}
    for match, end in zip(matches, ends, strict=False):
        words = " ".join(text[match.end() : end].split()).rstrip(".;")
        descriptions |= {name: words for name in match[1].split(", ") if name in known}
    return descriptions


def changed(settings: Any, changes: Mapping[str, Parameter]) -> Any:
    """The settings with these values, wherever in them a field has the name.

    Raises SettingError for a value of another kind or out of range, and for a name that they have no field of;
    ValueError where fields of two classes have the name, which would be a fault of ours.
    """
    owners: dict[str, set[type]] = {name: set() for name in changes}
    settings = _with(settings, changes, owners)
    for name, classes in owners.items():
        if not classes:
            raise SettingError(f"{name} does not apply to this game with this preset")
        if len(classes) > 1:
            raise ValueError(f"{name} is a setting of {' and '.join(sorted(owner.__name__ for owner in classes))}")
    return settings


def _with(settings: Any, changes: Mapping[str, Parameter], owners: dict[str, set[type]]) -> Any:
    """The settings with all changes at once, since some are only valid together.

    owners: by name, the classes whose field was changed; filled here.
    """
    new: dict[str, Any] = {}
    for field, hint in _fields(type(settings)):
        old = getattr(settings, field)
        if dataclasses.is_dataclass(old) and type(old) not in _NAMED:
            inside = _with(old, changes, owners)
            if inside is not old:
                new[field] = inside
        elif field in changes:
            kind = next((kind for kind in _parts(hint) if _is_value(kind)), None)
            if kind is not None:
                new[field] = coerced(field, changes[field], kind)
                owners[field].add(type(settings))
    return dataclasses.replace(settings, **new) if new else settings


def coerced(name: str, value: Parameter, kind: Any) -> Any:
    """The value as the kind of a setting; SettingError where it cannot be one."""
    if isinstance(value, np.generic):
        value = value.item()
    if kind in _NAMED:
        known = _NAMED[kind]
        if value not in known:
            raise SettingError(f"{name} is one of {', '.join(known)}, not {value}")
        return known[str(value)]
    if get_origin(kind) is tuple:
        return _numbers(name, value, len(get_args(kind)))
    if kind is float and not isinstance(value, bool):
        if isinstance(value, int | float) or value == "inf":
            return float(value)
        raise SettingError(f"{name} is a number, not {value}")
    if type(value) is not kind:
        raise SettingError(f"{name} is {_WORDS[kind]}, not {value}")
    return value


_WORDS: Final[Mapping[type, str]] = {int: "a whole number", float: "a number", bool: "True or False", str: "a word"}


def _numbers(name: str, value: Parameter, count: int) -> tuple[float, ...]:
    """A list of numbers such as [0;0.999]."""
    parts = str(value).removeprefix("[").removesuffix("]").split(";")
    try:
        numbers = tuple(float(part) for part in parts)
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        raise SettingError(f"{name} is a list of {count} numbers such as [0;0.999], not {value}")
    return numbers


def value_of(settings: Any, name: str) -> Any:
    """The value of a setting as an algorithm string would give it; None where these settings have none of the name."""
    for field, hint in _fields(type(settings)):
        value = getattr(settings, field)
        if dataclasses.is_dataclass(value) and type(value) not in _NAMED:
            inside = value_of(value, name)
            if inside is not None:
                return inside
        elif field == name and any(_is_value(kind) for kind in _parts(hint)):
            return value.name if type(value) in _NAMED else value
    return None


def kind_of(kind: Any) -> str:
    """A setting's type in a word."""
    if kind in _NAMED:
        return " or ".join(_NAMED[kind])
    return {int: "int", float: "float", bool: "bool", str: "str"}.get(kind, "list")


def _fields(owner: type) -> list[tuple[str, Any]]:
    """(name, type) of the fields that may be settings."""
    hints = get_type_hints(owner)
    names = [field.name for field in dataclasses.fields(owner) if field.name not in _UNNAMED]
    return [(name, hints[name]) for name in names if hints[name] not in _LEFT_OUT]


def _parts(hint: Any) -> tuple[Any, ...]:
    """The types that a field may be of, None aside."""
    if isinstance(hint, types.UnionType) or get_origin(hint) is Union:
        return tuple(part for part in get_args(hint) if part is not type(None))
    return (hint,)


def _is_value(kind: Any) -> bool:
    return kind in _WORDS or kind in _NAMED or (get_origin(kind) is tuple and set(get_args(kind)) == {float})

"""The limits of the house: no circles between files, few lazy imports, names that mean one thing, sizes, wording."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from soglab.checks.house import TICS, House, Source, read_house

ROOT = Path(__file__).parents[1]
HOUSE = read_house(ROOT)


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports inside functions included: they would only hide it."""
    assert HOUSE.circles() == []


def test_imports_inside_functions_are_few() -> None:
    """Outside the command line and the front door, where they save time at the start."""
    lazy = [f"{each.importer}:{each.line}" for each in HOUSE.lazy_imports()]
    assert len(lazy) <= 20, lazy


def test_the_library_imports_no_laboratory() -> None:
    own = [each for each in HOUSE.imports if each.importer.startswith("sog.")]
    assert own and not [each for each in own if each.imported.startswith("soglab")]


def test_a_class_name_means_one_thing() -> None:
    assert not HOUSE.class_names()


# A key of JSON that people read, or a name that Numba or llvmlite gave.
GIVEN_NAMES = {"soglab/bench/pimbot.py", "soglab/study.py", "sog/searches/kernels/compiler_types.py"}
GIVEN_NAMES |= {"sog/searches/kernels/parts.py"}


def test_names_say_what_they_hold() -> None:
    assert {entry.partition(":")[0] for entry in HOUSE.vague_names()} == GIVEN_NAMES


def house_of(**files: str) -> House:
    """A house of files, given by their text."""
    return House({name: Source(f"sog/{name}.py", name, text, ast.parse(text)) for name, text in files.items()})


@pytest.mark.parametrize("text", ["import b\n", "def f():\n    import b\n", "from b import x\n"])
def test_a_circle_is_found(text: str) -> None:
    assert house_of(a=text, b="from a import y\n", c="import a\n").circles() == [["a", "b"]]
    assert house_of(a=text, b="x = 1\n", c="import a\n").circles() == []


def test_imports_for_type_checkers_make_no_circle() -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\n"
    assert house_of(a=text, b="import a\n").circles() == []


def test_class_names_that_are_used_twice_are_found() -> None:
    house = house_of(a="class Row: ...\n", b="class Row: ...\nclass Other: ...\n")
    assert list(house.class_names()) == ["Row"]


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "for _kept in x: ...",
        "MOST_KEPT = 1",
        "def f(what): ...",
        "def told(): ...",
        "a.info = 1",
        "class MoveFound: ...",
    ],
)
def test_vague_names_are_found(text: str) -> None:
    assert len(house_of(a=text + "\n").vague_names()) == 1
    assert not house_of(a="founded = a.found(info)\nclass Knowhow: ...\n").vague_names()


def test_phrases_of_our_own_are_counted() -> None:
    text = '"""So many words; it knows no end, goes on, and a number where it is none."""\n'
    house = house_of(a=text.replace("So", "so"))
    assert sum(house.count(pattern) for pattern in TICS) == 4


def test_every_slow_test_is_there() -> None:
    """A name that matches nothing would leave a slow test among the quick ones."""
    from tests.conftest import SLOW

    for path, names in SLOW.items():
        text = (ROOT / path).read_text()
        assert not [name for name in names if f"def {name.partition('[')[0]}" not in text], path


def test_the_house_keeps_its_limits() -> None:
    assert len(HOUSE.class_names()) <= 5
    assert HOUSE.count(r"\bf\.[A-Z][A-Z_0-9]*\b", "sog/searches/") == 0  # columns of integers by number
    assert {pattern: HOUSE.count(pattern) for pattern in TICS if HOUSE.count(pattern)} == {}
    assert not [path for path, lines in HOUSE.odd_sizes() if lines > 600]

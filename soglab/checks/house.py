"""Measures how readable the code is: sizes, circles between files, lazy imports, class names, comments, wording.

Run from a checkout: `python -m soglab.checks.house`, with `--json` for machines; `--repo` measures another checkout.
It reads the source as text, and imports nothing of it. tests/test_house.py keeps the limits.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from scipy.sparse.csgraph import connected_components

__all__ = ["House", "read_house"]

PACKAGES: Final = ("sog", "soglab")
SHORTEST, LONGEST = 60, 600  # lines that a file should have
# Phrases of a private dialect that a stranger stumbles over; each is to be said plainly.
TICS: Final = (
    r"so\s(?:many|much)\b",
    r"\b(?:it|they|what)\s(?:is|are)\snone\b",
    r"\bknows?\s(?:no|none|nothing|arrays)\b",
    r"\bcomes? to nothing\b",
    r"\bstands? (?:beside|in)\b",
    r"\bgo(?:es|ing)?\son\b",
    r"\b(?:is|are) told\b",
)
# Words that say nothing of what a name holds.
VAGUE: Final = frozenset({"found", "kept", "what", "how", "which", "told", "said", "thing", "things", "data", "info"})
_WORD_END: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Where an import inside a function is allowed: start-up time of commands, and of `import sog`.
LAZY_ALLOWED: Final = re.compile(r"^(?:sog/cli/|sog/__main__|sog/__init__|sog/api|soglab/cli/)")


@dataclass(frozen=True)
class Import:
    """One import of a module of ours: from file to file, with its line, and whether it is inside a function."""

    importer: str
    imported: str
    line: int
    lazy: bool


@dataclass(frozen=True)
class Source:
    """A file as text and as a syntax tree; `name` is its dotted module name."""

    path: str
    name: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@dataclass(frozen=True)
class House:
    """Every source file of a checkout's packages, by module name."""

    sources: Mapping[str, Source]

    @cached_property
    def imports(self) -> list[Import]:
        """All imports between files of ours, except those for type checkers only."""
        return [statement for source in self.sources.values() for statement in _imports_of(source, self.sources)]

    def circles(self) -> list[list[str]]:
        """Groups of files that import each other, lazy imports included."""
        graph: dict[str, set[str]] = {name: set() for name in self.sources}
        for each in self.imports:
            graph[each.importer].add(each.imported)
        return sorted(sorted(group) for group in _components(graph) if len(group) > 1)

    def lazy_imports(self) -> list[Import]:
        """Imports of ours inside functions, outside the places that LAZY_ALLOWED names."""
        return [x for x in self.imports if x.lazy and not LAZY_ALLOWED.match(self.sources[x.importer].path)]

    def class_names(self) -> dict[str, list[str]]:
        """Class names that are defined in more than one file, with those files."""
        files: dict[str, list[str]] = {}
        for source in self.sources.values():
            for name in {node.name for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)}:
                files.setdefault(name, []).append(source.path)
        return {name: sorted(paths) for name, paths in sorted(files.items()) if len(paths) > 1}

    def vague_names(self) -> list[str]:
        """Variables, parameters, attributes, functions and classes with a vague word in the name, as file:line name."""
        return [
            f"{source.path}:{line} {name}"
            for source in self.sources.values()
            for line, name in _defined(source.tree)
            if VAGUE & set(_WORD_END.sub("_", name).lower().split("_"))
        ]

    def rooms(self, package: str) -> dict[str, tuple[int, int]]:
        """(files, lines) by folder directly below a package; "." for its own files."""
        sizes: dict[str, tuple[int, int]] = {}
        for source in self.sources.values():
            parts = Path(source.path).parts
            if parts[0] == package:
                room = parts[1] if len(parts) > 2 else "."
                files, lines = sizes.get(room, (0, 0))
                sizes[room] = files + 1, lines + source.lines
        return dict(sorted(sizes.items()))

    def odd_sizes(self) -> list[tuple[str, int]]:
        """Files shorter or longer than a file should be, packages' own `__init__` aside."""
        sized = ((s.path, s.lines) for s in self.sources.values() if not s.path.endswith("__init__.py"))
        return sorted((path, lines) for path, lines in sized if not SHORTEST <= lines <= LONGEST)

    def count(self, pattern: str, room: str = "") -> int:
        """How often a regular expression matches in the files below a folder."""
        expression = re.compile(pattern)
        return sum(len(expression.findall(s.text)) for s in self.sources.values() if s.path.startswith(room))

    def comment_share(self, package: str = "sog") -> float:
        """Lines that are a comment alone, as a share of all lines."""
        texts = [
            line for s in self.sources.values() if s.path.startswith(package + "/") for line in s.text.splitlines()
        ]
        return sum(line.lstrip().startswith("#") for line in texts) / max(1, len(texts))


def read_house(repo: Path) -> House:
    """Every Python file of the packages in a checkout."""
    sources: dict[str, Source] = {}
    for package in PACKAGES:
        for file in sorted((repo / package).rglob("*.py")):
            relative = file.relative_to(repo)
            parts = relative.with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = file.read_text(encoding="utf-8")
            sources[name] = Source(relative.as_posix(), name, text, ast.parse(text))
    return House(sources)


def _imports_of(source: Source, known: Mapping[str, Source]) -> Iterator[Import]:
    """A file's imports of files of ours; a name imported from a folder is that folder's file where there is one."""
    for node, lazy in _import_nodes(source.tree, False):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            base = node.module or ""
            modules = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names]
        for module in sorted(set(modules)):
            if module in known and module != source.name:
                yield Import(source.name, module, node.lineno, lazy)


def _import_nodes(node: ast.AST, lazy: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, lazy
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _import_nodes(child, lazy or inside)


def _defined(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything that a file gives a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def _components(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Strongly connected components."""
    names = list(graph)
    edges = np.array([[child in graph[name] for child in names] for name in names], dtype=bool).reshape(-1, len(names))
    count, labels = connected_components(edges, directed=True, connection="strong")
    return [[name for name, label in zip(names, labels, strict=True) if label == group] for group in range(count)]


def measured(house: House) -> dict[str, object]:
    """Every figure of the check, by name."""
    rooms = {package: house.rooms(package) for package in PACKAGES}
    odd = house.odd_sizes()
    return {
        "lines": {package: sum(lines for _, lines in sizes.values()) for package, sizes in rooms.items()},
        "files": {package: sum(files for files, _ in sizes.values()) for package, sizes in rooms.items()},
        "rooms": rooms,
        "files_below_60_lines": sum(lines < SHORTEST for _, lines in odd),
        "files_above_600_lines": sum(lines > LONGEST for _, lines in odd),
        "circles": house.circles(),
        "lazy_imports": len(house.lazy_imports()),
        "lazy_by_room": Counter("/".join(house.sources[x.importer].path.split("/")[:2]) for x in house.lazy_imports()),
        "class_names_twice": house.class_names(),
        "vague_names": [[entry] for entry in house.vague_names()],
        "comment_percent": round(100 * house.comment_share(), 2),
        "tics": {pattern: house.count(pattern) for pattern in TICS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repo", type=Path, default=Path(), help="the checkout to measure; default: this folder")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    figures = measured(read_house(options.repo))
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        if isinstance(value, Mapping):
            print(f"{name}: {len(value)}" if name == "class_names_twice" else f"{name}:")
            for key, entry in value.items():
                print(f"    {key:24} {entry}")
        elif isinstance(value, list):
            print(f"{name}: {len(value)}")
            for group in value:
                print(f"    {', '.join(group)}")
        else:
            print(f"{name}: {value}")


if __name__ == "__main__":
    main()

"""The house rules that a program can check: how many parameters, which names cross modules, how long modules are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
MODULES = sorted(module for package in ("sog", "soglab") for module in (PACKAGE / package).rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def parameters(function: Function) -> list[ast.arg]:
    """A function's parameters, `self` and `cls` aside."""
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return [parameter for parameter in every if parameter.arg not in ("self", "cls")]


def functions(module: Path) -> Iterator[Function]:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, Function):
            yield node


_OPTIONS = (  # of several commands
    "AlgorithmOption",
    "JsonOption",
    "ClusterOption",
    "LimitOption",
    "HistoriesOption",
    "PaperOption",
    "UpdatesOption",
    "GamesArgument",
    "AgentArgument",
    "HandsOption",
    "RecordsOption",
    "YesOption",
    "GameOption",
    "SimulationsOption",
    "PerUpdateOption",
)


def is_command(module: Path, function: Function) -> bool:
    """Whether it is a command of the command line: each of its options is a parameter."""
    annotations = [ast.unparse(p.annotation) for p in parameters(function) if p.annotation is not None]
    return module.parent.name == "cli" and all(a.startswith("Annotated[") or a in _OPTIONS for a in annotations)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_functions_take_eight_parameters_at_most(module: Path) -> None:
    """Commands aside, whose options they are; kernels too, whose arrays come in named tuples."""
    wide = [f.name for f in functions(module) if len(parameters(f)) > 8 and not is_command(module, f)]
    assert not wide


def test_nothing_takes_any_keyword() -> None:
    """Except what replaces another program's function, ONNX's attributes of an operation, and settings by name."""
    loose = {
        str(module.relative_to(PACKAGE)) for module in MODULES for f in functions(module) if f.args.kwarg is not None
    }
    assert loose <= {"soglab/bench/stopwatch.py", "soglab/bench/onnx_models.py", "sog/algorithms/base.py"}


def test_no_module_is_longer_than_a_sitting() -> None:
    assert not {str(m.relative_to(PACKAGE)): n for m in MODULES if (n := m.read_text().count("\n")) > 400}


def test_no_code_is_kept_from_the_formatter() -> None:
    assert not [str(module.relative_to(PACKAGE)) for module in MODULES if "# fmt: skip" in module.read_text()]


def test_every_file_says_what_it_is_for() -> None:
    empty = [m for m in MODULES if m.read_text().strip()]
    assert not [str(m.relative_to(PACKAGE)) for m in empty if not (ast.get_docstring(tree_of(m)) or "").strip()]


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_"


def own_private_names(module: Path) -> set[str]:
    """The private functions, classes, attributes and constants that a module defines."""
    found: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return {name for name in found if private(name)}


def used_private_names(module: Path) -> set[str]:
    """The private names that a module imports from the package or takes of something, its own aside."""
    found: set[str] = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("sog.", "soglab.")):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    of_named_tuples = {"_fields", "_replace"}
    return {name for name in found if private(name)} - own_private_names(module) - of_named_tuples


PRIVATE = {module: own_private_names(module) for module in MODULES}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_private_names_stay_in_their_modules(module: Path) -> None:
    """Names of other libraries' own are none of this test's business: only those that another of our modules has."""
    others = set().union(*(names for other, names in PRIVATE.items() if other != module))
    assert not used_private_names(module) & others

"""The house rules that a program can check: how many parameters, which names cross modules, how long modules are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "sog"
MODULES = sorted(PACKAGE.rglob("*.py"))
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


def is_command(module: Path, function: Function) -> bool:
    """Whether it is a command of the command line: each of its options is a parameter."""
    annotations = [ast.unparse(p.annotation) for p in parameters(function) if p.annotation is not None]
    return module.parent.name == "cli" and all(a.startswith("Annotated[") or a == "JsonOption" for a in annotations)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_functions_take_eight_parameters_at_most(module: Path) -> None:
    """Commands aside, whose options they are; kernels too, whose arrays come in named tuples."""
    wide = [f.name for f in functions(module) if len(parameters(f)) > 8 and not is_command(module, f)]
    assert not wide


def test_nothing_takes_any_keyword() -> None:
    """Except what stands in for somebody else's function, and ONNX's own attributes of an operation."""
    loose = {
        str(module.relative_to(PACKAGE)) for module in MODULES for f in functions(module) if f.args.kwarg is not None
    }
    assert loose <= {"experiments/bench/stopwatch.py", "nets/resnet_onnx.py"}


def test_no_module_is_longer_than_a_sitting() -> None:
    assert not {str(m.relative_to(PACKAGE)): n for m in MODULES if (n := m.read_text().count("\n")) > 450}


def test_no_code_is_kept_from_the_formatter() -> None:
    assert not [str(module.relative_to(PACKAGE)) for module in MODULES if "# fmt: skip" in module.read_text()]


def test_every_file_says_what_it_is_for() -> None:
    empty = [m for m in MODULES if m.read_text().strip()]
    assert not [str(m.relative_to(PACKAGE)) for m in empty if not (ast.get_docstring(tree_of(m)) or "").strip()]

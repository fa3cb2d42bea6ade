"""Plain njit, for a Numba whose insides are not as parts.py and dispatch.py need them: the same bits, compiled slower.

Numba's insides may change with any of its versions; what is needed of them is looked up when this file is imported.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from inspect import signature
from operator import attrgetter
from typing import Any, Final, cast

import numba

# Set to anything, it has kernels compiled by plain njit whatever Numba is like.
_FORCED: Final = "SOG_PLAIN_NUMBA"

# Names by module, and the parameters of those that are called or overridden.
_NEEDED: Final[dict[str, dict[str, str]]] = {
    "numba.core.registry": {
        "cpu_target.target_context.codegen": "",
        "CPUDispatcher.__init__": "self py_func locals targetoptions pipeline_class",
        "CPUDispatcher.compile": "self sig",
        "CPUDispatcher.get_call_template": "self args kws",
        "CPUDispatcher.get_overload": "self sig",
    },
    "numba.core.cpu": {
        f"CPUTargetOptions.{name}": "" for name in ("forceinline", "_nrt", "no_cpython_wrapper", "no_cfunc_wrapper")
    },
    "numba.core.compiler": {
        "Compiler.__init__": "self typingctx targetctx library args return_type flags locals",
        "CompileResult._find_referenced_environments": "self",
    },
    "numba.core.codegen": {
        "JITCodeLibrary.__init__": "self codegen name",
        "JITCodeLibrary.codegen": "",
        "JITCodeLibrary.finalize": "self",
        "JITCodeLibrary.get_pointer_to_function": "self name",
        "JITCodeLibrary._ensure_finalized": "self",
        "JITCodeLibrary._finalized": "",
        "JITCodeLibrary._get_module_for_linking": "self",
        "JITCPUCodegen.set_env": "self env_name env",
    },
    "numba.core.caching": {
        "FunctionCache.__init__": "self py_func",
        "FunctionCache.cache_path": "",
        "FunctionCache.save_overload": "self sig data",
    },
    "numba.core.config": {"CACHE_DIR": ""},
    "numba.core.types": {"unliteral": "lit_type", "signed_domain": ""},
    "numba._dispatcher": {"compute_fingerprint": ""},
}


def changes() -> list[str]:
    """What Numba has otherwise than parts.py and dispatch.py need it, a line each."""
    return list(_changed_names()) or list(_changed_objects())


def _changed_names() -> Iterator[str]:
    for module, names in _NEEDED.items():
        for name, parameters in names.items():
            try:
                there = attrgetter(name)(import_module(module))
                now = " ".join(signature(there).parameters) if parameters else ""
            except (ImportError, AttributeError, TypeError, ValueError) as error:
                yield f"{module}.{name} cannot be had ({error})"
                continue
            if now != parameters:
                yield f"{module}.{name} takes ({now}) in place of ({parameters})"


def _changed_objects() -> Iterator[str]:
    """What only an object of a class has."""
    registry, codegen = import_module("numba.core.registry"), import_module("numba.core.codegen")
    try:
        library = codegen.JITCodeLibrary(registry.cpu_target.target_context.codegen(), "check")
        dispatcher = registry.CPUDispatcher(_nothing, None, {}, import_module("numba.core.compiler").Compiler)
    except Exception as error:  # whatever it is, parts.py would meet it too
        yield f"JITCodeLibrary or CPUDispatcher cannot be made ({error!r})"
        return
    for made, names in ((library, "_linking_libraries _reload_init _final_module"), (dispatcher, "_cache overloads")):
        yield from (f"{type(made).__name__}.{name} is gone" for name in names.split() if name not in vars(made))


def _nothing() -> None:
    pass


def _is_plain() -> bool:
    """Whether plain njit compiles the kernels; where it does, a warning in a command's first process."""
    reasons = [f"{_FORCED} is set"] if os.environ.get(_FORCED) else changes()
    if reasons and multiprocessing.parent_process() is None:
        why = f"Numba {numba.__version__}: {reasons[0]}{' and more' if len(reasons) > 1 else ''}"
        warnings.warn(f"kernels are compiled by plain njit, which takes longer. {why}", RuntimeWarning, stacklevel=2)
    return bool(reasons)


PLAIN: Final = _is_plain()


def entry(function: Callable[..., Any], options: Mapping[str, Any], cached: bool) -> Any:
    """A kernel that Python calls, and other kernels too.  cached: its code is, in Numba's own cache on disk.

    Unlike parts.py, Numba takes no lock to save code: processes that compile one kernel at once for different types may
    mix up its files.
    """
    return cast(Any, numba).njit(cache=cached, **_known(options))(function)


def part(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """A kernel's helper, pasted into its callers."""
    return cast(Any, numba).njit(**_known({**options, "forceinline": True}))(function)


def _known(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without the options that speed kernels up but are not public in Numba, where it has them no longer."""
    return {name: value for name, value in options.items() if name not in ("_nrt", "forceinline") or _has(name)}


@cache
def _has(option: str) -> bool:
    try:
        cast(Any, numba).njit(**{option: False})(_nothing)()
    except Exception:  # what it raises for unknown options is not documented
        return False
    return True

"""Whether the packages that OpenSpiel's AlphaZero needs are there, and how JAX is to run; it imports none of them."""

from __future__ import annotations

import importlib.util
from typing import Final

from sog.errors import SettingError

__all__ = ["ONE_CORE", "require_extra"]

_PACKAGES: Final = ("chex", "flax", "jax", "optax", "orbax", "psutil")

# What JAX reads from the environment when it is imported first: the processor, one thread of it.
ONE_CORE: Final = {
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def require_extra() -> None:
    """SettingError that says what to install, where a package is missing."""
    if missing := [name for name in _PACKAGES if importlib.util.find_spec(name) is None]:
        raise SettingError(
            f"OpenSpiel's AlphaZero needs {', '.join(missing)}, not installed here: pip install 'sog[alphazero]'"
        )

"""Python's numeric libraries on one core for a while; what they used before is given back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

__all__ = ["one_core"]


@contextmanager
def one_core() -> Iterator[None]:
    """NumPy's libraries and PyTorch on one core until the end of the block: a game's small arrays gain from no more."""
    # PyTorch has threads of its own where it is in use; this file does not need it.
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 1
    if torch:
        torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        if torch:
            torch.set_num_threads(before)

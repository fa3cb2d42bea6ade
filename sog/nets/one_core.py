"""Python's numeric libraries on one core for a while; what they used before is given back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits

__all__ = ["one_core"]


@contextmanager
def one_core() -> Iterator[None]:
    """NumPy's libraries and PyTorch on one core until the end of the block: a game's small arrays gain from no more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)

"""Wilson's interval of a share; it knows nothing of what was counted."""

from __future__ import annotations

import math
from typing import Final

__all__ = ["wilson"]

_TWO_SIDED_95: Final = 1.959964


def wilson(hits: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson, 1927). Draws may count half a hit: the interval is then too wide."""
    if not count:
        return 0.0, 1.0
    z, p = _TWO_SIDED_95, hits / count
    middle = (p + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(p * (1 - p) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)

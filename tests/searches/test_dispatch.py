"""Kernels that look at their arguments' types in the first call only, and in tests in every call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sog.arrays import Array
from sog.searches.kernels.dispatch import SameTypes, same_types
from sog.searches.kernels.jit import njit


@njit
def _twice(values: Array, by: Any) -> Any:
    return 2.0 * values[0] * by


def test_arguments_of_other_types_are_refused_where_calls_are_checked() -> None:
    assert SameTypes.checked
    kernel, doubles = same_types(_twice), np.array([1.5])
    assert [kernel(doubles, 1.0), kernel(doubles, 3.0), kernel(np.zeros(9), 1.0)] == [3.0, 9.0, 0.0]
    for wrong in ((doubles.astype(np.float32), 1.0), (doubles, 1), (np.zeros(4)[::2], 1.0)):
        with pytest.raises(TypeError, match="_twice was compiled for"):
            kernel(*wrong)
    assert kernel(doubles, 1.0) == 3.0

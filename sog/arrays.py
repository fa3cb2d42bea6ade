"""Names for the array types that signatures use; shapes are in the docstrings."""

from typing import Any

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
Int16 = npt.NDArray[np.int16]
UInt64 = npt.NDArray[np.uint64]
UInt32 = npt.NDArray[np.uint32]
Bool = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]

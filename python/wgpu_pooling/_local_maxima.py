"""Local maxima of maps."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import taken, type_name
from ._devices import Device, resolve
from ._errors import PlanError
from ._native import DeviceTensor
from ._onnx import Ints, Layout


def _number(threshold: object) -> int | float | None:
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(f"threshold is of type {type_name(threshold)}, expected a number")
    if isinstance(threshold, Integral):
        return int(threshold)
    try:
        number = float(threshold)
    except OverflowError:
        number = math.inf if int(math.trunc(threshold)) > 0 else -math.inf
    if number != number:
        raise PlanError('threshold: unknown value "NaN", expected a number')
    return number


def _above(values: NDArray[Any], threshold: int | float) -> NDArray[np.bool_]:
    """Where values are above a threshold, compared as numbers: neither is rounded to the type of the other."""
    if values.dtype.kind != "f":
        if math.isinf(threshold):
            return np.full(values.shape, threshold < 0)
        return np.asarray(values > math.floor(threshold))
    try:
        nearest = float(threshold)
    except OverflowError:
        nearest = math.inf if threshold > 0 else -math.inf
    return np.asarray(values >= nearest if nearest > threshold else values > nearest)


def local_maxima(
    x: Any, kernel_shape: Ints, *, threshold: float | None = None, layout: Layout = "NCHW", device: Device = None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The positions of the local maxima of maps, and their values: the elements that win the windows around them.

    `x` is as for `max_pool`: (N, C, spatial extents), or (N, spatial extents, C) with `layout="NHWC"`. `kernel_shape` has an extent
    for each spatial axis; a window of an even extent reaches one element further before its own than behind. With a `threshold` a
    peak's value is above that; both are compared as numbers, unrounded. The largest peak comes first, and equal ones are in the order of their positions.

    Of equal elements in a window the first one wins, in row-major order: an equal element before it in its window keeps an element
    from being a peak, and one after it does not. No element with a NaN in its window is a peak.

    Both results are arrays of numpy, whatever `x` is: positions have the shape (peaks, axes of `x`), and values have the type of `x`,
    but float32 for bfloat16. Raises as `max_pool`, and PlanError for a threshold that is NaN.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.array([[[[9, 1, 0, 4, 4, 4], [0, 1, 0, 0, 0, 3]]]], np.uint8)
    >>> wp.local_maxima(x, [3, 3], threshold=2, device="cpu")
    (array([[0, 0, 0, 0],
           [0, 0, 0, 3]]), array([9, 4], dtype=uint8))
    """
    least = _number(threshold)
    tensor = taken(x, "x")[0]
    keywords = {"kernel_shape": kernel_shape, "auto_pad": "SAME_LOWER", "nan_policy": "propagate_last"}
    keywords |= {"layout": layout, "index_layout": layout}
    results = _native.pool("max_pool", "onnx", keywords, "int64", resolve(device, x, "x"), tensor)
    y, indices = (result.numpy() if isinstance(result, DeviceTensor) else result for result in results)
    places = np.flatnonzero(indices.reshape(-1) == np.arange(indices.size))
    values = y.reshape(-1)[places]
    if tensor[1] == "bf16" or y.dtype.name == "bfloat16":
        # The upper halves of float32.
        values = (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    # float16 would round the threshold.
    exact = values.astype(np.float64) if values.dtype.kind == "f" else values
    passes = exact == exact
    if least is not None:
        passes &= _above(exact, least)
    # Reversed twice, so that equal ones keep their order.
    places, values, exact = (array[passes][::-1] for array in (places, values, exact))
    order = np.argsort(exact, kind="stable")[::-1]
    return np.stack(np.unravel_index(places[order], y.shape), axis=1), values[order]

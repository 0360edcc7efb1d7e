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


# The bits of a float's fraction, and the exponent of its smallest subnormal, by the size of the type. Floats are compared as integers:
# a program may have told its processor to take subnormals for zeros, and arrays and numbers would then be compared as such.
_FLOATS = {2: (10, -24), 4: (23, -149), 8: (52, -1074)}
_LEAST = -1074


def _number(threshold: object) -> int | float | None:
    """A threshold as a multiple of the smallest subnormal of doubles, or an infinity."""
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(f"threshold is of type {type_name(threshold)}, expected a number")
    if isinstance(threshold, Integral):
        return int(threshold) << -_LEAST
    if not isinstance(threshold, np.floating) or threshold.dtype.itemsize not in _FLOATS:
        try:
            threshold = float(threshold)
        except OverflowError:
            return int(math.trunc(threshold)) << -_LEAST
    if threshold != threshold:
        raise PlanError('threshold: unknown value "NaN", expected a number')
    value = np.atleast_1d(np.asarray(threshold))
    fraction, least = _FLOATS[value.dtype.itemsize]
    rank = int(_ranks(value)[0])
    exponent, digits = divmod(abs(rank), 1 << fraction)
    if abs(rank) == _ranks(np.full(1, np.inf, value.dtype))[0]:
        return math.inf if rank > 0 else -math.inf
    multiple = (digits if exponent == 0 else (digits | 1 << fraction) << (exponent - 1)) << (least - _LEAST)
    return multiple if rank > 0 else -multiple


def _ranks(values: NDArray[Any]) -> NDArray[Any]:
    """Integers in the order of the values. Zeros of both signs are equal, and NaN lie beyond the infinities."""
    if values.dtype.kind != "f":
        return values
    bits = values.view(f"i{values.dtype.itemsize}").astype(np.int64)
    return np.where(bits < 0, np.int64(-1 << (8 * values.dtype.itemsize - 1)) - bits, bits)


def _above(values: NDArray[Any], ranks: NDArray[Any], threshold: int | float) -> NDArray[np.bool_]:
    """Where values are above a threshold, compared as numbers: neither is rounded to the type of the other."""
    if isinstance(threshold, float):
        # Of floats, infinities are above those of the other sign.
        infinity = _ranks(np.full(1, threshold, values.dtype))[0] if values.dtype.kind == "f" else None
        return np.asarray(ranks > infinity) if infinity is not None else np.full(values.shape, threshold < 0)
    if values.dtype.kind != "f":
        return np.asarray(values > (threshold >> -_LEAST))
    # The rank of the largest float that is not above the threshold, as a multiple of the type's own smallest one.
    fraction, least = _FLOATS[values.dtype.itemsize]
    multiple = threshold >> (least - _LEAST)
    beyond = max(abs(multiple).bit_length() - fraction - 1, 0)
    largest = (beyond << fraction) + (multiple >> beyond) if multiple >= 0 else (multiple >> beyond) - (beyond << fraction)
    infinity = int(_ranks(np.full(1, np.inf, values.dtype))[0])
    return np.asarray(ranks > min(max(largest, -infinity), infinity - 1))


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
    ranks = _ranks(values)
    passes = np.full(values.shape, True)
    if values.dtype.kind == "f":
        passes = np.abs(ranks) <= _ranks(np.full(1, np.inf, values.dtype))
    if least is not None:
        passes &= _above(values, ranks, least)
    # Reversed twice, so that equal ones keep their order.
    places, values, ranks = (array[passes][::-1] for array in (places, values, ranks))
    order = np.argsort(ranks, kind="stable")[::-1]
    return np.stack(np.unravel_index(places[order], y.shape), axis=1), values[order]

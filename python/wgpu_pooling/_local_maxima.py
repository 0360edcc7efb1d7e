"""Local maxima of maps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arrays import taken, type_name, whole
from ._devices import Device, resolve
from ._errors import PlanError
from ._native import DeviceTensor
from ._onnx import Ints, Layout


# The bits of a float's fraction, and the exponent of its smallest subnormal, by the size of the type. Floats are compared as integers:
# a program may have told its processor to take subnormals for zeros, and arrays and numbers would then be compared as such.
_FLOATS = {2: (10, -24), 4: (23, -149), 8: (52, -1074)}
_LEAST = -1074
_MOST = 2**63 - 1


def _number(threshold: Any, minima: bool) -> int | float | None:
    """A threshold as a multiple of the smallest subnormal of doubles, or an infinity. The multiple is the largest that is not above
    it, of minima the smallest that is not below it: no element lies between."""
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(f"threshold is of type {type_name(threshold)}, expected a number")
    if isinstance(threshold, Integral):
        return int(threshold) << -_LEAST
    if threshold != threshold:
        raise PlanError('threshold: unknown value "NaN", expected a number')
    if isinstance(threshold, float):
        threshold = np.float64(threshold)
    if isinstance(threshold, np.floating) and threshold.dtype.itemsize in _FLOATS:
        value = np.atleast_1d(np.asarray(threshold))
        fraction, least = _FLOATS[value.dtype.itemsize]
        rank = int(_ranks(value)[0])
        exponent, digits = divmod(abs(rank), 1 << fraction)
        if abs(rank) == _ranks(np.full(1, np.inf, value.dtype))[0]:
            return math.inf if rank > 0 else -math.inf
        multiple = (digits if exponent == 0 else (digits | 1 << fraction) << (exponent - 1)) << (least - _LEAST)
        return multiple if rank > 0 else -multiple
    if threshold == math.inf or threshold == -math.inf:
        return math.inf if threshold == math.inf else -math.inf
    exact = Fraction(threshold) if isinstance(threshold, Rational) else Fraction(*_ratio(threshold))
    numerator, denominator = exact.numerator, exact.denominator
    sign = -1 if minima else 1
    return sign * ((sign * numerator << -_LEAST) // denominator)


def _ratio(number: Any) -> tuple[int, int]:
    numerator, denominator = number.as_integer_ratio()
    return int(numerator), int(denominator)


def _ranks(values: NDArray[Any]) -> NDArray[Any]:
    """Integers in the order of floats. Zeros of both signs are equal, and NaN lie beyond the infinities."""
    bits = values.view(f"i{values.dtype.itemsize}").astype(np.int64)
    return np.where(bits < 0, np.int64(-1 << (8 * values.dtype.itemsize - 1)) - bits, bits)


# Of floats the size, and of integers the least value, by the short name of the type.
_SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
_LIMITS = {name: (0 if name[0] == "u" else -1 << int(name[1:]) - 1) for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")}


def _bits(threshold: int | float | None, name: str, minima: bool) -> int | None:
    """The bits of the largest value of a type that is not above a threshold, above which the same values of the type lie. Of minima
    all of it is mirrored. None if every value lies above."""
    if threshold is None:
        return None
    above = -threshold if minima else threshold
    if name in _LIMITS:
        bits = int(name[1:])
        least = -(_LIMITS[name] + (1 << bits) - 1) if minima else _LIMITS[name]
        largest = least + (1 << bits) - 1
        value = (largest if above > 0 else least - 1) if isinstance(above, float) else min(above >> -_LEAST, largest)
        return None if value < least else (-value if minima else value) & (1 << bits) - 1
    size = _SIZES[name]
    # bfloat16 has the exponents of float32, and a shorter fraction.
    fraction, smallest = (7, -133) if name == "bf16" else _FLOATS[size]
    infinity = ((1 << 8 * size - 1 - fraction) - 1) << fraction
    if isinstance(above, float):
        rank = infinity if above > 0 else -infinity
    else:
        # A multiple of the type's own smallest value.
        multiple = above >> (smallest - _LEAST)
        beyond = max(abs(multiple).bit_length() - fraction - 1, 0)
        rank = (beyond << fraction) + (multiple >> beyond) if multiple >= 0 else (multiple >> beyond) - (beyond << fraction)
        rank = min(max(rank, -infinity), infinity - 1)
    rank = -rank if minima else rank
    return rank if rank >= 0 else -rank | 1 << 8 * size - 1


def local_maxima(
    x: Any,
    kernel_shape: Ints,
    *,
    threshold: float | None = None,
    plateaus: Literal["first", "all"] = "first",
    exclude_border: int | Ints = 0,
    min_distance: int = 0,
    largest: int | None = None,
    minima: bool = False,
    layout: Layout = "NCHW",
    device: Device = None,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The positions of the local maxima of maps, and their values: the elements that win the windows around them.

    `x` is as for `max_pool`: (N, C, spatial extents), or (N, spatial extents, C) with `layout="NHWC"`. `kernel_shape` has an extent
    for each spatial axis; a window of an even extent reaches one element further before its own than behind. With a `threshold` a
    peak's value is above that; both are compared as numbers, unrounded. The largest peak comes first, and equal ones are in the order of their positions.

    Of equal elements in a window the first one wins, in row-major order: an equal element before it in its window keeps an element
    from being a peak, and one after it does not. With `plateaus="all"` all of them are peaks, as in `x == maximum_filter(x)`. No
    element with a NaN in its window is a peak.

    `exclude_border` leaves out peaks that are nearer to an end of a spatial axis than this number of elements; `min_distance` keeps
    a peak only if it is at least so many elements away, along some spatial axis, from each peak of its plane that is kept before it;
    `largest` keeps this number of peaks of each batch item. `minima` finds minima: "above" and "largest" then mean below and smallest.
    `skimage.feature.peak_local_max(x, min_distance=d)` is a window of `2 * d + 1` with `plateaus="all"`, `exclude_border=d`,
    `min_distance=d` and the least value as threshold.

    Both results are arrays of numpy, whatever `x` is: positions have the shape (peaks, axes of `x`), and values have the type of `x`,
    but float32 for bfloat16. Raises as `max_pool`, and PlanError for a threshold that is NaN, for another rule of plateaus, and for
    numbers that are negative or too large.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.array([[[[9, 1, 0, 4, 4, 4], [0, 1, 0, 0, 0, 3]]]], np.uint8)
    >>> wp.local_maxima(x, [3, 3], threshold=2, device="cpu")
    (array([[0, 0, 0, 0],
           [0, 0, 0, 3]]), array([9, 4], dtype=uint8))
    >>> wp.local_maxima(x, [3, 3], largest=1, device="cpu")
    (array([[0, 0, 0, 0]]), array([9], dtype=uint8))
    """
    least = _number(threshold, minima)
    tensor = taken(x, "x")[0]
    at, operator = resolve(device, x, "x"), "erode" if minima else "dilate"
    keywords = {"kernel_shape": kernel_shape, "nan_policy": "propagate_last", "layout": layout}
    y = None
    if isinstance(tensor[0], DeviceTensor):
        # The host compares X and Y.
        y = taken(_native.pool(operator, "onnx", keywords, None, at, tensor)[0].numpy(), "y")[0]
        tensor = taken(tensor[0].numpy(), "x")[0]
    axes = max(tensor[0].ndim - 2, 0)
    border = _counts("exclude_border", exclude_border, axes)
    most = None if largest is None else _count("largest", largest)
    wishes = (_bits(least, tensor[1], minima), plateaus, border, _count("min_distance", min_distance), most)
    positions, words = _native.peaks(operator, keywords, wishes, at, tensor, y)
    if tensor[1] == "bf16":
        # The upper halves of float32.
        words = (words.astype(np.uint32) << 16).view(np.float32)
    values = words if tensor[1] == "bf16" else words.view(tensor[0].dtype)
    return positions.reshape(-1, tensor[0].ndim), values


def _count(name: str, number: Any) -> int:
    count = whole(name, number)
    if not 0 <= count <= _MOST:
        raise PlanError(f"{name} is {count}, expected 0 to {_MOST}")
    return count


def _counts(name: str, numbers: Any, axes: int) -> list[int]:
    """A number for each axis."""
    if isinstance(numbers, Iterable):
        return [_count(name, number) for number in numbers]
    return [_count(name, numbers)] * axes

"""Flat morphology by boxes, in OpenCV's words and in scipy's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from . import _native
from ._arrays import taken, whole
from ._devices import Device, resolve
from ._errors import PlanError
from ._native import DeviceTensor
from ._onnx import EmptyValue, Ints, Layout, NanPolicy, pool

T = TypeVar("T")


def _keywords(
    kernel_shape: Ints,
    anchor: Ints | None,
    iterations: int,
    layout: Layout,
    nan_policy: NanPolicy | None,
    empty_value: EmptyValue | None,
) -> dict[str, object]:
    of_box = {"kernel_shape": kernel_shape, "anchor": anchor, "iterations": iterations, "layout": layout}
    return {**of_box, "nan_policy": nan_policy, "empty_value": empty_value}


def dilate(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """Each element becomes the largest within a box around it; Y has the shape of `x`.

    `x` is as for `max_pool`: (N, C, spatial extents), or (N, spatial extents, C) with `layout="NHWC"`, as images lie. `kernel_shape`
    has an extent for each spatial axis, of any size. `anchor` is the element of the box that lies on the output's own position:
    half of each extent, rounded down, unless given or where it is -1, as in OpenCV. `iterations`, at least 1, are computed in one
    pass, as one box: what they give one after the other, but for a NaN that can win and for the sign of zeros. `nan_policy` is that of `max_pool`: a NaN wins only as
    the first element of its window unless another is given, and with "ignore" a box of NaN alone gives `empty_value`, which is -inf
    (inf in erosions) unless it is given. What lies outside never wins: OpenCV's default border (but the lowest finite float, where a box has nothing but -inf), and what scipy's
    modes "reflect" and "nearest" give for centred boxes. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.dilate(np.array([[[0, 0, 7, 0, 0, 0, 0]]], np.uint8), [3], iterations=2, device="cpu")
    array([[[7, 7, 7, 7, 7, 0, 0]]], dtype=uint8)
    >>> x = np.array([[[np.nan, np.nan, 7, np.nan, 2]]], np.float32)
    >>> wp.dilate(x, [3], nan_policy="ignore", empty_value="nan", device="cpu")
    array([[[nan,  7.,  7.,  7.,  2.]]], dtype=float32)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return pool("dilate", x, "onnx", None, device, keywords)  # type: ignore[no-any-return]


def erode(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """Each element becomes the smallest within a box around it. Arguments are those of `dilate`.

    Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.erode(np.array([[[9, 9, 9, 9, 2, 9]]], np.uint8), [2], device="cpu")
    array([[[9, 9, 9, 9, 2, 2]]], dtype=uint8)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return pool("erode", x, "onnx", None, device, keywords)  # type: ignore[no-any-return]


def _composition(name: str, x: Any, device: Device, keywords: dict[str, object]) -> Any:
    tensor, give = taken(x, "x")
    return give(_native.composition(name, keywords, resolve(device, x, "x"), tensor))


def opening(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """The dilation of the erosion, which removes what is bright and smaller than the box: OpenCV's MORPH_OPEN.

    Arguments are those of `dilate`; each of the two applies the box `iterations` times, with the anchor as it is given, and with
    `nan_policy` and `empty_value`: that of "nan" is ignored in the second one, and any other is a number there. Raises as
    `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.opening(np.array([[[5, 9, 5, 9, 9, 9, 5]]], np.uint8), [3], device="cpu")
    array([[[5, 5, 5, 9, 9, 9, 5]]], dtype=uint8)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return _composition("opening", x, device, keywords)  # type: ignore[no-any-return]


def closing(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """The erosion of the dilation, which fills what is dark and smaller than the box: OpenCV's MORPH_CLOSE.

    Arguments are those of `opening`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.closing(np.array([[[5, 1, 5, 1, 1, 1, 5]]], np.uint8), [3], device="cpu")
    array([[[5, 5, 5, 1, 1, 1, 5]]], dtype=uint8)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return _composition("closing", x, device, keywords)  # type: ignore[no-any-return]


def gradient(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """The dilation minus the erosion: OpenCV's MORPH_GRADIENT, scipy's `morphological_gradient`.

    Arguments are those of `opening`. Integers stay in their range, as OpenCV's do; floats are subtracted by IEEE's
    rules, float16 and bfloat16 in float32. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.gradient(np.array([[[5, 5, 5, 9, 9, 9, 9]]], np.uint8), [3], device="cpu")
    array([[[0, 0, 4, 4, 0, 0, 0]]], dtype=uint8)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return _composition("gradient", x, device, keywords)  # type: ignore[no-any-return]


def top_hat(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """`x` minus its opening: OpenCV's MORPH_TOPHAT, scipy's `white_tophat`.

    Arguments are those of `opening`, differences as in `gradient`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.top_hat(np.array([[[5, 9, 5, 9, 9, 9, 5]]], np.uint8), [3], device="cpu")
    array([[[0, 4, 0, 0, 0, 0, 0]]], dtype=uint8)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return _composition("top_hat", x, device, keywords)  # type: ignore[no-any-return]


def black_hat(
    x: T,
    kernel_shape: Ints,
    *,
    anchor: Ints | None = None,
    iterations: int = 1,
    layout: Layout = "NCHW",
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> T:
    """The closing of `x` minus `x`: OpenCV's MORPH_BLACKHAT, scipy's `black_tophat`.

    Arguments are those of `opening`, differences as in `gradient`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.black_hat(np.array([[[5, 1, 5, 1, 1, 1, 5]]], np.uint8), [3], device="cpu")
    array([[[0, 4, 0, 0, 0, 0, 0]]], dtype=uint8)
    """
    keywords = _keywords(kernel_shape, anchor, iterations, layout, nan_policy, empty_value)
    return _composition("black_hat", x, device, keywords)  # type: ignore[no-any-return]


def _grey(
    name: str,
    x: Any,
    size: Any,
    before: int,
    nan_policy: NanPolicy | None,
    empty_value: EmptyValue | None,
    device: Device,
) -> Any:
    (array, element), give = taken(x, "x")
    if isinstance(array, DeviceTensor):
        raise TypeError(f"x is on a device, where it keeps its shape: {name} takes it as (N, C, spatial extents)")
    if not 1 <= array.ndim <= 10:
        raise PlanError(f"x has {array.ndim} axes, expected 1 to 10, all of them spatial")
    # As scipy asks: an array without axes is a number.
    several = np.iterable(size) and not isinstance(size, str)
    sizes = [whole("size", each) for each in (size if several else [size] * array.ndim)]
    anchor = [(each - before) // 2 for each in sizes]
    keywords = _keywords(sizes, anchor, 1, "NCHW", nan_policy, empty_value)
    tensor = (array.reshape((1, 1, *array.shape)), element)
    on = resolve(device, x, "x")
    try:
        y = _native.pool(name, "onnx", keywords, None, on, tensor)[0]
    except PlanError as error:
        raise PlanError(str(error).replace("kernel_shape", "size")) from None
    return give(y.reshape(array.shape))


def grey_dilation(
    x: Any,
    size: SupportsIndex | Iterable[SupportsIndex],
    *,
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> Any:
    """`scipy.ndimage.grey_dilation(x, size=size)` of an array of any rank, whose axes are all spatial.

    The box is scipy's, mirrored: one of even extent reaches further behind an element than before it. Integers of 64 bits are exact,
    where scipy rounds them to doubles. `nan_policy` and `empty_value` are those of `dilate`. Tensors on a device are not taken. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.grey_dilation(np.array([0, 0, 7, 0, 0], np.uint8), 2, device="cpu")
    array([0, 7, 7, 0, 0], dtype=uint8)
    """
    return _grey("dilate", x, size, 1, nan_policy, empty_value, device)


def grey_erosion(
    x: Any,
    size: SupportsIndex | Iterable[SupportsIndex],
    *,
    nan_policy: NanPolicy | None = None,
    empty_value: EmptyValue | None = None,
    device: Device = None,
) -> Any:
    """`scipy.ndimage.grey_erosion(x, size=size)` of an array of any rank, whose axes are all spatial. Raises as
    `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.grey_erosion(np.array([9, 9, 2, 9, 9], np.uint8), 2, device="cpu")
    array([9, 9, 2, 2, 9], dtype=uint8)
    """
    return _grey("erode", x, size, 0, nan_policy, empty_value, device)

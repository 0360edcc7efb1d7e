"""The operators in torch's words: its parameters, its rules for NaN and padding, and its indices, which count through a plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from . import _native
from ._arrays import taken
from ._devices import Device, resolve
from ._errors import PlanError
from ._native import DeviceTensor

T = TypeVar("T")
Size = int | Sequence[int]


def _each(value: Size, axes: int) -> list[int]:
    """A number for each spatial axis, from one number or as many."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * axes  # type: ignore[list-item]


def _of_pool(value: Size, axes: int) -> list[int]:
    """The same for torch's pools, which take one number in brackets too."""
    numbers = _each(value, axes)
    return numbers * axes if len(numbers) == 1 else numbers


def _batched(tensor: tuple[Any, str], axes: int) -> tuple[tuple[Any, str], Callable[[Any], Any]]:
    """A tensor with N and C. torch leaves N out; then so does the result."""
    array, name = tensor
    if array.ndim != axes + 1:
        if array.ndim != axes + 2:
            raise PlanError(f"x has {array.ndim} axes, expected {axes + 1} or {axes + 2}: N, which may be left out, C and {axes}")
        return tensor, lambda y: y
    if isinstance(array, DeviceTensor):
        raise PlanError(f"a DeviceTensor of {array.ndim} axes lacks N: upload it with the shape (1, C, ..)")
    return (array[None], name), lambda y: y[0]


def _pool(
    operator: str, axes: int, x: Any, return_indices: bool, device: Device, keywords: dict[str, Any]
) -> Any:
    taken_x, give = taken(x, "x")
    tensor, unbatched = _batched(taken_x, axes)
    indices = "int64" if return_indices else None
    results = _native.pool(operator, "pytorch", keywords, indices, resolve(device, x), tensor)
    given = [give(unbatched(result)) for result in results]
    return (given[0], given[1]) if return_indices else given[0]


def _max_pool(
    axes: int,
    x: Any,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    dilation: Size,
    ceil_mode: bool,
    return_indices: bool,
    device: Device,
) -> Any:
    keywords = {
        "kernel_shape": _of_pool(kernel_size, axes),
        "strides": _of_pool(stride, axes) if stride or stride == 0 else None,
        "pads": _of_pool(padding, axes) * 2,
        "dilations": _of_pool(dilation, axes),
        "ceil_mode": int(ceil_mode),
    }
    return _pool("max_pool", axes, x, return_indices, device, keywords)


def _adaptive(axes: int, x: Any, output_size: Any, return_indices: bool, device: Device) -> Any:
    sizes = _each(output_size, axes)
    if None in sizes:
        extents = taken(x, "x")[0][0].shape[-axes:]
        sizes = [extent if size is None else size for size, extent in zip(sizes, extents)]
    return _pool("adaptive_max_pool", axes, x, return_indices, device, {"output_size": sizes})


def _max_unpool(
    axes: int,
    x: Any,
    indices: Any,
    kernel_size: Size,
    stride: Size | None,
    padding: Size,
    output_size: Sequence[int] | None,
    device: Device,
) -> Any:
    taken_x, give = taken(x, "x")
    tensor, unbatched = _batched(taken_x, axes)
    of_indices, _ = _batched(taken(indices, "indices")[0], axes)
    keywords: dict[str, Any] = {
        "kernel_shape": _each(kernel_size, axes),
        "strides": _each(stride, axes) if stride or stride == 0 else None,
        "pads": _each(padding, axes) * 2,
    }
    if output_size is not None:
        # torch takes the spatial extents, with or without those before them.
        keywords["output_shape"] = [*tensor[0].shape[:2], *list(output_size)[-axes:]]
    return give(unbatched(_native.unpool("pytorch", keywords, resolve(device, x), tensor, of_indices)))


@overload
def max_pool1d(
    x: T,
    kernel_size: Size,
    stride: Size | None = ...,
    padding: Size = ...,
    dilation: Size = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
    *,
    device: Device = ...,
) -> T: ...
@overload
def max_pool1d(
    x: T,
    kernel_size: Size,
    stride: Size | None = ...,
    padding: Size = ...,
    dilation: Size = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: Literal[True],
    device: Device = ...,
) -> tuple[T, T]: ...
def max_pool1d(
    x: Any,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    device: Device = None,
) -> Any:
    """The maxima of sliding windows, as torch.nn.functional.max_pool1d computes them, of all twelve element types.

    `x` has the shape (N, C, L) or (C, L). With `return_indices` the result is a pair, Y and int64 indices that count through
    each plane. Raises PlanError with the numbers that do not fit, TypeError, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> y, indices = wp.max_pool1d(np.array([[[3, 1, 2, 9]]], np.float32), 2, return_indices=True, device="cpu")
    >>> y, indices
    (array([[[3., 9.]]], dtype=float32), array([[[0, 3]]]))
    """
    return _max_pool(1, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_unpool1d(
    x: T,
    indices: object,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
    *,
    device: Device = None,
) -> T:
    """The values of `x` at the positions that `indices` name, zeros elsewhere, as torch.nn.functional.max_unpool1d has it.

    `x` and `indices` have the shape (N, C, L) or (C, L); indices are int32 or int64 and count through each plane of the result.
    `output_size` has the spatial extents, with or without those before them, and may be any size. Of equal indices the last one
    wins. Raises as `max_pool1d`, and IndexError for indices outside their plane.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.max_unpool1d(np.array([[[3.0, 9.0]]]), np.array([[[0, 3]]]), 2, device="cpu")
    array([[[3., 0., 0., 9.]]])
    """
    return _max_unpool(1, x, indices, kernel_size, stride, padding, output_size, device)  # type: ignore[no-any-return]


@overload
def adaptive_max_pool1d(
    x: T, output_size: int | None | Sequence[int | None], return_indices: Literal[False] = ..., *, device: Device = ...
) -> T: ...
@overload
def adaptive_max_pool1d(
    x: T, output_size: int | None | Sequence[int | None], return_indices: Literal[True], *, device: Device = ...
) -> tuple[T, T]: ...
def adaptive_max_pool1d(
    x: Any, output_size: int | None | Sequence[int | None], return_indices: bool = False, *, device: Device = None
) -> Any:
    """The maxima of as many windows as `output_size` says, as torch.nn.functional.adaptive_max_pool1d computes them.

    `x` has the shape (N, C, L) or (C, L). An extent of None keeps that of `x`. With `return_indices` the result is a pair, Y and
    int64 indices that count through each plane. Raises as `max_pool1d`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.adaptive_max_pool1d(np.array([[[1.0, 4.0, 2.0, 3.0, 0.0]]]), 2, device="cpu")
    array([[[4., 3.]]])
    """
    return _adaptive(1, x, output_size, return_indices, device)


@overload
def max_pool2d(
    x: T,
    kernel_size: Size,
    stride: Size | None = ...,
    padding: Size = ...,
    dilation: Size = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
    *,
    device: Device = ...,
) -> T: ...
@overload
def max_pool2d(
    x: T,
    kernel_size: Size,
    stride: Size | None = ...,
    padding: Size = ...,
    dilation: Size = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: Literal[True],
    device: Device = ...,
) -> tuple[T, T]: ...
def max_pool2d(
    x: Any,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    device: Device = None,
) -> Any:
    """The maxima of sliding windows, as torch.nn.functional.max_pool2d computes them, of all twelve element types.

    `x` has the shape (N, C, H, W) or (C, H, W). With `return_indices` the result is a pair, Y and int64 indices that count through
    each plane. Raises PlanError with the numbers that do not fit, TypeError, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> wp.max_pool2d(x, 2, device="cpu")
    array([[[[ 5.,  7.],
             [13., 15.]]]], dtype=float32)
    """
    return _max_pool(2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_unpool2d(
    x: T,
    indices: object,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
    *,
    device: Device = None,
) -> T:
    """The values of `x` at the positions that `indices` name, zeros elsewhere, as torch.nn.functional.max_unpool2d has it.

    `x` and `indices` have the shape (N, C, H, W) or (C, H, W); indices are int32 or int64 and count through each plane of the result.
    `output_size` has the spatial extents, with or without those before them, and may be any size. Of equal indices the last one
    wins. Raises as `max_pool2d`, and IndexError for indices outside their plane.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.max_unpool2d(np.array([[[[5.0]]]]), np.array([[[[2]]]]), 2, device="cpu")
    array([[[[0., 0.],
             [5., 0.]]]])
    """
    return _max_unpool(2, x, indices, kernel_size, stride, padding, output_size, device)  # type: ignore[no-any-return]


@overload
def adaptive_max_pool2d(
    x: T, output_size: int | None | Sequence[int | None], return_indices: Literal[False] = ..., *, device: Device = ...
) -> T: ...
@overload
def adaptive_max_pool2d(
    x: T, output_size: int | None | Sequence[int | None], return_indices: Literal[True], *, device: Device = ...
) -> tuple[T, T]: ...
def adaptive_max_pool2d(
    x: Any, output_size: int | None | Sequence[int | None], return_indices: bool = False, *, device: Device = None
) -> Any:
    """The maxima of as many windows as `output_size` says, as torch.nn.functional.adaptive_max_pool2d computes them.

    `x` has the shape (N, C, H, W) or (C, H, W). An extent of None keeps that of `x`. With `return_indices` the result is a pair, Y and
    int64 indices that count through each plane. Raises as `max_pool2d`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> wp.adaptive_max_pool2d(x, (1, 2), device="cpu")
    array([[[[13., 15.]]]], dtype=float32)
    """
    return _adaptive(2, x, output_size, return_indices, device)


@overload
def max_pool3d(
    x: T,
    kernel_size: Size,
    stride: Size | None = ...,
    padding: Size = ...,
    dilation: Size = ...,
    ceil_mode: bool = ...,
    return_indices: Literal[False] = ...,
    *,
    device: Device = ...,
) -> T: ...
@overload
def max_pool3d(
    x: T,
    kernel_size: Size,
    stride: Size | None = ...,
    padding: Size = ...,
    dilation: Size = ...,
    ceil_mode: bool = ...,
    *,
    return_indices: Literal[True],
    device: Device = ...,
) -> tuple[T, T]: ...
def max_pool3d(
    x: Any,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    dilation: Size = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    device: Device = None,
) -> Any:
    """The maxima of sliding windows, as torch.nn.functional.max_pool3d computes them, of all twelve element types.

    `x` has the shape (N, C, D, H, W) or (C, D, H, W). With `return_indices` the result is a pair, Y and int64 indices that count through
    each plane. Raises PlanError with the numbers that do not fit, TypeError, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    >>> wp.max_pool3d(x, 2, return_indices=True, device="cpu")
    (array([[[[[7.]]]]], dtype=float32), array([[[[[7]]]]]))
    """
    return _max_pool(3, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_unpool3d(
    x: T,
    indices: object,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
    *,
    device: Device = None,
) -> T:
    """The values of `x` at the positions that `indices` name, zeros elsewhere, as torch.nn.functional.max_unpool3d has it.

    `x` and `indices` have the shape (N, C, D, H, W) or (C, D, H, W); indices are int32 or int64 and count through each plane of the result.
    `output_size` has the spatial extents, with or without those before them, and may be any size. Of equal indices the last one
    wins. Raises as `max_pool3d`, and IndexError for indices outside their plane.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.max_unpool3d(np.ones((1, 1, 1, 1, 1)), np.array([[[[[5]]]]]), 2, device="cpu").ravel()
    array([0., 0., 0., 0., 0., 1., 0., 0.])
    """
    return _max_unpool(3, x, indices, kernel_size, stride, padding, output_size, device)  # type: ignore[no-any-return]


@overload
def adaptive_max_pool3d(
    x: T, output_size: int | None | Sequence[int | None], return_indices: Literal[False] = ..., *, device: Device = ...
) -> T: ...
@overload
def adaptive_max_pool3d(
    x: T, output_size: int | None | Sequence[int | None], return_indices: Literal[True], *, device: Device = ...
) -> tuple[T, T]: ...
def adaptive_max_pool3d(
    x: Any, output_size: int | None | Sequence[int | None], return_indices: bool = False, *, device: Device = None
) -> Any:
    """The maxima of as many windows as `output_size` says, as torch.nn.functional.adaptive_max_pool3d computes them.

    `x` has the shape (N, C, D, H, W) or (C, D, H, W). An extent of None keeps that of `x`. With `return_indices` the result is a pair, Y and
    int64 indices that count through each plane. Raises as `max_pool3d`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    >>> wp.adaptive_max_pool3d(x, 1, device="cpu").ravel()
    array([7.], dtype=float32)
    """
    return _adaptive(3, x, output_size, return_indices, device)

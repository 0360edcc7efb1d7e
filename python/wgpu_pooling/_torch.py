"""The operators in torch's words: its parameters, its rules for NaN and padding, and its indices, which count through a plane."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

import numpy as np

from . import _native
from ._arrays import Give, taken, type_name, whole
from ._devices import Device, resolve
from ._errors import PlanError
from ._native import DeviceTensor, Gpu

T = TypeVar("T")
Size = int | Sequence[int]
_LISTS = (list, tuple, range)

# What the operators of ONNX call x and its attributes, which texts of errors name, and what torch calls them. torch has no pads_limit.
_WORDS = {
    "x": "input",
    "X": "input",
    "kernel_shape": "kernel_size",
    "strides": "stride",
    "pads": "padding",
    "dilations": "dilation",
    "output_shape": "output_size",
}
_WORD = re.compile(rf" that pads_limit sets|\b({'|'.join(_WORDS)})\b(?:\[(\d+)\])?")


def _word(match: re.Match[str]) -> str:
    name, position = match.groups()
    if name is None:
        return ""
    if position is None:
        return _WORDS[name]
    # ONNX's shape begins with N and C.
    return f"{_WORDS[name]}[{int(position) - 2 * (name == 'output_shape')}]"


def _in_torchs_words(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returns. Its errors name torch's parameters."""
    try:
        return call(*arguments)
    except (PlanError, TypeError) as error:
        raise type(error)(_WORD.sub(_word, str(error))) from None


def _numbers(name: str, value: Any, lengths: set[int]) -> list[int]:
    """Whole numbers in brackets, as many as one of the lengths says."""
    if not isinstance(value, _LISTS):
        raise TypeError(f"{name} is of type {type_name(value)}, expected whole numbers")
    if len(value) not in lengths:
        raise PlanError(f"{name} has {len(value)} values, expected {' or '.join(map(str, sorted(lengths)))}")
    return [whole(name, number) for number in value]


def _each(name: str, value: Any, axes: int) -> list[int]:
    """A number for each spatial axis, from one number or as many."""
    return _numbers(name, value, {axes}) if isinstance(value, _LISTS) else [whole(name, value)] * axes


def _of_pool(name: str, value: Any, axes: int) -> list[int]:
    """The same for torch's pools, which take one number in brackets too."""
    numbers = _numbers(name, value, {1, axes}) if isinstance(value, _LISTS) else [whole(name, value)]
    return numbers * axes if len(numbers) == 1 else numbers


def _flag(name: str, value: Any) -> bool:
    """A bool, of Python's or numpy's, or 0 or 1."""
    if isinstance(value, (int, np.bool_)) and value in (0, 1):
        return bool(value)
    raise TypeError(f"{name} is of type {type_name(value)}, expected bool")


def _batched(taken_x: tuple[tuple[Any, str], Give], what: str, axes: int) -> tuple[tuple[Any, str], Give]:
    """A tensor with N and C, and what turns a result into x's kind. torch leaves N out; then so does the result."""
    (array, name), give = taken_x
    if array.ndim == axes + 2:
        return (array, name), give
    if array.ndim != axes + 1:
        raise PlanError(f"{what} has {array.ndim} axes, expected {axes + 1} or {axes + 2}: N, which may be left out, C and {axes}")
    if isinstance(array, DeviceTensor):
        raise PlanError(f"{what}, a DeviceTensor of {array.ndim} axes, lacks N: upload it with the shape (1, C, ..)")
    return (array[None], name), lambda y: give(y[0])


def _pool(
    operation: str, tensor: tuple[Any, str], give: Give, return_indices: bool, device: Gpu | None, keywords: dict[str, Any]
) -> Any:
    indices = "int64" if _flag("return_indices", return_indices) else None
    results = _in_torchs_words(_native.pool, operation, "pytorch", keywords, indices, device, tensor)
    given = [give(result) for result in results]
    return (given[0], given[1]) if indices else given[0]


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
    tensor, give = _batched(taken(x, "input"), "input", axes)
    # torch takes empty brackets for a stride that is left out.
    given_stride = stride is not None and not (isinstance(stride, _LISTS) and len(stride) == 0)
    keywords = {
        "kernel_shape": _of_pool("kernel_size", kernel_size, axes),
        "strides": _of_pool("stride", stride, axes) if given_stride else None,
        "pads": _of_pool("padding", padding, axes) * 2,
        "dilations": _of_pool("dilation", dilation, axes),
        "ceil_mode": int(_flag("ceil_mode", ceil_mode)),
    }
    return _pool("max_pool", tensor, give, return_indices, resolve(device, x, "input"), keywords)


def _adaptive(axes: int, x: Any, output_size: Any, return_indices: bool, device: Device) -> Any:
    tensor, give = _batched(taken(x, "input"), "input", axes)
    sizes = output_size if isinstance(output_size, _LISTS) else [output_size] * axes
    if len(sizes) == axes:
        sizes = [extent if size is None else size for size, extent in zip(sizes, tensor[0].shape[2:])]
    keywords = {"output_size": _numbers("output_size", sizes, {axes})}
    return _pool("adaptive_max_pool", tensor, give, return_indices, resolve(device, x, "input"), keywords)


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
    taken_x, taken_indices = taken(x, "input"), taken(indices, "indices")
    shape, shape_of_indices = (list(array.shape) for (array, _), _ in (taken_x, taken_indices))
    if shape != shape_of_indices:
        raise PlanError(f"indices has the shape {shape_of_indices}, but input has {shape}")
    tensor, give = _batched(taken_x, "input", axes)
    keywords: dict[str, Any] = {
        "kernel_shape": _each("kernel_size", kernel_size, axes),
        "strides": None if stride is None else _each("stride", stride, axes),
        "pads": _each("padding", padding, axes) * 2,
    }
    if output_size is not None:
        sizes = _numbers("output_size", output_size, {axes, axes + 2})
        keywords["output_shape"] = [*tensor[0].shape[:2], *sizes[-axes:]]
    positions, _ = _batched(taken_indices, "indices", axes)
    on = resolve(device, x, "input")
    return give(_in_torchs_words(_native.unpool, "pytorch", keywords, on, tensor, positions))


@overload
def max_pool1d(
    input: T,
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
    input: T,
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
    input: Any,
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

    `input` has the shape (N, C, L) or (C, L). With `return_indices` the result is a pair, Y and int64 indices that
    count through each plane. Raises PlanError with the numbers that do not fit, TypeError, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> y, indices = wp.max_pool1d(np.array([[[3, 1, 2, 9]]], np.float32), 2, return_indices=True, device="cpu")
    >>> y, indices
    (array([[[3., 9.]]], dtype=float32), array([[[0, 3]]]))
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_unpool1d(
    input: T,
    indices: object,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
    *,
    device: Device = None,
) -> T:
    """The values of `input` at the positions that `indices` name, zeros elsewhere, as torch.nn.functional.max_unpool1d has it.

    `input` and `indices` have the shape (N, C, L) or (C, L); indices are int32 or int64 and count
    through each plane of the result. `output_size` has the spatial extents, with or without two before them that are not read, as
    torch has it; unlike torch's they may be any size. Of equal indices the last one wins. Raises as `max_pool1d`, and IndexError for
    indices outside their plane.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.max_unpool1d(np.array([[[3.0, 9.0]]]), np.array([[[0, 3]]]), 2, device="cpu")
    array([[[3., 0., 0., 9.]]])
    """
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size, device)  # type: ignore[no-any-return]


@overload
def adaptive_max_pool1d(
    input: T, output_size: int | None | Sequence[int | None], return_indices: Literal[False] = ..., *, device: Device = ...
) -> T: ...
@overload
def adaptive_max_pool1d(
    input: T, output_size: int | None | Sequence[int | None], return_indices: Literal[True], *, device: Device = ...
) -> tuple[T, T]: ...
def adaptive_max_pool1d(
    input: Any, output_size: int | None | Sequence[int | None], return_indices: bool = False, *, device: Device = None
) -> Any:
    """The maxima of as many windows as `output_size` says, as torch.nn.functional.adaptive_max_pool1d computes them.

    `input` has the shape (N, C, L) or (C, L). An extent of None keeps that of `input`. With `return_indices` the result
    is a pair, Y and int64 indices that count through each plane. Raises as `max_pool1d`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.adaptive_max_pool1d(np.array([[[1.0, 4.0, 2.0, 3.0, 0.0]]]), 2, device="cpu")
    array([[[4., 3.]]])
    """
    return _adaptive(1, input, output_size, return_indices, device)


@overload
def max_pool2d(
    input: T,
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
    input: T,
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
    input: Any,
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

    `input` has the shape (N, C, H, W) or (C, H, W). With `return_indices` the result is a pair, Y and int64 indices that
    count through each plane. Raises PlanError with the numbers that do not fit, TypeError, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> wp.max_pool2d(x, 2, device="cpu")
    array([[[[ 5.,  7.],
             [13., 15.]]]], dtype=float32)
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_unpool2d(
    input: T,
    indices: object,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
    *,
    device: Device = None,
) -> T:
    """The values of `input` at the positions that `indices` name, zeros elsewhere, as torch.nn.functional.max_unpool2d has it.

    `input` and `indices` have the shape (N, C, H, W) or (C, H, W); indices are int32 or int64 and count
    through each plane of the result. `output_size` has the spatial extents, with or without two before them that are not read, as
    torch has it; unlike torch's they may be any size. Of equal indices the last one wins. Raises as `max_pool2d`, and IndexError for
    indices outside their plane.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.max_unpool2d(np.array([[[[5.0]]]]), np.array([[[[2]]]]), 2, device="cpu")
    array([[[[0., 0.],
             [5., 0.]]]])
    """
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size, device)  # type: ignore[no-any-return]


@overload
def adaptive_max_pool2d(
    input: T, output_size: int | None | Sequence[int | None], return_indices: Literal[False] = ..., *, device: Device = ...
) -> T: ...
@overload
def adaptive_max_pool2d(
    input: T, output_size: int | None | Sequence[int | None], return_indices: Literal[True], *, device: Device = ...
) -> tuple[T, T]: ...
def adaptive_max_pool2d(
    input: Any, output_size: int | None | Sequence[int | None], return_indices: bool = False, *, device: Device = None
) -> Any:
    """The maxima of as many windows as `output_size` says, as torch.nn.functional.adaptive_max_pool2d computes them.

    `input` has the shape (N, C, H, W) or (C, H, W). An extent of None keeps that of `input`. With `return_indices` the result
    is a pair, Y and int64 indices that count through each plane. Raises as `max_pool2d`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    >>> wp.adaptive_max_pool2d(x, (1, 2), device="cpu")
    array([[[[13., 15.]]]], dtype=float32)
    """
    return _adaptive(2, input, output_size, return_indices, device)


@overload
def max_pool3d(
    input: T,
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
    input: T,
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
    input: Any,
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

    `input` has the shape (N, C, D, H, W) or (C, D, H, W). With `return_indices` the result is a pair, Y and int64 indices that
    count through each plane. Raises PlanError with the numbers that do not fit, TypeError, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    >>> wp.max_pool3d(x, 2, return_indices=True, device="cpu")
    (array([[[[[7.]]]]], dtype=float32), array([[[[[7]]]]]))
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices, device)


def max_unpool3d(
    input: T,
    indices: object,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    output_size: Sequence[int] | None = None,
    *,
    device: Device = None,
) -> T:
    """The values of `input` at the positions that `indices` name, zeros elsewhere, as torch.nn.functional.max_unpool3d has it.

    `input` and `indices` have the shape (N, C, D, H, W) or (C, D, H, W); indices are int32 or int64 and count
    through each plane of the result. `output_size` has the spatial extents, with or without two before them that are not read, as
    torch has it; unlike torch's they may be any size. Of equal indices the last one wins. Raises as `max_pool3d`, and IndexError for
    indices outside their plane.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.max_unpool3d(np.ones((1, 1, 1, 1, 1)), np.array([[[[[5]]]]]), 2, device="cpu").ravel()
    array([0., 0., 0., 0., 0., 1., 0., 0.])
    """
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size, device)  # type: ignore[no-any-return]


@overload
def adaptive_max_pool3d(
    input: T, output_size: int | None | Sequence[int | None], return_indices: Literal[False] = ..., *, device: Device = ...
) -> T: ...
@overload
def adaptive_max_pool3d(
    input: T, output_size: int | None | Sequence[int | None], return_indices: Literal[True], *, device: Device = ...
) -> tuple[T, T]: ...
def adaptive_max_pool3d(
    input: Any, output_size: int | None | Sequence[int | None], return_indices: bool = False, *, device: Device = None
) -> Any:
    """The maxima of as many windows as `output_size` says, as torch.nn.functional.adaptive_max_pool3d computes them.

    `input` has the shape (N, C, D, H, W) or (C, D, H, W). An extent of None keeps that of `input`. With `return_indices` the result
    is a pair, Y and int64 indices that count through each plane. Raises as `max_pool3d`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.arange(8, dtype=np.float32).reshape(1, 1, 2, 2, 2)
    >>> wp.adaptive_max_pool3d(x, 1, device="cpu").ravel()
    array([7.], dtype=float32)
    """
    return _adaptive(3, input, output_size, return_indices, device)

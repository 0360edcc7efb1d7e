"""The operators in ONNX's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, overload

from . import _native
from ._arrays import taken, type_name
from ._devices import Device, resolve

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
IndexType = Literal["int32", "int64"]
Layout = Literal["NCHW", "NHWC"]
Ints = Sequence[int]
NanPolicy = Literal["seed_first", "propagate_last", "seed_lowest", "ignore"]
EmptyValue = Literal["neg_inf", "lowest_finite", "lowest_widened", "nan"]


class PoolOptions(TypedDict, total=False):
    """The options that all pools have."""

    layout: Layout | None
    index_layout: Layout | None
    flatten: Literal["tensor", "batch", "plane"] | None
    index_order: Literal["row_major", "column_major"] | None
    nan_policy: NanPolicy | None
    empty_value: EmptyValue | None
    empty_index: Literal["minus_one", "ort_underflow", "clamped_start", "unit_base"] | None


class MaxPoolOptions(PoolOptions, total=False):
    """The attributes of ONNX MaxPool but for kernel_shape, and the options of `max_pool`."""

    strides: Ints | None
    dilations: Ints | None
    pads: Ints | None
    auto_pad: Literal["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"] | None
    ceil_mode: int | None
    storage_order: int | None
    activation: str | None
    activation_params: Sequence[float] | None
    ceil_rule: Literal["floor", "ceil_drop", "ceil_literal"] | None
    same_padding: Literal["spec_clamped", "ort_undilated"] | None
    size_rounding: Literal["floor", "trunc", "floor_positive"] | None
    pads_limit: Literal["none", "ort", "torch"] | None


class InverseOptions(TypedDict, total=False):
    """The options that an unpool has beside those that its pool determines."""

    duplicates: Literal["last_wins", "any"] | None
    out_of_bounds: Literal["error", "skip"] | None
    outside_window: Literal["scatter", "error", "skip"] | None
    activation: str | None
    activation_params: Sequence[float] | None


class MaxUnpoolOptions(InverseOptions, total=False):
    """The attributes of ONNX MaxUnpool but for kernel_shape, and the options of `max_unpool`."""

    strides: Ints | None
    pads: Ints | None
    output_shape: Ints | None
    layout: Layout | None
    index_layout: Layout | None
    flatten: Literal["tensor", "batch", "plane"] | None
    index_order: Literal["row_major", "column_major"] | None
    unpool_space: Literal["inferred_top_left", "output_shape"] | None
    unpool_min_size: Literal["per_axis", "element_count", "none"] | None


def _named(what: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The attributes and options of an argument that has them by their names."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is of type {type_name(given)}, expected a dict of attributes and options")
    return dict(given)


def pool(
    operator: str,
    x: Any,
    preset: str,
    indices: str | None,
    device: Device,
    keywords: Mapping[str, object],
) -> Any:
    """Y, or Y and Indices, of a pool of any operator."""
    tensor, give = taken(x, "x")
    results = _native.pool(operator, preset, dict(keywords), indices, resolve(device, x, "x"), tensor)
    return give(results[0]) if indices is None else (give(results[0]), give(results[1]))


@overload
def max_pool(
    x: T,
    *,
    kernel_shape: Ints,
    preset: str = ...,
    indices: None = ...,
    device: Device = ...,
    **attributes: Unpack[MaxPoolOptions],
) -> T: ...
@overload
def max_pool(
    x: T,
    *,
    kernel_shape: Ints,
    preset: str = ...,
    indices: IndexType,
    device: Device = ...,
    **attributes: Unpack[MaxPoolOptions],
) -> tuple[T, T]: ...
def max_pool(
    x: Any,
    *,
    kernel_shape: Ints,
    preset: str = "onnx",
    indices: IndexType | None = None,
    device: Device = None,
    **attributes: Any,
) -> Any:
    """The maxima of sliding windows, and with `indices` where they are (ONNX MaxPool, opset 1 to 22).

    `x` has the shape (N, C, spatial extents), with one to ten spatial axes, or (N, spatial extents, C) with `layout="NHWC"`, and
    one of the twelve element types. Y has its type; Indices is "int32" or "int64" as `indices` says.

    Attributes are ONNX's: `strides`, `dilations`, `pads` (all begins, then all ends), `auto_pad`, `ceil_mode`, `storage_order`,
    and `activation` with `activation_params`, as onnxruntime fuses them. Options, each a name: `layout`, `index_layout`, `flatten`,
    `index_order`, `nan_policy`, `ceil_rule`, `same_padding`, `size_rounding`, `empty_value`, `empty_index`, `pads_limit`. `preset`
    sets the options to what a runtime does: "onnx", "onnxruntime", "onnxruntime_nhwc", "openvino", "pytorch", "tensorflow". With
    "openvino" `ceil_mode=1` is its rounding type "ceil", to which it maps that attribute of ONNX models (`ceil_rule="ceil_literal"`);
    `ceil_rule="ceil_drop"` is "ceil_torch". What is None counts as not given. With `nan_policy="ignore"` a NaN is no element, as
    pandas and xarray skip it, and `empty_value="nan"` is their NaN where a window has no other.

    Raises PlanError with the numbers that do not fit, TypeError for types, MemoryError and DeviceError.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.array([[[[1, 5, 2, 0], [4, 3, 7, 6]]]], np.float32)
    >>> y, indices = wp.max_pool(x, kernel_shape=[2, 2], strides=[2, 2], indices="int64", device="cpu")
    >>> y, indices
    (array([[[[5., 7.]]]], dtype=float32), array([[[[1, 6]]]]))
    >>> wp.max_pool(x, kernel_shape=[4, 4], device="cpu")
    Traceback (most recent call last):
    wgpu_pooling.PlanError: axis 0: the effective kernel 4 exceeds the padded input 2
    """
    return pool("max_pool", x, preset, indices, device, {**attributes, "kernel_shape": kernel_shape})


@overload
def global_max_pool(
    x: T, *, preset: str = ..., indices: None = ..., device: Device = ..., **options: Unpack[PoolOptions]
) -> T: ...
@overload
def global_max_pool(
    x: T, *, preset: str = ..., indices: IndexType, device: Device = ..., **options: Unpack[PoolOptions]
) -> tuple[T, T]: ...
def global_max_pool(
    x: Any, *, preset: str = "onnx", indices: IndexType | None = None, device: Device = None, **options: Any
) -> Any:
    """The maximum of each plane (ONNX GlobalMaxPool), and with `indices` where it is.

    `x` is as for `max_pool`; Y has the extent 1 on each spatial axis. Options: `layout`, `index_layout`, `flatten`, `index_order`,
    `nan_policy`, `empty_value`, `empty_index`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.global_max_pool(np.array([[[1, 9, 2], [4, 3, 8]]], np.uint8), device="cpu")
    array([[[9],
            [8]]], dtype=uint8)
    """
    return pool("global_max_pool", x, preset, indices, device, options)


@overload
def adaptive_max_pool(
    x: T,
    output_size: Ints,
    *,
    preset: str = ...,
    indices: None = ...,
    device: Device = ...,
    **options: Unpack[PoolOptions],
) -> T: ...
@overload
def adaptive_max_pool(
    x: T,
    output_size: Ints,
    *,
    preset: str = ...,
    indices: IndexType,
    device: Device = ...,
    **options: Unpack[PoolOptions],
) -> tuple[T, T]: ...
def adaptive_max_pool(
    x: Any,
    output_size: Ints,
    *,
    preset: str = "openvino",
    indices: IndexType | None = None,
    device: Device = None,
    **options: Any,
) -> Any:
    """The maxima of as many windows as `output_size` says (OpenVINO AdaptiveMaxPool-8), and with `indices` where they are.

    `output_size` has an extent for each spatial axis. `preset` is "openvino" or "pytorch". Options: `layout`, `index_layout`,
    `flatten` ("plane" by default), `index_order`, `nan_policy`, `empty_value`, `empty_index`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.array([[[1, 4, 2, 3, 0]]], np.float32)
    >>> wp.adaptive_max_pool(x, [2], indices="int32", device="cpu")
    (array([[[4., 3.]]], dtype=float32), array([[[1, 3]]], dtype=int32))
    """
    return pool("adaptive_max_pool", x, preset, indices, device, {**options, "output_size": output_size})


@overload
def min_pool(
    x: T,
    *,
    kernel_shape: Ints,
    preset: str = ...,
    indices: None = ...,
    device: Device = ...,
    **attributes: Unpack[MaxPoolOptions],
) -> T: ...
@overload
def min_pool(
    x: T,
    *,
    kernel_shape: Ints,
    preset: str = ...,
    indices: IndexType,
    device: Device = ...,
    **attributes: Unpack[MaxPoolOptions],
) -> tuple[T, T]: ...
def min_pool(
    x: Any,
    *,
    kernel_shape: Ints,
    preset: str = "onnx",
    indices: IndexType | None = None,
    device: Device = None,
    **attributes: Any,
) -> Any:
    """The minima of sliding windows, and with `indices` where they are.

    Arguments are those of `max_pool`. The order of elements is reversed: of equal elements the first one wins, NaN is ranked by
    `nan_policy` as among maxima, and `empty_value` is mirrored but for "nan": an empty window gives inf, integers their maximum.
    `max_unpool` takes the indices. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.array([[[[1, 5, 2, 0], [4, 3, 7, 6]]]], np.float32)
    >>> wp.min_pool(x, kernel_shape=[2, 2], strides=[2, 2], indices="int64", device="cpu")
    (array([[[[1., 0.]]]], dtype=float32), array([[[[0, 3]]]]))
    """
    return pool("min_pool", x, preset, indices, device, {**attributes, "kernel_shape": kernel_shape})


@overload
def global_min_pool(
    x: T, *, preset: str = ..., indices: None = ..., device: Device = ..., **options: Unpack[PoolOptions]
) -> T: ...
@overload
def global_min_pool(
    x: T, *, preset: str = ..., indices: IndexType, device: Device = ..., **options: Unpack[PoolOptions]
) -> tuple[T, T]: ...
def global_min_pool(
    x: Any, *, preset: str = "onnx", indices: IndexType | None = None, device: Device = None, **options: Any
) -> Any:
    """The minimum of each plane, and with `indices` where it is. Arguments are those of `global_max_pool`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.global_min_pool(np.array([[[1, 9, 2], [4, 3, 8]]], np.uint8), device="cpu")
    array([[[1],
            [3]]], dtype=uint8)
    """
    return pool("global_min_pool", x, preset, indices, device, options)


@overload
def adaptive_min_pool(
    x: T,
    output_size: Ints,
    *,
    preset: str = ...,
    indices: None = ...,
    device: Device = ...,
    **options: Unpack[PoolOptions],
) -> T: ...
@overload
def adaptive_min_pool(
    x: T,
    output_size: Ints,
    *,
    preset: str = ...,
    indices: IndexType,
    device: Device = ...,
    **options: Unpack[PoolOptions],
) -> tuple[T, T]: ...
def adaptive_min_pool(
    x: Any,
    output_size: Ints,
    *,
    preset: str = "openvino",
    indices: IndexType | None = None,
    device: Device = None,
    **options: Any,
) -> Any:
    """The minima of as many windows as `output_size` says, and with `indices` where they are. Arguments are those of
    `adaptive_max_pool`. Raises as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.adaptive_min_pool(np.array([[[1, 4, 2, 3, 0]]], np.float32), [2], indices="int32", device="cpu")
    (array([[[1., 0.]]], dtype=float32), array([[[0, 4]]], dtype=int32))
    """
    return pool("adaptive_min_pool", x, preset, indices, device, {**options, "output_size": output_size})


def max_unpool(
    x: T,
    indices: object,
    *,
    kernel_shape: Ints,
    preset: str = "onnx",
    device: Device = None,
    **attributes: Unpack[MaxUnpoolOptions],
) -> T:
    """The values of `x` at the positions that `indices` name, zeros elsewhere (ONNX MaxUnpool, opset 9, 11 and 22).

    `x` is as for `max_pool`, and `indices` has the same shape, in N, C, spatial order unless `index_layout` is "NHWC", and the type
    int32 or int64. To undo a pool, `inverse_max_pool` takes everything from the pool.

    Attributes: `strides`, `pads`, `output_shape` (N, C, then the spatial extents), `activation`, `activation_params`. Options:
    `layout`, `index_layout`, `flatten`, `index_order`, `unpool_space`, `unpool_min_size`, `duplicates`, `out_of_bounds`,
    `outside_window`. `preset` is "onnx", "onnx_after_1_23", "onnxruntime", "onnxruntime_nhwc" or "pytorch".

    Raises as `max_pool`, and IndexError for indices outside their range, with the first one's position and value.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x, indices = np.array([[[5.0, 7.0]]], np.float32), np.array([[[1, 2]]])
    >>> wp.max_unpool(x, indices, kernel_shape=[2], strides=[2], device="cpu")
    array([[[0., 5., 7., 0.]]], dtype=float32)
    >>> wp.max_unpool(x, indices + 9, kernel_shape=[2], strides=[2], device="cpu")
    Traceback (most recent call last):
    IndexError: indices[0] is 10, outside the valid range [0, 4); 2 such indices in all
    """
    tensor, give = taken(x, "x")
    keywords = {**attributes, "kernel_shape": kernel_shape}
    of_indices = taken(indices, "indices")[0]
    return give(_native.unpool(preset, keywords, resolve(device, x, "x"), tensor, of_indices))  # type: ignore[no-any-return]


def inverse_max_pool(
    x: T,
    indices: object,
    input_shape: Ints,
    *,
    pool: Mapping[str, object],
    preset: str | None = None,
    device: Device = None,
    **options: Unpack[InverseOptions],
) -> T:
    """The maxima `x` of a pool back at their positions, zeros elsewhere.

    `pool` has the attributes and options that `max_pool` was called with, or for an adaptive pool its `output_size` and options;
    `preset` is that call's too. `input_shape` is the shape of the pool's input, and that of the result. The index -1 of an empty
    window is skipped; with `nan_policy="seed_lowest"`, so is the index of a plane's first element where the window lacks that
    element, which says that nothing won. Options: `duplicates`, `out_of_bounds`, `outside_window`, `activation`, `activation_params`.

    Raises as `max_unpool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> x = np.array([[[1, 9, 2, 3]]], np.uint8)
    >>> pool = dict(kernel_shape=[2], dilations=[2])
    >>> y, indices = wp.max_pool(x, indices="int64", device="cpu", **pool)
    >>> wp.inverse_max_pool(y, indices, x.shape, pool=pool, device="cpu")
    array([[[0, 9, 2, 0]]], dtype=uint8)
    """
    tensor, give = taken(x, "x")
    keywords = _named("pool", pool)
    operator, default = ("adaptive_max_pool", "openvino") if "output_size" in keywords else ("max_pool", "onnx")
    preset = default if preset is None else preset
    device_of_call = resolve(device, x, "x")
    of_indices = taken(indices, "indices")[0]
    y = _native.inverse(operator, preset, keywords, dict(options), input_shape, device_of_call, tensor, of_indices)
    return give(y)  # type: ignore[no-any-return]


class IndexConvention(TypedDict, total=False):
    """How indices count: their range, the order of the spatial axes, and their layout."""

    flatten: Literal["tensor", "batch", "plane"]
    index_order: Literal["row_major", "column_major"]
    index_layout: Layout


def convert_indices(
    indices: T,
    shape: Ints,
    source: IndexConvention,
    target: IndexConvention,
    *,
    to: IndexType | None = None,
    device: Device = None,
) -> T:
    """Indices of one convention in another one, for example ONNX's of the whole tensor as torch's of a plane.

    `shape` is that of the tensor whose elements the indices count: N, C, then the spatial extents. A convention that leaves
    something out has ONNX's: `flatten` "tensor", `index_order` "row_major", `index_layout` "NCHW". The result has the type `to`, or
    that of `indices`. -1 stays -1.

    Raises IndexError for indices outside their range or in another plane than their own, and otherwise as `max_pool`.

    >>> import numpy as np, wgpu_pooling as wp
    >>> wp.convert_indices(np.array([[[1, 3], [4, 7]]]), [1, 2, 4], {}, {"flatten": "plane"}, device="cpu")
    array([[[1, 3],
            [0, 3]]])
    """
    tensor, give = taken(indices, "indices")
    on = resolve(device, indices, "indices")
    return give(_native.convert(shape, _named("source", source), _named("target", target), to, on, tensor))  # type: ignore[no-any-return]

"""Tensors of numpy and other libraries as numpy arrays without a copy, and results as the kind that came in."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import PlanError
from ._native import DeviceTensor

Give = Callable[[Any], Any]


class _Refused(Exception):
    """What is said of a tensor that is not taken."""


# The element types by numpy's kind and size. bfloat16 is no type of numpy's own: its kind is that of raw bytes.
_NAMES = {
    ("f", 2): "f16",
    ("f", 4): "f32",
    ("f", 8): "f64",
    ("i", 1): "i8",
    ("i", 2): "i16",
    ("i", 4): "i32",
    ("i", 8): "i64",
    ("u", 1): "u8",
    ("u", 2): "u16",
    ("u", 4): "u32",
    ("u", 8): "u64",
}
_EXPECTED = (
    "expected one of float16, float32, float64, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64"
)
# DLPack's device types whose memory the CPU can read: the CPU itself, and pinned host memory of CUDA and ROCm.
_HOST_DEVICES = (1, 3, 11)


def _same(y: Any) -> Any:
    return y


def _name(dtype: np.dtype[Any], what: str) -> str:
    name = _NAMES.get((dtype.kind, dtype.itemsize))
    if name is None:
        if dtype.name == "bfloat16":
            return "bf16"
        raise TypeError(f"{what} has elements of type {dtype.name}, {_EXPECTED}")
    return name


def type_name(x: object) -> str:
    """The name of x's type with its module, but for the types that are built in."""
    kind = type(x)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def whole(name: str, number: Any) -> int:
    """A whole number, of Python's or of another library. torch takes no bool for one, and neither do functions here."""
    if type(number) is int:
        return number
    try:
        if not isinstance(number, bool):
            return operator.index(number)
    except Exception:
        pass
    raise TypeError(f"{name} is of type {type_name(number)}, expected whole numbers")


def taken(x: Any, what: str) -> tuple[tuple[Any, str], Give]:
    """A tensor for the native calls with the short name of its type, and what turns a result into x's kind."""
    if type(x) is np.ndarray:
        return (_dense(x), _name(x.dtype, what)), _same
    if type(x) is DeviceTensor:
        return (x, ""), _same
    try:
        array, name, give = _foreign(x)
        array = array.view(np.ndarray)
    except _Refused as refused:
        raise TypeError(f"{what} {refused}") from None
    except MemoryError:
        raise
    except Exception as error:
        raise TypeError(f"{what} is of type {type_name(x)} and gives no array: {type_name(error)}: {error}") from error
    return (_dense(array), name or _name(array.dtype, what)), give


def dense(x: Any, what: str) -> tuple[Any, str]:
    """The same for an upload, which gives nothing back."""
    if isinstance(x, DeviceTensor):
        raise TypeError(f"{what} is on a device already")
    return taken(x, what)[0]


def _dense(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    # ascontiguousarray makes an axis where there is none, and a plan is to say that there are too few.
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def _is(x: Any, module: str, *names: str) -> bool:
    """Whether x is of a class of a library, which is imported then."""
    library = sys.modules.get(module)
    return library is not None and isinstance(x, tuple(getattr(library, name) for name in names))


def _foreign(x: Any) -> tuple[np.ndarray[Any, Any], str | None, Give]:
    """An array over x's memory, the short name of its type if numpy does not have it, and the way back."""
    if isinstance(x, np.ma.MaskedArray):
        raise _Refused("is a masked array, and no pool knows masks: fill it first")
    if isinstance(x, np.ndarray):
        return x, None, _same
    if _is(x, "torch", "Tensor"):
        return _from_torch(x)
    if _is(x, "jax", "Array"):
        return np.asarray(x), None, _to_jax
    if _is(x, "pyarrow", "FixedShapeTensorArray"):
        if x.null_count or x.storage.flatten().null_count:
            raise _Refused("has nulls, and no pool knows them: fill them first")
        return x.to_numpy_ndarray(), None, lambda y: _to_rows(type(x), y)
    if _is(x, "pyarrow", "Tensor"):
        return x.to_numpy(), None, type(x).from_numpy
    if hasattr(x, "__dlpack__"):
        device = int(x.__dlpack_device__()[0])
        if device not in _HOST_DEVICES:
            raise _Refused(f"is in the memory of a device (DLPack device type {device}): copy it to the host")
        return np.from_dlpack(x), None, _same
    if hasattr(x, "__array_interface__") or hasattr(x, "__array__"):
        return np.asarray(x), None, _same
    raise _Refused(f"is of type {type_name(x)}, expected an array of numpy, torch, jax or pyarrow")


def _from_torch(x: Any) -> tuple[np.ndarray[Any, Any], str | None, Give]:
    import torch

    if x.requires_grad:
        raise _Refused("requires a gradient, which this package does not compute: pass its detach()")
    if x.device.type != "cpu":
        raise _Refused(f"is on the device {x.device}: pass its cpu()")
    if x.layout != torch.strided or x.is_nested:
        raise _Refused(f"is {'nested' if x.is_nested else x.layout}, expected a dense tensor")
    if x.numel() and x.data_ptr() == 0:
        raise _Refused("has no memory: it stands for another tensor, or its storage was freed")
    if x.dtype == torch.bfloat16:
        return x.view(torch.uint16).numpy(), "bf16", _to_torch_bfloat16
    return x.resolve_neg().numpy(), None, torch.from_numpy


def _to_torch_bfloat16(y: np.ndarray[Any, Any]) -> Any:
    """Y comes as words of 16 bits, Indices as they are."""
    import torch

    tensor = torch.from_numpy(y)
    return tensor.view(torch.bfloat16) if y.dtype == np.uint16 else tensor


def _to_jax(y: np.ndarray[Any, Any]) -> Any:
    import jax

    return jax.numpy.asarray(y)


def _to_rows(kind: Any, y: np.ndarray[Any, Any]) -> Any:
    if y.size == 0:
        raise PlanError(f"the result has the shape {y.shape}, and a {kind.__name__} of pyarrow has elements")
    return kind.from_numpy_ndarray(y)

"""Where calls compute: a Gpu or the CPU."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from typing import Literal, NamedTuple

from . import _native
from ._errors import DeviceError
from ._native import DeviceTensor, Gpu

Device = Gpu | Literal["cpu"] | None


class Adapter(NamedTuple):
    """What `adapters` says of an adapter. `name` and `backend` are what `Gpu` takes."""

    name: str
    backend: str
    kind: str
    driver: str


def adapters() -> list[Adapter]:
    """The adapters of this machine, those of software included (their kind is "software").

    >>> from wgpu_pooling import adapters
    >>> all(adapter.backend in ("vulkan", "metal", "dx12", "gl") for adapter in adapters())
    True
    """
    return [Adapter(*adapter) for adapter in _native.adapters()]


_lock = threading.Lock()
_default: Gpu | Literal["cpu"] | None = None


def _forget() -> None:
    """A forked child opens its own default device. Another thread of the parent may have held the lock."""
    global _lock, _default
    _lock = threading.Lock()
    _default = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def default_device() -> Gpu | Literal["cpu"]:
    """The device of calls that name none: the fastest GPU, or "cpu" if there is none.

    It is opened once in a process, by the first call that needs it, and anew by the first call after a loss of the GPU, which a
    RuntimeWarning says. Without a GPU a RuntimeWarning says why, once. Software adapters, such as Mesa's lavapipe, are slower than
    the CPU backend and count as none, unless WGPU_ADAPTER_NAME names one.

    >>> import warnings, wgpu_pooling
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     device = wgpu_pooling.default_device()
    >>> device == "cpu" or isinstance(device, wgpu_pooling.Gpu)
    True
    """
    global _default
    device = _default
    if device is not None and not _is_lost(device):
        return device
    with _lock:
        lost = _default
        if lost is not None and not _is_lost(lost):
            return lost
        _default = device = _open_default()
    if lost is not None and isinstance(device, Gpu):
        text = f"the default GPU of wgpu_pooling is lost, and was opened anew: {device.name}"
        warnings.warn(text, RuntimeWarning, stacklevel=_level_of_caller())
    return device


def _is_lost(device: Gpu | Literal["cpu"]) -> bool:
    return isinstance(device, Gpu) and device.is_lost


def _open_default() -> Gpu | Literal["cpu"]:
    try:
        gpu = Gpu()
        if gpu.kind != "software" or "WGPU_ADAPTER_NAME" in os.environ:
            return gpu
        why = f"the only adapter is software: {gpu.name}"
    except DeviceError as error:
        why = str(error)
    warnings.warn(f"wgpu_pooling computes on the CPU: {why}", RuntimeWarning, stacklevel=_level_of_caller())
    return "cpu"


def _level_of_caller() -> int:
    """The first frame outside this package, as warnings.warn counts them from where it is called."""
    level, frame = 0, sys._getframe()
    while frame.f_globals.get("__package__") == __package__ and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    return level


def resolve(device: Device, x: object, what: str) -> Gpu | None:
    """The Gpu to compute on, or None for the CPU. A tensor on a Gpu is computed there. `what` is the argument that x is."""
    if isinstance(x, DeviceTensor):
        if device is None or device is x.device:
            return x.device
        raise TypeError(f"{what} is on {x.device!r}, but device is {device!r}")
    if device is None:
        device = default_device()
    if isinstance(device, Gpu):
        return device
    if isinstance(device, str) and device == "cpu":
        return None
    raise TypeError(f'device is {device!r}, expected None, "cpu" or a Gpu')

from typing import Any, Literal, final

import numpy as np

__all__ = ["DeviceTensor", "Gpu", "adapters", "composition", "convert", "inverse", "peaks", "pool", "unpool"]

@final
class DeviceTensor:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> str: ...
    @property
    def layout(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> Gpu: ...
    def numpy(self) -> np.ndarray[Any, Any]: ...
    # It raises TypeError. Types that say so would make the tensor one of numpy's ArrayLike.
    def __array__(self, *_given: object, **_named: object) -> None: ...

@final
class Gpu:
    def __new__(
        cls,
        adapter_name: str | None = None,
        backend: str | None = None,
        *,
        power_preference: Literal["high", "low"] | None = None,
    ) -> Gpu: ...
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def driver(self) -> str: ...
    def upload(self, x: object, layout: str = "NCHW") -> DeviceTensor: ...
    @property
    def is_lost(self) -> bool: ...
    def notify_lost(self, reason: str) -> None: ...
    def trim(self) -> None: ...
    @property
    def idle_bytes(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...

_Tensor = tuple[Any, str]

def adapters() -> list[tuple[str, str, str, str]]: ...
def pool(
    operator: str,
    preset: str,
    keywords: dict[str, Any],
    indices: str | None,
    device: Gpu | None,
    x: _Tensor,
) -> list[Any]: ...
def composition(operator: str, keywords: dict[str, Any], device: Gpu | None, x: _Tensor) -> Any: ...
def peaks(
    operator: str,
    keywords: dict[str, Any],
    wishes: tuple[int | None, str, list[int] | None, int, int | None],
    device: Gpu | None,
    x: _Tensor,
    y: _Tensor | None,
) -> list[Any]: ...
def unpool(preset: str, keywords: dict[str, Any], device: Gpu | None, x: _Tensor, indices: _Tensor) -> Any: ...
def inverse(
    operator: str,
    preset: str,
    keywords: dict[str, Any],
    unpool: dict[str, Any],
    input_shape: object,
    device: Gpu | None,
    x: _Tensor,
    indices: _Tensor,
) -> Any: ...
def convert(
    shape: object,
    source: dict[str, Any],
    target: dict[str, Any],
    to: str | None,
    device: Gpu | None,
    indices: _Tensor,
) -> Any: ...

"""Max pooling with argmax, max unpooling and adaptive max pooling on any GPU and on the CPU, bit-exact with each other.

In the words of torch, with its parameters, its rules and its indices, which count through a plane:

* `max_pool1d`, `max_pool2d`, `max_pool3d`
* `max_unpool1d`, `max_unpool2d`, `max_unpool3d`
* `adaptive_max_pool1d`, `adaptive_max_pool2d`, `adaptive_max_pool3d`

In the words of ONNX, with a preset for each runtime and every option on which runtimes disagree:

* `max_pool`, `global_max_pool`, `adaptive_max_pool`, and `min_pool`, `global_min_pool`, `adaptive_min_pool`
* `dilate`, `erode`, `opening`, `closing`, `gradient`, `top_hat`, `black_hat`, and with scipy's words `grey_dilation`,
  `grey_erosion`
* `local_maxima`, the positions and values of the peaks of maps
* `max_unpool`, `inverse_max_pool`, which undoes a given pool
* `convert_indices`, from one index convention to another

`onnxruntime_library` is the path of a library of custom operators for onnxruntime, and `torch_onnx_translations` lets torch export
adaptive pools as one of them.

Tensors are arrays of numpy, tensors of torch, jax and pyarrow, anything with `__dlpack__`, `__array_interface__` or `__array__`, or a
`DeviceTensor` on a `Gpu`. Arrays are read where they lie if they are C-contiguous and in the machine's byte order, and copied
otherwise; they must not be written by other threads meanwhile. Results are new and of the kind that came in; what is none of the
kinds named gets numpy arrays. Element types are float16, float32, float64, bfloat16 (of ml_dtypes, torch or jax), and the
signed and unsigned integers of 8 to 64 bits.

`device` is a `Gpu`, "cpu", or None for `default_device()`. Calls release the GIL; Ctrl-C stops long ones.

Errors: `PlanError`, a ValueError, for attributes, shapes and options that do not fit; TypeError for types; IndexError for indices
outside their range; MemoryError; `DeviceError` for a Gpu that cannot be opened or used. `PoolingError` is the base of this
package's own.
"""

from ._devices import Adapter, adapters, default_device
from ._errors import DeviceError, PlanError, PoolingError
from ._local_maxima import local_maxima
from ._morphology import (
    black_hat,
    closing,
    dilate,
    erode,
    gradient,
    grey_dilation,
    grey_erosion,
    opening,
    top_hat,
)
from ._native import DeviceTensor, Gpu
from ._onnx import (
    adaptive_max_pool,
    adaptive_min_pool,
    convert_indices,
    global_max_pool,
    global_min_pool,
    inverse_max_pool,
    max_pool,
    max_unpool,
    min_pool,
)
from ._onnxruntime import onnxruntime_library, torch_onnx_translations
from ._torch import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)

__all__ = [
    "Adapter",
    "DeviceError",
    "DeviceTensor",
    "Gpu",
    "PlanError",
    "PoolingError",
    "adapters",
    "adaptive_max_pool",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "adaptive_min_pool",
    "black_hat",
    "closing",
    "convert_indices",
    "default_device",
    "dilate",
    "erode",
    "global_max_pool",
    "global_min_pool",
    "gradient",
    "grey_dilation",
    "grey_erosion",
    "inverse_max_pool",
    "local_maxima",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "min_pool",
    "onnxruntime_library",
    "opening",
    "top_hat",
    "torch_onnx_translations",
]

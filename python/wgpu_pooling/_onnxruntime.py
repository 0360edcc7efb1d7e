"""The operators as custom operators of onnxruntime."""

from . import _native


def onnxruntime_library() -> str:
    """The path that ``onnxruntime.SessionOptions.register_custom_ops_library`` takes.

    It registers MaxPool, MaxUnpool and AdaptiveMaxPool in the domain ``wgpu.pooling``, and MaxPool and MaxUnpool in
    ``com.ms.internal.nhwc``. With the entry ``wgpu_pooling.ai_onnx`` of the session's configuration set to ``1`` before, the MaxPool
    and MaxUnpool nodes of a model as it is are computed here too. ``wgpu_pooling.device`` is ``auto``, ``gpu`` or ``cpu``.

    >>> onnxruntime_library().endswith((".so", ".pyd"))
    True
    """
    path: str = _native.__file__
    return path

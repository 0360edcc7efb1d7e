"""The operators as custom operators of onnxruntime, and models of torch that have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import _native


def onnxruntime_library() -> str:
    """The path that ``onnxruntime.SessionOptions.register_custom_ops_library`` takes.

    It registers MaxPool, MaxUnpool and AdaptiveMaxPool in the domain ``wgpu.pooling``, and MaxPool and MaxUnpool in
    ``com.ms.internal.nhwc``. With the entry ``wgpu_pooling.ai_onnx`` of the session's configuration set to ``1`` before, the MaxPool
    and MaxUnpool nodes of a model as it is are computed here too. ``wgpu_pooling.device`` is ``auto``, ``gpu`` or ``cpu``.

    >>> from wgpu_pooling import onnxruntime_library
    >>> onnxruntime_library().endswith((".so", ".pyd"))
    True
    """
    path: str = _native.__file__
    return path


def torch_onnx_translations() -> dict[Any, Callable[..., Any]]:
    """What ``torch.onnx.export`` takes as ``custom_translation_table`` to write adaptive max pools of any sizes.

    ONNX has no operator for those whose output sizes do not divide the input's. With this table each adaptive max pool becomes a node
    ``AdaptiveMaxPool`` of the domain ``wgpu.pooling`` with torch's conventions, which `onnxruntime_library` computes in onnxruntime. The
    sizes of the outputs are constants of the node: where the model calculates them, torch writes those of the example.

    Raises ImportError without torch (2.6 or newer) and its exporter's packages ``onnx`` and ``onnxscript``. An export raises where a size
    is not known at all.

    ::

        torch.onnx.export(model, (x,), "model.onnx", dynamo=True, custom_translation_table=wp.torch_onnx_translations())
    """
    import torch
    from onnx.defs import OpSchema
    from onnxscript import opset18, values

    floats = ["tensor(float)", "tensor(double)", "tensor(float16)", "tensor(bfloat16)"]
    schema = OpSchema(
        "AdaptiveMaxPool",
        "wgpu.pooling",
        1,
        inputs=[OpSchema.FormalParameter("X", "T")],
        outputs=[OpSchema.FormalParameter("Y", "T"), OpSchema.FormalParameter("Indices", "tensor(int64)")],
        attributes=[
            OpSchema.Attribute("output_size", OpSchema.AttrType.INTS, required=True),
            OpSchema.Attribute("preset", OpSchema.AttrType.STRING, required=False),
        ],
        type_constraints=[("T", floats, "")],
    )
    pool = values.Op(values.Opset("wgpu.pooling", 1), "AdaptiveMaxPool", schema)

    def of_rank(rank: int) -> Callable[..., Any]:
        def translated(x: Any, output_size: Sequence[int]) -> Any:
            sizes = [output_size] * rank if isinstance(output_size, int) else list(output_size)
            if not all(isinstance(size, int) for size in sizes):
                raise ValueError(f"the output_size of an exported adaptive max pool is constant, not {sizes}")
            if len(x.shape) == rank + 2:
                return pool(x, output_size=sizes, preset="pytorch")
            # An image without a batch.
            first: Any = opset18.Constant(value_ints=[0])
            pooled = pool(opset18.Unsqueeze(x, first), output_size=sizes, preset="pytorch")
            return tuple(opset18.Squeeze(output, first) for output in pooled)

        return translated

    ops = torch.ops.aten
    return {
        ops.adaptive_max_pool1d.default: of_rank(1),
        ops.adaptive_max_pool2d.default: of_rank(2),
        ops.adaptive_max_pool3d.default: of_rank(3),
    }

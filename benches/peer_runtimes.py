"""The runtimes that peers.py compares with: each runs a row of the catalogue, gives the seconds of one run and what was
computed. Where outputs can be given they are made once and used again, as ours are; where they cannot, a note says so.
"""

import time

import numpy as np

from peer_inputs import pooled_by_numpy


class Unsupported(Exception):
    """A peer has no such operator, layout or type."""


def one_line(error):
    return " ".join(str(error).split())[:300]


# ---- how long

# Seconds after which a run is not repeated.
PATIENCE = 2


def best_seconds(run, settings, synchronise=None, timer=None):
    """The best time of one run; `run` takes the number of a turn."""

    def measured(begin, count):
        if timer:
            return timer(lambda: [run(turn) for turn in range(begin, begin + count)])
        start = settings.clock()
        for turn in range(begin, begin + count):
            run(turn)
        if synchronise:
            synchronise()
        return settings.clock() - start

    # Allocators and compilers do their work at first use. What takes this long nevertheless is not run again.
    first = measured(0, 1)
    if first > PATIENCE:
        return first
    measured(0, settings.sets)
    count = 1
    while (elapsed := measured(0, count)) < settings.pass_seconds / 4 and count < 1000:
        count *= 4
    count = max(1, min(1000, int(settings.pass_seconds / max(elapsed / count, 1e-9))))
    return min(measured(turn * count, count) / count for turn in range(settings.rounds))


class Settings:
    """How one row is measured: enough sets of inputs to exceed the caches, within what memory there is."""

    def __init__(self, options, input_bytes):
        self.rounds, self.pass_seconds = options.rounds, options.pass_ms * 1e-3
        self.sets = max(1, min(16, -(-(options.cache << 20) // input_bytes), (options.memory << 20) // input_bytes))
        # The CPU time is that of all threads.
        self.clock = time.process_time if options.clock == "cpu" else time.perf_counter


ALLOCATES = "allocates its outputs in each run"


class Torch:
    name = "PyTorch"

    def __init__(self, options, compiled=False):
        import torch

        self.torch, self.compiled = torch, compiled
        self.cuda = torch.cuda.is_available() and options.backend != "cpu"
        if compiled and not self.cuda:
            raise ImportError("torch.compile is compared on CUDA alone, which is not what runs here")
        if options.threads:
            torch.set_num_threads(options.threads)
        where = torch.cuda.get_device_name() if self.cuda else f"CPU, {threads_in_words(torch.get_num_threads())}"
        self.where = f"{torch.__version__} on {where}"

    def timer(self, work):
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3

    def function(self, row):
        """The operator, as a function of its inputs."""
        torch, axes = self.torch, len(row.spatial)
        if row.pads[:axes] != row.pads[axes:]:
            raise Unsupported("pads symmetrically")
        of_rank = lambda name: getattr(torch.nn.functional, f"{name}{axes}d")
        wants = row.indices != "none"
        if row.op == "MaxPool":
            return lambda x: of_rank("max_pool")(
                x, row.kernel, row.strides, row.pads[:axes], row.dilations, return_indices=wants
            )
        if row.op == "GlobalMaxPool" and not wants:
            return lambda x: torch.amax(x, dim=tuple(range(2, 2 + axes)), keepdim=True)
        if row.op in ("GlobalMaxPool", "AdaptiveMaxPool"):
            return lambda x: of_rank("adaptive_max_pool")(x, row.output_size, return_indices=wants)
        return lambda x, indices: of_rank("max_unpool")(
            x, indices, row.kernel, row.strides, row.pads[:axes], output_size=row.spatial
        )

    def function_into(self, row, y, indices):
        """The same, writing its outputs to tensors that are there already; none where PyTorch has no such call. Its pools
        compute indices whether they are asked for or not."""
        aten, axes = self.torch.ops.aten, len(row.spatial)
        if indices is None:
            indices = self.torch.empty_like(y, dtype=self.torch.int64)
        if row.op == "GlobalMaxPool" and row.indices == "none":
            return lambda x: aten.amax.out(x, list(range(2, 2 + axes)), True, out=y)
        if axes not in (2, 3):
            return None
        if row.op == "MaxPool":
            pool = getattr(aten, f"max_pool{axes}d_with_indices").out
            window = (row.kernel, row.strides, row.pads[:axes], row.dilations, False)
            return lambda x: pool(x, *window, out=y, indices=indices)
        if row.op in ("GlobalMaxPool", "AdaptiveMaxPool"):
            pool = getattr(aten, f"adaptive_max_pool{axes}d").out
            return lambda x: pool(x, row.output_size, out=y, indices=indices)
        if axes == 2:
            return lambda x, read: aten.max_unpool2d.out(x, read, row.spatial, out=y)
        window = (row.strides, row.pads[:axes])
        return lambda x, read: aten.max_unpool3d.out(x, read, row.spatial, *window, out=y)

    def tensor(self, row, array):
        tensor = np.ascontiguousarray(np.moveaxis(array, 1, -1)) if row.nhwc else array
        tensor = self.torch.from_numpy(tensor).to("cuda" if self.cuda else "cpu")
        if row.dtype == "bf16" and array.dtype == np.uint16:
            tensor = tensor.view(self.torch.bfloat16)
        return tensor.movedim(-1, 1) if row.nhwc else tensor

    def array(self, row, tensor):
        if row.dtype == "bf16":
            return tensor.cpu().view(self.torch.int16).numpy().view(np.uint16)
        return tensor.cpu().numpy()

    def measure(self, row, options):
        torch, function = self.torch, self.function(row)
        notes = ["writes 64-bit indices"] if row.indices == "i32" and not row.unpools else []
        host = row.unpool_inputs() if row.unpools else (row.x(),)
        settings = Settings(options, sum(array.nbytes for array in host))
        first = [self.tensor(row, array) for array in host]
        sets = [first] + [[tensor.clone() for tensor in first] for _ in range(settings.sets - 1)]
        if self.compiled:
            function = torch.compile(function)
        with torch.inference_mode():
            computed = function(*sets[0])
            y, indices = computed if isinstance(computed, tuple) else (computed, None)
            into = None if self.cuda else self.function_into(row, y, indices)
            if into:
                # What is compared below is what this writes.
                y.zero_()
            elif not self.cuda:
                notes.append(ALLOCATES)
            called = into or function
            run = lambda turn: called(*sets[turn % len(sets)])
            gpu = (torch.cuda.synchronize, self.timer) if self.cuda else ()
            seconds = best_seconds(run, settings, *gpu)
        if indices is not None:
            indices = indices.cpu().numpy()
            if row.op != "AdaptiveMaxPool":
                indices = indices + row.bases(indices.shape)
        if row.unpools and row.random:
            return seconds, None, None, [*notes, "not compared: its writes race where indices repeat"]
        return seconds, self.array(row, y), indices, notes


class OnnxRuntime:
    name = "ONNX Runtime"

    def __init__(self, options):
        import onnx
        import onnxruntime

        self.onnx, self.ort = onnx, onnxruntime
        has_cuda = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
        self.cuda = has_cuda and options.backend != "cpu"
        self.provider = "CUDAExecutionProvider" if self.cuda else "CPUExecutionProvider"
        self.options = onnxruntime.SessionOptions()
        # What it says of models that it does not run is said in its errors.
        self.options.log_severity_level = 4
        self.where = f"{onnxruntime.__version__} by {self.provider}"
        if options.backend == "cpu":
            # Threads that spin while they wait would slow down what runs next.
            self.options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self.options.inter_op_num_threads = 1
        if options.threads:
            self.options.intra_op_num_threads = options.threads
            self.where += f", {threads_in_words(options.threads)}"

    def model(self, row, inputs):
        helper = self.onnx.helper
        types = [self.type(row, array) for array in inputs]
        attributes = {}
        if row.op == "AdaptiveMaxPool":
            raise Unsupported("has no adaptive pooling")
        if row.nhwc:
            raise Unsupported("its NHWC pooling is internal")
        wants = row.indices != "none"
        if row.op == "GlobalMaxPool" and not wants:
            op = "GlobalMaxPool"
        else:
            # A global pool with indices is a pool with one window.
            op = "MaxUnpool" if row.unpools else "MaxPool"
            attributes = {"kernel_shape": row.kernel, "strides": row.strides, "pads": row.pads}
            if op == "MaxPool":
                attributes["dilations"] = row.dilations
        names = ["x", "indices_in", "shape"][: len(inputs)]
        outputs = [helper.make_tensor_value_info("y", types[0], None)]
        if wants and not row.unpools:
            outputs.append(helper.make_tensor_value_info("indices", self.onnx.TensorProto.INT64, None))
        node = helper.make_node(op, names, [output.name for output in outputs], **attributes)
        infos = [helper.make_tensor_value_info(n, t, a.shape) for n, t, a in zip(names, types, inputs)]
        graph = helper.make_graph([node], "row", infos, outputs)
        # Brain floats came late.
        opset, ir_version = (22, 10) if row.dtype == "bf16" else (12, 8)
        opsets = [helper.make_opsetid("", opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)
        return model.SerializeToString(), names, [output.name for output in outputs]

    def type(self, row, array):
        if row.dtype == "bf16" and array.dtype == np.uint16:
            return self.onnx.TensorProto.BFLOAT16
        return self.onnx.helper.np_dtype_to_tensor_dtype(array.dtype)

    def inputs(self, row):
        if not row.unpools:
            return [np.ascontiguousarray(row.x())]
        x, indices = row.unpool_inputs()
        return [x, indices + row.bases(indices.shape), np.array(row.pooled, np.int64)]

    def value(self, row, array, where):
        if row.dtype == "bf16" and array.dtype == np.uint16:
            return self.ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, self.type(row, array))
        return self.ort.OrtValue.ortvalue_from_numpy(array, where, 0)

    def measure(self, row, options):
        host = self.inputs(row)
        model, names, outputs = self.model(row, host)
        try:
            session = self.ort.InferenceSession(model, self.options, providers=[self.provider])
        except Exception as error:
            raise Unsupported(one_line(error)) from error
        settings = Settings(options, sum(array.nbytes for array in host))
        device = "cuda" if self.cuda else "cpu"
        bindings = []
        for _ in range(settings.sets):
            binding = session.io_binding()
            # On the CPU a value is the array's own memory, and each set has one of its own.
            own = host if self.cuda else [array.copy() for array in host]
            for name, array in zip(names, own):
                # The shape of an unpool is looked at on the host.
                where = "cpu" if name == "shape" else device
                binding.bind_ortvalue_input(name, self.value(row, array, where))
            for name in outputs:
                binding.bind_output(name, device)
            # The second run on writes where the first has allocated.
            session.run_with_iobinding(binding)
            for name, value in zip(outputs, binding.get_outputs()):
                binding.bind_ortvalue_output(name, value)
            bindings.append((binding, own))

        run = lambda turn: session.run_with_iobinding(bindings[turn % len(bindings)][0])
        binding, _ = bindings[0]
        seconds = best_seconds(run, settings, binding.synchronize_outputs if self.cuda else None)
        computed = [value.numpy() for value in binding.get_outputs()]
        notes = ["writes 64-bit indices"] if row.indices == "i32" and not row.unpools else []
        return seconds, computed[0], computed[1] if len(computed) > 1 else None, notes


class OpenVino:
    name = "OpenVINO"

    def __init__(self, options):
        import openvino

        self.ov, self.core, self.threads = openvino, openvino.Core(), options.threads
        self.where = f"{openvino.__version__.split('-')[0]} on {self.core.get_property('CPU', 'FULL_DEVICE_NAME')}"
        if self.threads:
            self.where += f", {threads_in_words(self.threads)}"

    def model(self, row, x_shape, x_type):
        import openvino.opset8 as ops

        axes, wants, notes = len(row.spatial), row.indices != "none", []
        parameter = ops.parameter(list(x_shape), x_type)
        if row.op == "AdaptiveMaxPool":
            # 64-bit indices of this operator do not compile.
            node = ops.adaptive_max_pool(parameter, np.array(row.output_size, np.int64), "i32")
            notes = ["writes 32-bit indices"] if wants else []
        elif row.op == "GlobalMaxPool" and not wants:
            node = ops.reduce_max(parameter, np.arange(2, 2 + axes, dtype=np.int64), True)
        else:
            node = ops.max_pool(
                parameter, row.strides, row.dilations, row.pads[:axes], row.pads[axes:], row.kernel, "floor",
                "explicit", "i64" if row.indices == "none" else row.indices, 0,
            )
        results = [node.output(0)] + ([node.output(1)] if wants else [])
        return self.ov.Model(results, [parameter], "row"), notes

    def compiled(self, row, model):
        # Half precision in place of f32, where the machine has it, would be another result.
        precision = row.dtype if row.dtype in ("f16", "bf16") else "f32"
        hints = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"}
        if self.threads:
            hints["INFERENCE_NUM_THREADS"] = self.threads
        try:
            return self.core.compile_model(model, "CPU", hints)
        except Exception as error:
            raise Unsupported(one_line(error)) from error

    def measure(self, row, options):
        if row.unpools:
            raise Unsupported("has no unpooling")
        if row.nhwc:
            raise Unsupported("pools NCHW alone")
        x = np.ascontiguousarray(row.x())
        bf16 = row.dtype == "bf16"
        x_type = self.ov.Type.bf16 if bf16 else self.ov.Type(x.dtype)
        model, notes = self.model(row, x.shape, x_type)
        compiled = self.compiled(row, model)
        request = compiled.create_infer_request()
        settings = Settings(options, x.nbytes)
        sets = []
        for _ in range(settings.sets):
            tensor = self.ov.Tensor(x_type, self.ov.Shape(x.shape))
            tensor.data.view(x.dtype)[:] = x
            sets.append(tensor)
        outputs = [self.ov.Tensor(port.get_element_type(), port.get_shape()) for port in compiled.outputs]
        for number, output in enumerate(outputs):
            request.set_output_tensor(number, output)

        def run(turn):
            request.set_input_tensor(sets[turn % len(sets)])
            request.infer()

        seconds = best_seconds(run, settings)
        y = outputs[0].data.view(x.dtype)
        return seconds, y, outputs[1].data if len(outputs) > 1 else None, notes


class OpenCv:
    name = "OpenCV"

    def __init__(self, options):
        import cv2

        self.cv2 = cv2
        if options.threads:
            cv2.setNumThreads(options.threads)
        self.where = f"{cv2.__version__} on the CPU, {threads_in_words(cv2.getNumThreads())}"

    def measure(self, row, options):
        """A pool whose Y is as large as X is a dilation by the window, plane by plane, with nothing beyond the border."""
        if row.op != "MaxPool" or len(row.spatial) != 2 or row.indices != "none":
            raise Unsupported("dilates pictures, without indices")
        extents = [(kernel - 1) * dilation + 1 for kernel, dilation in zip(row.kernel, row.dilations)]
        centred = [extent // 2 for extent in extents] * 2
        if list(row.strides) != [1, 1] or list(row.pads) != centred or not all(extent % 2 for extent in extents):
            raise Unsupported("dilates with a stride of 1 and centred windows")
        x = row.x()
        if row.dtype not in ("u8", "u16", "i16", "f32", "f64"):
            raise Unsupported(f"does not dilate {row.dtype}")
        window = np.zeros(extents, np.uint8)
        window[:: row.dilations[0], :: row.dilations[1]] = 1
        # Channels-last pictures are dilated whole.
        planes = np.ascontiguousarray(np.moveaxis(x, 1, -1) if row.nhwc else x.reshape(-1, *row.spatial))
        settings = Settings(options, planes.nbytes)
        sets = [planes.copy() for _ in range(settings.sets)]
        y = np.zeros_like(planes)

        def run(turn):
            for source, target in zip(sets[turn % len(sets)], y):
                self.cv2.dilate(source, window, dst=target)

        try:
            run(0)
        except self.cv2.error as error:
            raise Unsupported(one_line(error)) from error
        seconds = best_seconds(run, settings)
        return seconds, np.moveaxis(y, -1, 1) if row.nhwc else y.reshape(x.shape), None, []


class Numpy:
    """No rival: a check of inputs and checksums where nothing else is installed. Only asked for by name."""

    name = "numpy"

    def __init__(self, options):
        self.where = f"{np.__version__}, a check and no rival"

    def measure(self, row, options):
        if row.op == "AdaptiveMaxPool":
            raise Unsupported("not written for adaptive windows")
        if row.unpools:
            x, indices = row.unpool_inputs()

            def run(_):
                y = np.zeros([x.shape[0] * x.shape[1], row.plane], x.dtype)
                planes = np.repeat(np.arange(len(y)), x[0, 0].size)
                # Of repeated indices numpy keeps the last.
                y[planes, indices.reshape(-1)] = x.reshape(-1)
                return y.reshape(row.pooled), None
        else:
            x = row.x()
            run = lambda _: pooled_by_numpy(x, row)
        seconds = best_seconds(run, Settings(options, x.nbytes))
        y, indices = run(0)
        return seconds, y, None if indices is None else indices + row.bases(indices.shape), [ALLOCATES]


def threads_in_words(count):
    return f"{count} thread{'' if count == 1 else 's'}"


PEERS = {
    "torch": Torch,
    "torch.compile": lambda options: Torch(options, compiled=True),
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
    "opencv": OpenCv,
    "numpy": Numpy,
}

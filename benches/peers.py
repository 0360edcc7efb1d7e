#!/usr/bin/env python3
"""Other runtimes on the rows of the roofline, in one run with it: one table of ratios.

    python3 -m venv venv && venv/bin/pip install -r benches/requirements.txt
    venv/bin/python benches/peers.py [--shrink N] [--rows NAME,..] [--roofline PATH]

For each row the roofline runs, then each peer, then the roofline again, and the better of its two times counts. A ratio
is the peer's time over ours: above 1 ours is faster. Peers run where they run best on this machine, on the GPU where
they have CUDA and else on the CPU, and the table says which; ours runs on the adapter that wgpu picks.

Both sides make the same inputs and sum up what they computed, so that a comparison of different things cannot happen
unnoticed: element i of a tensor is splitmix64(i) % 251, seeded with 0, and a checksum is the sum over all elements of
finish(bits + i * STEP), modulo 2^64. Values are always compared. Indices are compared where a convention can be
converted: PyTorch counts by plane, to which the plane's base is added; OpenVINO and ONNX Runtime count like ONNX. Not
compared: what PyTorch's unpool gives where indices repeat, because its threads race, and index tensors of channels-last
data. Where a peer has but one width of index it writes that one, and the table says so: it then moves other bytes than
ours.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit("peers.py needs numpy: pip install -r benches/requirements.txt")

from peer_inputs import DTYPES, Row, checksum, pooled_by_numpy

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT_BY_CARGO = ["cargo", "run", "--release", "--quiet", "--example", "roofline", "--"]


class Unsupported(Exception):
    """A peer has no such operator, layout or type."""


# ---- how long


def best_seconds(run, settings, synchronise=None, timer=None):
    """The best time of one run; `run` takes the number of a turn."""
    run(0)
    if synchronise:
        synchronise()

    def measured(begin, count):
        if timer:
            return timer(lambda: [run(turn) for turn in range(begin, begin + count)])
        start = time.perf_counter()
        for turn in range(begin, begin + count):
            run(turn)
        if synchronise:
            synchronise()
        return time.perf_counter() - start

    # Once over all sets: allocators and compilers do their work at first use.
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


# ---- peers: each makes a function that runs a turn, and one that gives what was computed


class Torch:
    name = "PyTorch"

    def __init__(self, compiled=False):
        import torch

        self.torch, self.compiled = torch, compiled
        self.cuda = torch.cuda.is_available()
        if compiled and not self.cuda:
            raise ImportError("torch.compile is compared on CUDA alone, which PyTorch does not see here")
        where = torch.cuda.get_device_name() if self.cuda else f"CPU, {torch.get_num_threads()} threads"
        self.where = f"{torch.__version__} on {where}"

    def timer(self, work):
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3

    def measure(self, row, options):
        torch, axes = self.torch, len(row.spatial)
        functional = torch.nn.functional
        if row.pads[:axes] != row.pads[axes:]:
            raise Unsupported("pads symmetrically")
        of_rank = lambda name: getattr(functional, f"{name}{axes}d")
        wants = row.indices != "none"
        notes = ["writes 64-bit indices"] if row.indices == "i32" and not row.unpools else []
        if row.op == "MaxPool":
            function = lambda x: of_rank("max_pool")(
                x, row.kernel, row.strides, row.pads[:axes], row.dilations, return_indices=wants
            )
        elif row.op == "GlobalMaxPool" and not wants:
            function = lambda x: torch.amax(x, dim=tuple(range(2, 2 + axes)), keepdim=True)
        elif row.op in ("GlobalMaxPool", "AdaptiveMaxPool"):
            function = lambda x: of_rank("adaptive_max_pool")(x, row.output_size, return_indices=wants)
        else:
            function = lambda x, indices: of_rank("max_unpool")(
                x, indices, row.kernel, row.strides, row.pads[:axes], output_size=row.spatial
            )
        host = row.unpool_inputs() if row.unpools else (row.x(),)
        settings = Settings(options, sum(array.nbytes for array in host))
        device = "cuda" if self.cuda else "cpu"

        def on_device(array):
            if row.nhwc:
                return torch.from_numpy(np.ascontiguousarray(np.moveaxis(array, 1, -1))).to(device).movedim(-1, 1)
            return torch.from_numpy(array).to(device)

        first = [on_device(array) for array in host]
        sets = [first] + [[tensor.clone() for tensor in first] for _ in range(settings.sets - 1)]
        if self.compiled:
            function = torch.compile(function)
        with torch.inference_mode():
            computed = function(*sets[0])
            run = lambda turn: function(*sets[turn % len(sets)])
            if self.cuda:
                seconds = best_seconds(run, settings, torch.cuda.synchronize, self.timer)
            else:
                seconds = best_seconds(run, settings)
        y, indices = computed if isinstance(computed, tuple) else (computed, None)
        if indices is not None:
            indices = indices.cpu().numpy()
            if row.op != "AdaptiveMaxPool":
                indices = indices + row.bases(indices.shape)
        if row.unpools and row.random:
            return seconds, None, None, [*notes, "not compared: its writes race where indices repeat"]
        return seconds, y.cpu().numpy(), indices, notes


class OnnxRuntime:
    name = "ONNX Runtime"

    def __init__(self):
        import onnx
        import onnxruntime

        self.onnx, self.ort = onnx, onnxruntime
        self.cuda = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
        self.provider = "CUDAExecutionProvider" if self.cuda else "CPUExecutionProvider"
        self.where = f"{onnxruntime.__version__} by {self.provider}"

    def model(self, row, inputs):
        helper = self.onnx.helper
        types = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in inputs]
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
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=8)
        return model.SerializeToString(), names, [output.name for output in outputs]

    def measure(self, row, options):
        if row.unpools:
            x, indices = row.unpool_inputs()
            host = [x, indices + row.bases(indices.shape), np.array(row.pooled, np.int64)]
        else:
            host = [np.ascontiguousarray(row.x())]
        model, names, outputs = self.model(row, host)
        try:
            session = self.ort.InferenceSession(model, providers=[self.provider])
        except Exception as error:
            raise Unsupported(one_line(error)) from error
        settings = Settings(options, sum(array.nbytes for array in host))
        device = "cuda" if self.cuda else "cpu"
        bindings = []
        for _ in range(settings.sets):
            binding = session.io_binding()
            for name, array in zip(names, host):
                # The shape of an unpool is looked at on the host.
                where = "cpu" if name == "shape" else device
                binding.bind_ortvalue_input(name, self.ort.OrtValue.ortvalue_from_numpy(array, where, 0))
            for name in outputs:
                binding.bind_output(name, device)
            # The second run on writes where the first has allocated.
            session.run_with_iobinding(binding)
            for name, value in zip(outputs, binding.get_outputs()):
                binding.bind_ortvalue_output(name, value)
            bindings.append(binding)

        run = lambda turn: session.run_with_iobinding(bindings[turn % len(bindings)])
        seconds = best_seconds(run, settings, bindings[0].synchronize_outputs)
        computed = [value.numpy() for value in bindings[0].get_outputs()]
        notes = ["writes 64-bit indices"] if row.indices == "i32" and not row.unpools else []
        return seconds, computed[0], computed[1] if len(computed) > 1 else None, notes


class OpenVino:
    name = "OpenVINO"

    def __init__(self):
        import openvino

        self.ov, self.core = openvino, openvino.Core()
        self.where = f"{openvino.__version__.split('-')[0]} on {self.core.get_property('CPU', 'FULL_DEVICE_NAME')}"

    def measure(self, row, options):
        import openvino.opset8 as ops

        if row.unpools:
            raise Unsupported("has no unpooling")
        if row.nhwc:
            raise Unsupported("pools NCHW alone")
        axes, wants, notes = len(row.spatial), row.indices != "none", []
        x = np.ascontiguousarray(row.x())
        parameter = ops.parameter(list(x.shape), x.dtype)
        if row.op == "AdaptiveMaxPool":
            # 64-bit indices of this operator do not compile.
            node = ops.adaptive_max_pool(parameter, np.array(row.output_size, np.int64), "i32")
            notes = ["writes 32-bit indices"]
        elif row.op == "GlobalMaxPool" and not wants:
            node = ops.reduce_max(parameter, np.arange(2, 2 + axes, dtype=np.int64), True)
        else:
            node = ops.max_pool(
                parameter, row.strides, row.dilations, row.pads[:axes], row.pads[axes:], row.kernel, "floor",
                "explicit", "i64" if row.indices == "none" else row.indices, 0,
            )
        results = [node.output(0)] + ([node.output(1)] if wants else [])
        # Half precision where the machine has it would be another result.
        hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        try:
            model = self.core.compile_model(self.ov.Model(results, [parameter], "row"), "CPU", hints)
            request = model.create_infer_request()
        except Exception as error:
            raise Unsupported(one_line(error)) from error
        settings = Settings(options, x.nbytes)
        sets = [self.ov.Tensor(x.copy(), shared_memory=True) for _ in range(settings.sets)]

        def run(turn):
            request.set_input_tensor(sets[turn % len(sets)])
            request.infer()

        seconds = best_seconds(run, settings)
        computed = [np.array(request.get_output_tensor(number).data) for number in range(len(results))]
        return seconds, computed[0], computed[1] if wants else None, notes


class Numpy:
    """No rival: a check of inputs and checksums where nothing else is installed. Only asked for by name."""

    name = "numpy"

    def __init__(self):
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
        return seconds, y, None if indices is None else indices + row.bases(indices.shape), []


PEERS = {
    "torch": Torch,
    "torch.compile": lambda: Torch(compiled=True),
    "onnxruntime": OnnxRuntime,
    "openvino": OpenVino,
    "numpy": Numpy,
}


# ---- the run


def one_line(error):
    return " ".join(str(error).split())[:300]


def roofline(options, entry, verify):
    """Our figures for one row, on the inputs that peers have."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "row.json")
        with open(path, "w") as file:
            json.dump({"rows": [entry]}, file)
        command = [options.roofline] if options.roofline else list(BUILT_BY_CARGO)
        # Peers are timed by the wall clock, beside which CPU time would not do.
        command += ["--catalogue", path, "--data", "peers", "--selected-only", "--json", "-", "--clock", "device"]
        command += ["--shrink", str(options.shrink), "--rounds", str(options.rounds), "--pass", str(options.pass_ms)]
        command += [] if verify else ["--verify-taps", "0"]
        command += ["--dtypes", options.dtype] if options.dtype else []
        command += options.adapter_options
        result = subprocess.run(command, capture_output=True, text=True, cwd=os.path.dirname(HERE))
    if result.returncode:
        raise RuntimeError(one_line(result.stderr) or f"the roofline leaves with {result.returncode}")
    document = json.loads(result.stdout)
    return document["adapter"], document["rows"][0]


def compared(row, ours, y, indices, notes):
    """What was found equal; raises where something is not."""
    if y is None:
        return "nothing", notes
    found = checksum(row.in_memory_order(y))
    if found != ours["y_checksum"]:
        raise AssertionError(f"values differ: checksum {found}, ours {ours['y_checksum']}")
    if row.unpools or row.indices == "none":
        return "values", notes
    if indices is None or row.nhwc:
        return "values", [*notes, "indices not compared"]
    found = checksum(indices.astype(np.int64))
    if found != ours["indices_checksum"]:
        raise AssertionError(f"indices differ: checksum {found}, ours {ours['indices_checksum']}")
    return "values and indices", notes


def measured(peer, row, ours, options):
    try:
        seconds, y, indices, notes = peer.measure(row, options)
    except Unsupported as reason:
        return {"unsupported": str(reason)}
    except Exception as error:
        # A peer refuses types and shapes with errors of its own.
        return {"unsupported": f"{type(error).__name__}: {one_line(error)}"}
    try:
        equal, notes = compared(row, ours, y, indices, notes)
    except AssertionError as difference:
        return {"mismatch": str(difference)}
    return {"seconds": seconds, "compared": equal, "notes": notes}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--roofline", help="the program, already built; without it cargo builds the example")
    parser.add_argument("--catalogue", default=os.path.join(HERE, "catalogue.json"))
    parser.add_argument("--rows", default="", help="only rows with one of these in the name, comma-separated")
    parser.add_argument("--dtype", choices=list(DTYPES), help="without it what the row says, or f32")
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pass-ms", type=int, default=10, help="how long each runs in a round at least")
    parser.add_argument("--cache", type=int, default=256, help="MiB that the inputs in turn come to at least")
    parser.add_argument("--memory", type=int, default=2048, help="MiB that all inputs in turn may take")
    parser.add_argument("--peers", default="torch,torch.compile,onnxruntime,openvino", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--json", help="writes everything to this file")
    parser.add_argument("--backend", help="passed on to the roofline")
    parser.add_argument("--adapter", help="passed on to the roofline")
    options = parser.parse_args()
    if options.roofline:
        options.roofline = os.path.abspath(options.roofline)
    options.adapter_options = []
    for name in ("backend", "adapter"):
        if value := getattr(options, name):
            options.adapter_options += [f"--{name}", value]
    return options


def present(names):
    peers, absent = {}, {}
    for name in names.split(","):
        if name not in PEERS:
            sys.exit(f"peers.py: {name!r} is no peer: {', '.join(PEERS)}")
        try:
            peers[name] = PEERS[name]()
        except Exception as error:
            absent[name] = f"{type(error).__name__}: {one_line(error)}"
            print(f"ABSENT: {name}: {absent[name]}", file=sys.stderr)
    return peers, absent


def table(rows, names, absent):
    lines, notes = [["row", "type", "ours, us", *names]], []
    for row in rows:
        line = [row["name"], row.get("dtype", "")]
        if "failure" in row:
            notes.append(f"{row['name']}: ours failed: {row['failure']}")
            lines.append([*line, "FAILED", *["" for _ in names]])
            continue
        line.append(f"{row['seconds'] * 1e6:.1f}")
        for name in names:
            result = row["peers"].get(name, {})
            if name in absent:
                line.append("absent")
            elif "seconds" in result:
                line.append(f"{result['ratio']:.2f}")
                notes += [f"{row['name']}: {name} {note}" for note in result["notes"]]
            else:
                kind = next(iter(result))
                line.append("MISMATCH" if kind == "mismatch" else "no")
                notes.append(f"{row['name']}: {name}: {result[kind]}")
        lines.append(line)
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]

    def aligned(line):
        cells = (cell.ljust(w) if c < 2 else cell.rjust(w) for c, (cell, w) in enumerate(zip(line, widths)))
        return "  ".join(cells).rstrip()

    return "\n".join([*map(aligned, lines), "", *notes])


def main():
    options = parse()
    with open(options.catalogue) as file:
        entries = json.load(file)["rows"]
    wanted = [part for part in options.rows.split(",") if part]
    entries = [entry for entry in entries if not wanted or any(part in entry["name"] for part in wanted)]
    if not entries:
        sys.exit(f"peers.py: no row has any of {wanted} in its name")
    peers, absent = present(options.peers)
    if not peers:
        sys.exit("peers.py: no peer is here to compare with: pip install -r benches/requirements.txt")

    rows, adapter = [], ""
    for entry in entries:
        print(f"{entry['name']} ...", file=sys.stderr, flush=True)
        try:
            adapter, ours = roofline(options, entry, verify=True)
        except RuntimeError as error:
            rows.append({"name": entry["name"], "failure": str(error)})
            continue
        row = Row(entry, ours)
        results = {name: measured(peer, row, ours, options) for name, peer in peers.items()}
        _, again = roofline(options, entry, verify=False)
        seconds = min(ours["seconds"], again["seconds"])
        for result in results.values():
            if "seconds" in result:
                result["ratio"] = result["seconds"] / seconds
        shapes = {key: ours[key] for key in ("dtype", "kernel", "pooled_shape", "x_shape", "y_shape", "bytes")}
        rows.append({"name": entry["name"], **shapes, "seconds": seconds, "peers": results})

    names = options.peers.split(",")
    print(f"ours on {adapter}")
    for name, peer in peers.items():
        print(f"{name}: {peer.where}")
    for name, reason in absent.items():
        print(f"{name}: ABSENT: {reason}")
    print("time of the peer over time of ours\n")
    print(table(rows, names, absent))
    for name in peers:
        results = [row.get("peers", {}).get(name, {}) for row in rows]
        ratios = [result["ratio"] for result in results if "ratio" in result]
        if ratios:
            print(f"{name}: geometric mean of {len(ratios)} ratios {statistics.geometric_mean(ratios):.2f}")
    if options.json:
        with open(options.json, "w") as file:
            versions = {name: peer.where for name, peer in peers.items()}
            about = {"adapter": adapter, "peers": versions, "absent": absent, "shrink": options.shrink}
            json.dump({**about, "rows": rows}, file, indent=2)
    differs = lambda row: any("mismatch" in result for result in row["peers"].values())
    bad = [row["name"] for row in rows if "failure" in row or differs(row)]
    if bad:
        sys.exit(f"peers.py: failed or different: {', '.join(bad)}")


if __name__ == "__main__":
    main()

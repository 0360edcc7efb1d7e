"""What a call costs beside the crate's own, in microseconds: medians of a thousand calls.

    cargo build --release -p wgpu-pooling-python --example rust_calls
    python python/bench/calls.py target/release/examples/rust_calls

Without the program's path, only Python's calls are timed.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import wgpu_pooling as wp

# Those of rust_calls.rs.
SHAPES = [(1, 1, 4, 4), (1, 3, 64, 64), (1, 8, 64, 64)]


def median(call: Callable[[], object], calls: int = 1000) -> float:
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        call()
        times.append((time.perf_counter() - begun) * 1e6)
    return statistics.median(times)


def main() -> None:
    own: dict[tuple[str, str], float] = {}
    if len(sys.argv) > 1:
        lines = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.split("\n")
        own = {(name, shape): float(time) for name, shape, time in (line.split() for line in lines if line)}
    devices: list[tuple[str, wp.Gpu | str]] = [("cpu", "cpu")]
    try:
        devices.append(("gpu", wp.Gpu()))
    except wp.DeviceError as error:
        print(f"no GPU: {error}")
    print("device  shape        crate  max_pool2d  max_pool  on the device")
    for name, device in devices:
        for shape in SHAPES:
            x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
            torchs = median(lambda: wp.max_pool2d(x, 2, return_indices=True, device=device))
            onnxs = median(
                lambda: wp.max_pool(
                    x, kernel_shape=[2, 2], strides=[2, 2], flatten="plane", indices="int64", device=device
                )
            )
            resident = float("nan")
            if isinstance(device, wp.Gpu):
                kept = device.upload(x)
                resident = median(lambda: wp.max_pool2d(kept, 2, return_indices=True), 200)
            text = "x".join(map(str, shape))
            crate = own.get((name, text), float("nan"))
            print(f"{name:6}  {text:11}  {crate:5.0f}  {torchs:10.0f}  {onnxs:8.0f}  {resident:13.0f}")


if __name__ == "__main__":
    main()

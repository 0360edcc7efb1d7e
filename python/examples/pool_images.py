"""One shard of many images: each is max-pooled and unpooled again, and what came out is told by its SHA-256.

    python3 pool_images.py IMAGES OUT --shard 3 --of 16 [--device cpu|gpu]     computes a shard, unless its result is there
    python3 pool_images.py IMAGES OUT --check --of 16                          counts and sums up what all shards have
    python3 pool_images.py IMAGES --make 64                                    makes images to try it with

The result of a shard appears under its name when it is whole: it is written under another name first, which only this process
has. A shard that was ended in the middle leaves nothing that counts, and is run again.
"""

import argparse
import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import wgpu_pooling as wp


def images(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in (".png", ".jpg", ".jpeg"))


class Pooler:
    """Pools on a device. A GPU that is lost is opened again, and the image that it was lost with is repeated."""

    def __init__(self, device: str) -> None:
        self.name = device
        self.device: Any = None
        self.open()

    def open(self) -> None:
        self.device = wp.Gpu() if self.name == "gpu" else "cpu"

    def pooled(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y, at = wp.max_pool2d(x, 3, stride=2, padding=1, return_indices=True, device=self.device)
        back = wp.max_unpool2d(y, at, 3, stride=2, padding=1, output_size=x.shape[-2:], device=self.device)
        return y, at, back

    def __call__(self, x: np.ndarray) -> str:
        """The SHA-256 of the results for an image of shape (H, W, 3)."""
        x = np.ascontiguousarray(x.transpose(2, 0, 1), np.float32)
        try:
            results = self.pooled(x)
        except wp.DeviceError:
            self.open()
            results = self.pooled(x)
        digest = hashlib.sha256()
        for result in results:
            digest.update(str((result.dtype, result.shape)).encode())
            digest.update(np.ascontiguousarray(result))
        return digest.hexdigest()


def load(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def run_shard(folder: Path, out: Path, shard: int, of: int, device: str, end_after: int | None) -> None:
    target = out / f"shard-{shard:05}-of-{of:05}.json"
    if target.exists():
        print(f"{target.name} is there", file=sys.stderr)
        return
    pooler = Pooler(device)
    rows: dict[str, str] = {}
    for path in images(folder)[shard::of]:
        if len(rows) == end_after:
            os.kill(os.getpid(), signal.SIGKILL)
        rows[path.name] = pooler(load(path))
    out.mkdir(parents=True, exist_ok=True)
    partial = out / f".{target.name}.{os.uname().nodename}.{os.getpid()}"
    with partial.open("w") as file:
        json.dump(rows, file)
        file.flush()
        os.fsync(file.fileno())
    # Whoever looks sees all of it or nothing. Two processes that computed the same shard have the same rows.
    partial.replace(target)


def summary(rows: list[tuple[str, str]], expected: list[str]) -> str:
    """How many rows there are, which are there twice, which are missing, and one SHA-256 of all, in the order of the names."""
    found = dict(rows)
    digest = hashlib.sha256("".join(f"{name} {found[name]}\n" for name in sorted(found)).encode()).hexdigest()
    lost = len(set(expected) - set(found))
    return f"rows {len(rows)}, duplicates {len(rows) - len(found)}, lost {lost}, sha256 {digest}"


def check(folder: Path, out: Path, of: int) -> bool:
    names = [path.name for path in images(folder)]
    rows: list[tuple[str, str]] = []
    for shard in range(of):
        path = out / f"shard-{shard:05}-of-{of:05}.json"
        if path.exists():
            rows += json.loads(path.read_text()).items()
    print(summary(rows, names))
    return len(rows) == len(names)


def make(folder: Path, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        random = np.random.default_rng(number)
        height, width = (int(extent) for extent in random.integers(200, 400, 2))
        picture = random.integers(0, 256, (height, width, 3), np.uint8)
        Image.fromarray(picture).save(folder / f"image-{number:05}.png", compress_level=1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--shard", type=int)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--check", action="store_true", help="count what all shards have; status 1 if something is missing")
    parser.add_argument("--end-after", type=int, metavar="N", help="end by signal 9 after N images, to see what that does")
    parser.add_argument("--make", type=int, metavar="N", help="make N images")
    options = parser.parse_args()
    if options.make is not None:
        make(options.images, options.make)
        return 0
    if options.out is None:
        parser.error("a folder for the results is missing")
    if options.check:
        return 0 if check(options.images, options.out, options.of) else 1
    if options.shard is None or not 0 <= options.shard < options.of:
        parser.error(f"--shard is a number from 0 to {options.of - 1}")
    run_shard(options.images, options.out, options.shard, options.of, options.device, options.end_after)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What peers.py and the roofline have in common: rows, inputs by the positions of their elements, and checksums."""

import numpy as np

STEP = np.uint64(0x9E3779B97F4A7C15)
OF_INDICES = 1 << 48
CHUNK = 1 << 22
DTYPES = {
    "f32": np.float32, "f16": np.float16, "f64": np.float64, "i8": np.int8, "u8": np.uint8, "i16": np.int16,
    "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    # numpy has no brain floats. Those that are not negative are in the order of their bits.
    "bf16": np.uint16,
}


def finish(z):
    with np.errstate(over="ignore"):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def positions(begin, end):
    return np.arange(begin, end, dtype=np.uint64)


def noise(indices):
    with np.errstate(over="ignore"):
        return finish((indices + np.uint64(1)) * STEP)


def values(shape, dtype):
    """A tensor by the positions of its elements in memory, of a type that has a name in DTYPES; made in parts, since the 64-bit steps need much memory."""
    flat = np.empty(int(np.prod(shape)), DTYPES[dtype])
    for begin in range(0, flat.size, CHUNK):
        end = min(begin + CHUNK, flat.size)
        numbers = noise(positions(begin, end)) % np.uint64(251)
        flat[begin:end] = numbers.astype(np.float32).view(np.uint32) >> 16 if dtype == "bf16" else numbers
    return flat.reshape(shape)


def checksum(array):
    flat = np.ascontiguousarray(array).reshape(-1)
    bits = flat.view(np.dtype(f"u{flat.dtype.itemsize}"))
    total = 0
    for begin in range(0, flat.size, CHUNK):
        end = min(begin + CHUNK, flat.size)
        with np.errstate(over="ignore"):
            terms = finish(bits[begin:end].astype(np.uint64) + positions(begin, end) * STEP)
            total += int(np.sum(terms, dtype=np.uint64))
    return f"{total % (1 << 64):016x}"


class Row:
    """A row of the catalogue with the shapes that the roofline ran it in."""

    def __init__(self, entry, ours):
        self.name, self.op, self.dtype = entry["name"], entry["op"], ours["dtype"]
        self.nhwc = entry.get("layout") == "NHWC"
        self.pooled = ours["pooled_shape"]
        self.outer, self.spatial = self.pooled[:2], self.pooled[2:]
        axes = len(self.spatial)
        self.kernel = entry.get("kernel_shape", self.spatial)
        self.strides = entry.get("strides", [1] * axes)
        self.dilations = entry.get("dilations", [1] * axes)
        self.pads = entry.get("pads", [0] * 2 * axes)
        self.output_size = entry.get("output_size", [1] * axes)
        self.indices = entry.get("indices", "none")
        self.random = entry.get("indices_from", "pool").startswith("random")
        self.unpools = self.op == "MaxUnpool"
        self.plane = int(np.prod(self.spatial))
        # In the order N, C, spatial; what the roofline says is in the layout's order.
        first = ours["x_shape"]
        self.x_shape = [first[0], first[-1], *first[1:-1]] if self.nhwc else first

    def x(self, shape=None):
        """Data in the order N, C, spatial, filled in the order of memory."""
        shape = shape or self.x_shape
        if not self.nhwc:
            return values(shape, self.dtype)
        return np.moveaxis(values([shape[0], *shape[2:], shape[1]], self.dtype), -1, 1)

    def in_memory_order(self, y):
        return np.moveaxis(y, 1, -1) if self.nhwc else y

    def bases(self, shape):
        """What ONNX's indices have more than those that count by plane."""
        planes = np.arange(shape[0] * shape[1], dtype=np.int64) * self.plane
        return planes.reshape([*shape[:2]] + [1] * (len(shape) - 2))

    def unpool_inputs(self):
        """X and indices by plane, as the roofline has them."""
        if not self.random:
            return pooled_by_numpy(self.x(self.pooled), self)
        x = self.x()
        indices = np.empty(x.size, np.int64)
        for begin in range(0, x.size, CHUNK):
            end = min(begin + CHUNK, x.size)
            drawn = noise(positions(begin, end) + np.uint64(OF_INDICES)) % np.uint64(self.plane)
            indices[begin:end] = drawn.astype(np.int64)
        return x, indices.reshape(x.shape)


def pooled_by_numpy(x, row):
    """The pool of a row and its indices by plane: windows in row-major order, the first maximum wins."""
    outputs = [
        (row.spatial[a] + row.pads[a] + row.pads[a + len(row.spatial)] - row.dilations[a] * (row.kernel[a] - 1) - 1)
        // row.strides[a] + 1
        for a in range(len(row.spatial))
    ]
    best = np.empty([*x.shape[:2], *outputs], x.dtype)
    found = np.full(best.shape, -1, np.int64)
    for tap in np.ndindex(*row.kernel):
        at = [
            np.arange(n) * row.strides[a] - row.pads[a] + tap[a] * row.dilations[a] for a, n in enumerate(outputs)
        ]
        inside = [np.flatnonzero((p >= 0) & (p < row.spatial[a])) for a, p in enumerate(at)]
        source = np.ix_(range(x.shape[0]), range(x.shape[1]), *[p[i] for p, i in zip(at, inside)])
        target = np.ix_(range(x.shape[0]), range(x.shape[1]), *inside)
        flat = np.zeros([1] * len(outputs), np.int64)
        for a, (p, i) in enumerate(zip(at, inside)):
            axis = [1] * len(outputs)
            axis[a] = -1
            flat = flat * row.spatial[a] + p[i].reshape(axis)
        taken, old = x[source], best[target]
        wins = (found[target] < 0) | (taken > old)
        best[target] = np.where(wins, taken, old)
        found[target] = np.where(wins, flat[None, None], found[target])
    return best, found

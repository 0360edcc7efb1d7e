#!/usr/bin/env python3
"""Other runtimes on the rows of the roofline, in one run with it: one table of ratios.

    python3 -m venv venv && venv/bin/pip install -r benches/requirements.txt
    venv/bin/python benches/peers.py [--shrink N] [--rows NAME,..] [--roofline PATH]
    venv/bin/python benches/peers.py --backend cpu --threads 1 --row-bytes 48000000

For each row the roofline runs, then each peer, then the roofline again, and the better of its two times counts. A ratio
is the peer's time over ours: above 1 ours is faster. Peers run where they run best on this machine, on the GPU where
they have CUDA and else on the CPU, and the table says which; ours runs on the adapter that wgpu picks. With --backend cpu
all run on the CPU, with as many threads each, and write outputs that were made before, but for what the notes name. Times
over a memcpy of the bytes that ours moves, by as many threads, stand beside the ratios.

Both sides make the same inputs and sum up what they computed, so that a comparison of different things cannot happen
unnoticed: element i of a tensor is splitmix64(i) % 251, seeded with 0, and a checksum is the sum over all elements of
finish(bits + i * STEP), modulo 2^64. Values are always compared. Indices are compared where a convention can be
converted: PyTorch counts by plane, to which the plane's base is added; OpenVINO and ONNX Runtime count like ONNX. Not
compared: what PyTorch's unpool gives where indices repeat, because its threads race, and index tensors of channels-last
data. Where a peer has but one width of index it writes that one, and the table says so: it then moves other bytes than
ours.

On Linux numpy asks for huge pages for its arrays, on which peers compute. So that ours has them too, glibc is told to ask for them
in the roofline, by GLIBC_TUNABLES unless that is set.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit("peers.py needs numpy: pip install -r benches/requirements.txt")

from peer_inputs import DTYPES, Row, checksum
from peer_runtimes import PEERS, Unsupported, one_line

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT_BY_CARGO = ["cargo", "run", "--release", "--quiet", "-p", "roofline", "--"]


def roofline(options, entry, verify):
    """Our figures for one row, on the inputs that peers have."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "row.json")
        with open(path, "w") as file:
            json.dump({"rows": [entry]}, file)
        command = [options.roofline] if options.roofline else list(BUILT_BY_CARGO)
        command += ["--catalogue", path, "--data", "peers", "--selected-only", "--json", "-"]
        command += ["--rounds", str(options.rounds), "--pass", str(options.pass_ms)]
        taps = options.verify_taps if verify else 0
        command += [] if taps is None else ["--verify-taps", str(taps)]
        command += options.passed_on
        environment = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", **os.environ}
        result = subprocess.run(command, capture_output=True, text=True, cwd=os.path.dirname(HERE), env=environment)
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
    parser.add_argument("--roofline", help="the program, already built; without it cargo builds it")
    parser.add_argument("--catalogue", default=os.path.join(HERE, "catalogue.json"))
    parser.add_argument("--rows", default="", help="only rows with one of these in the name, comma-separated")
    parser.add_argument("--dtype", choices=list(DTYPES), help="without it what the row says, or f32")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--shrink", type=int, default=1)
    size.add_argument("--row-bytes", type=int, help="make rows that move more bytes smaller")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pass-ms", type=int, default=10, help="how long each runs in a round at least")
    parser.add_argument("--cache", type=int, help="MiB that the inputs in turn come to at least; 256, on the CPU 0")
    parser.add_argument("--memory", type=int, default=2048, help="MiB that all inputs in turn may take")
    parser.add_argument("--verify-taps", type=int, help="passed on to the roofline, whose default it is; on the CPU 2^26")
    parser.add_argument("--peers", default="torch,torch.compile,onnxruntime,openvino,opencv", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--json", help="writes everything to this file")
    parser.add_argument("--markdown", action="store_true", help="prints the table as Markdown")
    parser.add_argument("--backend", help="passed on to the roofline; cpu for the CPU backend")
    parser.add_argument("--adapter", help="passed on to the roofline")
    cpu = parser.add_argument_group("with --backend cpu")
    cpu.add_argument("--threads", type=int, help="of ours and of each peer; one for each core")
    cpu.add_argument("--simd", help="passed on to the roofline")
    cpu.add_argument("--kernel", help="passed on to the roofline")
    cpu.add_argument("--clock", choices=["wall", "cpu"], help="cpu is the time of all threads; wall if not given")
    options = parser.parse_args()
    on_cpu = options.backend == "cpu"
    if not on_cpu and (options.threads or options.simd or options.kernel or options.clock):
        parser.error("--threads, --simd, --kernel and --clock go with --backend cpu")
    if options.roofline:
        options.roofline = os.path.abspath(options.roofline)
    if options.cache is None:
        options.cache = 0 if on_cpu else 256
    if on_cpu:
        options.verify_taps = 1 << 26 if options.verify_taps is None else options.verify_taps
        options.peers = options.peers.replace("torch.compile,", "")
        options.threads = options.threads or cores()
    options.passed_on = passed_on(options, on_cpu)
    return options


def cores():
    """How many cores this process may use, where the system says it."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def passed_on(options, on_cpu):
    """What the roofline is told besides the row."""
    given = {name: getattr(options, name) for name in ("backend", "adapter", "threads", "simd", "kernel")}
    given["dtypes"] = options.dtype
    if options.row_bytes:
        given["row-bytes"] = options.row_bytes
    else:
        given["shrink"] = options.shrink
    # On a GPU peers are timed by the wall clock, beside which CPU time would not do.
    given["clock"] = (options.clock or "wall") if on_cpu else "device"
    if on_cpu:
        given["cache"] = options.cache
    return [part for name, value in given.items() if value is not None for part in (f"--{name}", str(value))]


def present(options):
    if options.threads:
        # Read when the libraries are loaded. Threads that spin while they wait would slow down what runs next.
        os.environ.update(OMP_NUM_THREADS=str(options.threads), OMP_WAIT_POLICY="PASSIVE")
    peers, absent = {}, {}
    for name in options.peers.split(","):
        if name not in PEERS:
            sys.exit(f"peers.py: {name!r} is no peer: {', '.join(PEERS)}")
        try:
            peers[name] = PEERS[name](options)
        except Exception as error:
            absent[name] = f"{type(error).__name__}: {one_line(error)}"
            print(f"ABSENT: {name}: {absent[name]}", file=sys.stderr)
    return peers, absent


def cells(row, names, absent, on_cpu):
    """The cells of a row, and what else is to be said of it."""
    line, notes = [row["name"], row.get("dtype", "")], []
    if "failure" in row:
        empty = [""] * (len(names) + 2 * on_cpu)
        return [*line, "FAILED", *empty], [f"{row['name']}: ours failed: {row['failure']}"]
    line.append(f"{row['seconds'] * 1e6:.1f}")
    if on_cpu:
        line = [*line[:2], row["kernel"], line[2], f"{row['time_over_copy']:.2f}"]
    for name in names:
        result = row["peers"].get(name, {})
        if name in absent:
            line.append("absent")
        elif "seconds" in result:
            over_copy = f" ({result['time_over_copy']:.1f})" if on_cpu else ""
            line.append(f"{result['ratio']:.2f}{over_copy}")
            notes += [f"{row['name']}: {name} {note}" for note in result["notes"]]
        else:
            kind = next(iter(result))
            line.append("MISMATCH" if kind == "mismatch" else "no")
            notes.append(f"{row['name']}: {name}: {result[kind]}")
    return line, notes


def table(rows, names, absent, on_cpu, markdown):
    first = ["row", "type", "kernel", "ours, us", "ours/copy"] if on_cpu else ["row", "type", "ours, us"]
    left = len(first) - (2 if on_cpu else 1)
    lines, notes = [[*first, *names]], []
    for row in rows:
        line, of_row = cells(row, names, absent, on_cpu)
        lines.append(line)
        notes += of_row
    if markdown:
        rule = ["---" if column < left else "---:" for column in range(len(lines[0]))]
        text = [f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:])]
        return "\n".join([*text, "", *(f"* {note}" for note in notes)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]

    def aligned(line):
        padded = (cell.ljust(w) if c < left else cell.rjust(w) for c, (cell, w) in enumerate(zip(line, widths)))
        return "  ".join(padded).rstrip()

    return "\n".join([*map(aligned, lines), "", *notes])


def row_of_table(entry, peers, options):
    """A row of the table, and what it was computed on; our time is taken before and after those of the peers."""
    try:
        adapter, ours = roofline(options, entry, verify=True)
    except RuntimeError as error:
        return {"name": entry["name"], "failure": str(error)}, None
    row = Row(entry, ours)
    results = {name: measured(peer, row, ours, options) for name, peer in peers.items()}
    _, again = roofline(options, entry, verify=False)
    seconds, copy = (min(ours[key], again[key]) for key in ("seconds", "copy_seconds"))
    for result in results.values():
        if "seconds" in result:
            result["ratio"] = result["seconds"] / seconds
            result["time_over_copy"] = result["seconds"] / copy
    shapes = {key: ours[key] for key in ("dtype", "kernel", "pooled_shape", "x_shape", "y_shape", "bytes")}
    figures = {"seconds": seconds, "copy_seconds": copy, "time_over_copy": seconds / copy, "peers": results}
    return {"name": entry["name"], **shapes, **figures}, adapter


def main():
    options = parse()
    with open(options.catalogue) as file:
        entries = json.load(file)["rows"]
    wanted = [part for part in options.rows.split(",") if part]
    entries = [entry for entry in entries if not wanted or any(part in entry["name"] for part in wanted)]
    if not entries:
        sys.exit(f"peers.py: no row has any of {wanted} in its name")
    peers, absent = present(options)
    if not peers:
        sys.exit("peers.py: no peer is here to compare with: pip install -r benches/requirements.txt")

    rows, adapter = [], ""
    for entry in entries:
        print(f"{entry['name']} ...", file=sys.stderr, flush=True)
        row, computed_on = row_of_table(entry, peers, options)
        adapter = computed_on or adapter
        rows.append(row)
        if options.json:
            # After each row, so that the figures survive a failure of a later row.
            write_json(rows, adapter, peers, absent, options)
    report(rows, adapter, peers, absent, options)
    differs = lambda row: any("mismatch" in result for result in row["peers"].values())
    bad = [row["name"] for row in rows if "failure" in row or differs(row)]
    if bad:
        sys.exit(f"peers.py: failed or different: {', '.join(bad)}")


def report(rows, adapter, peers, absent, options):
    names = options.peers.split(",")
    print(f"ours on {adapter}")
    for name, peer in peers.items():
        print(f"{name}: {peer.where}")
    for name, reason in absent.items():
        print(f"{name}: ABSENT: {reason}")
    on_cpu = options.backend == "cpu"
    print(f"time of the peer over time of ours{' (and over that of a memcpy)' if on_cpu else ''}\n")
    print(table(rows, names, absent, on_cpu, options.markdown))
    for name in peers:
        results = [row.get("peers", {}).get(name, {}) for row in rows]
        ratios = [result["ratio"] for result in results if "ratio" in result]
        if ratios:
            print(f"{name}: geometric mean of {len(ratios)} ratios {statistics.geometric_mean(ratios):.2f}")


def write_json(rows, adapter, peers, absent, options):
    versions = {name: peer.where for name, peer in peers.items()}
    about = {"adapter": adapter, "peers": versions, "absent": absent, "shrink": options.shrink}
    about["row_bytes"] = options.row_bytes
    with open(options.json, "w") as file:
        json.dump({**about, "rows": rows}, file, indent=2)


if __name__ == "__main__":
    main()

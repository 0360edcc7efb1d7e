"""Threads, forks, signals and pickles."""

from __future__ import annotations

import concurrent.futures
import ctypes
import os
import pickle
import platform
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import wgpu_pooling as wp

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
# More than one thread's share of work, so that the CPU backend starts its threads.
X = np.random.default_rng(5).standard_normal((4, 16, 128, 128)).astype(np.float32)


def run(program: str, seconds: float = 60, **environment: str) -> str:
    """What a program prints in a process of its own; it fails if it takes longer."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        timeout=seconds,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_child(work) -> str:
    """What a forked child returns, or its exception; it is ended after 20 seconds."""
    reads, writes = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks in processes with threads, which is what is tried here.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        try:
            text = str(work())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writes, text.encode())
        os._exit(0)
    os.close(writes)
    deadline = time.monotonic() + 20
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child hangs")
        time.sleep(0.01)
    with os.fdopen(reads) as pipe:
        return pipe.read()


@FORKS
def test_a_child_computes_on_the_cpu() -> None:
    expected = wp.max_pool2d(X, 2, device="cpu")

    def work() -> bool:
        same = np.array_equal(expected, wp.max_pool2d(X, 2, device="cpu"))
        grandchild = in_child(lambda: np.array_equal(expected, wp.max_pool2d(X, 2, device="cpu")))
        return same and grandchild == "True"

    assert in_child(work) == "True"


@FORKS
def test_a_gpu_of_the_parent_is_refused_at_once(gpu: wp.Gpu) -> None:
    x = gpu.upload(X)
    for work in (
        lambda: wp.max_pool2d(X, 2, device=gpu),
        lambda: wp.max_pool2d(x, 2),
        lambda: x.numpy(),
        lambda: x.shape,
        lambda: gpu.upload(X),
        lambda: gpu.trim(),
    ):
        assert in_child(work).startswith(f"DeviceError: this Gpu was opened by the process {os.getpid()} before a fork")

    assert in_child(lambda: repr(x)) == repr(x) == f"<DeviceTensor float32 {list(x.shape)} NCHW on {gpu.name}>"
    assert in_child(lambda: repr(gpu)) == repr(gpu)

    def forgets() -> str:
        nonlocal x, gpu
        del x, gpu
        return "forgotten"

    assert in_child(forgets) == "forgotten"


@FORKS
def test_a_child_opens_a_gpu_of_its_own(gpu: wp.Gpu) -> None:
    expected = wp.max_pool2d(X, 2, device=gpu)
    name, backend = gpu.name, gpu.backend
    assert in_child(lambda: np.array_equal(expected, wp.max_pool2d(X, 2, device=wp.Gpu(name, backend)))) == "True"


@FORKS
def test_the_default_device_is_opened_anew(gpu: wp.Gpu) -> None:
    program = """
        import os, warnings
        import numpy as np, wgpu_pooling as wp
        warnings.simplefilter("ignore")
        x = np.ones((1, 1, 4, 4), np.float32)
        before = wp.default_device()
        assert isinstance(before, wp.Gpu)
        child = os.fork()
        if child == 0:
            own = wp.default_device() is not before
            os._exit(0 if own and wp.max_pool2d(x, 2).sum() == 4 else 1)
        print(os.waitpid(child, 0)[1])
    """
    assert run(program, WGPU_ADAPTER_NAME=gpu.name) == "0\n"


def test_a_default_device_that_is_lost_is_replaced_and_said_so(gpu: wp.Gpu) -> None:
    program = """
        import concurrent.futures, warnings
        import numpy as np, wgpu_pooling as wp
        x = np.ones((1, 1, 4, 4), np.float32)
        for _ in range(2):
            before = wp.default_device()
            on_device = before.upload(x)
            before.notify_lost("the test says so")
            assert before.is_lost
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with concurrent.futures.ThreadPoolExecutor(8) as pool:
                    assert {y.sum() for y in pool.map(lambda _: wp.max_pool2d(x, 2), range(32))} == {4}
                assert not wp.default_device().is_lost
            for lost in (lambda: wp.max_pool2d(x, 2, device=before), lambda: wp.max_pool2d(on_device, 2)):
                try:
                    print(lost())
                except wp.DeviceError as error:
                    assert "the test says so" in str(error), error
            print(len(caught), caught[0].category.__name__, caught[0].message)
        warnings.simplefilter("error")
        wp.default_device().notify_lost("once more")
        try:
            print(wp.max_pool2d(x, 2))
        except RuntimeWarning as warning:
            print(warning, wp.max_pool2d(x, 2).sum())
    """
    said = f"the default GPU of wgpu_pooling is lost, and was opened anew: {gpu.name}"
    assert run(program, WGPU_ADAPTER_NAME=gpu.name) == f"1 RuntimeWarning {said}\n" * 2 + f"{said} 4.0\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this system does not limit a process's address space")
def test_after_each_memory_error_a_small_call_computes(gpu: wp.Gpu) -> None:
    program = """
        import resource
        import numpy as np, wgpu_pooling as wp

        def leave(bytes):
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + bytes, resource.RLIM_INFINITY))

        gpu = wp.default_device()
        x, large = np.ones((1, 1, 4, 4), np.float32), np.ones((1, 1, 1 << 27), np.uint8)
        on_device, one = gpu.upload(large), (np.ones((1, 1, 1), np.uint8), np.zeros((1, 1, 1), np.int64))
        calls = [
            lambda: gpu.upload(large),
            lambda: on_device.numpy(),
            lambda: wp.max_pool1d(large, 1 << 27),
            lambda: wp.max_pool1d(on_device, 1),
            lambda: wp.max_unpool1d(*one, 2, output_size=(1 << 27,)),
        ]
        # The kernels are compiled while there is memory.
        for call in [lambda: wp.max_pool2d(x, 2), *calls]:
            call()
        failed = 0
        for left in (320, 192, 96):
            for number, call in enumerate(calls):
                gpu.trim()
                leave(left << 20)
                try:
                    call()
                except MemoryError:
                    failed += 1
                lost = gpu.is_lost
                assert wp.max_pool2d(x, 2).sum() == 4, (left, number)
                assert not (lost and gpu.kind == "software"), (left, number)
                gpu = wp.default_device()
                if lost:
                    raise SystemExit
        assert failed
    """
    run(program, WGPU_ADAPTER_NAME=gpu.name)


def test_without_a_gpu_the_cpu_computes_and_says_why_once() -> None:
    program = """
        import warnings
        import numpy as np, wgpu_pooling as wp
        x = np.ones((1, 1, 4, 4), np.float32)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                wp.max_pool2d(x, 2)
        assert caught[0].filename == "<string>", "the warning names the caller's line"
        print(wp.default_device(), len(caught), caught[0].category.__name__, caught[0].message)
    """
    said = run(program, WGPU_ADAPTER_NAME="no such adapter")
    assert said.startswith("cpu 1 RuntimeWarning wgpu_pooling computes on the CPU: no usable GPU adapter: ")
    assert "no such adapter" in said


def test_pickled_gpus_open_again(gpu: wp.Gpu) -> None:
    again = pickle.loads(pickle.dumps(gpu))
    assert (again.name, again.backend) == (gpu.name, gpu.backend) and again is not gpu
    np.testing.assert_array_equal(wp.max_pool2d(X, 2, device=again), wp.max_pool2d(X, 2, device="cpu"))
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(gpu.upload(X))


def test_threads_share_a_device(device: object) -> None:
    inputs = [np.roll(X, shift) for shift in range(4)]
    expected = [wp.max_pool2d(x, 3, 2, 1, return_indices=True, device="cpu") for x in inputs]

    def work(which: int) -> None:
        for _ in range(5):
            y, indices = wp.max_pool2d(inputs[which], 3, 2, 1, return_indices=True, device=device)
            np.testing.assert_array_equal(y, expected[which][0])
            np.testing.assert_array_equal(indices, expected[which][1])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_the_gil_is_released(device: object) -> None:
    ticks, done = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begun, before = time.monotonic(), ticks
    while time.monotonic() - begun < 0.5:
        wp.max_pool2d(X, 3, 1, 1, device=device)
    counted = ticks - before
    done.set()
    thread.join()
    # Each call takes milliseconds; where they held the GIL, there would be a tick between two calls at best.
    assert counted > 20


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_a_signal_stops_long_work(device: object) -> None:
    # Work that takes seconds: on the CPU an activation that calculates, on a GPU dilated windows of many elements.
    if device == "cpu":
        x, slow = np.ones((64, 16, 512, 512), np.float16), dict(kernel_shape=[2, 2], activation="Tanh")
    else:
        x, slow = np.ones((16, 16, 512, 512), np.float32), dict(kernel_shape=[15, 15], dilations=[3, 3])

    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Stop):
            wp.max_pool(x, device=device, **slow)
            pytest.fail("the call was over before the signal came, or went on to its end")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # The device is as good as before.
    np.testing.assert_array_equal(wp.max_pool2d(X, 2, device=device), wp.max_pool2d(X, 2, device="cpu"))


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted on Linux")
def test_the_environment_sets_the_number_of_threads() -> None:
    program = """
    import os
    import numpy as np, wgpu_pooling as wp
    before = len(os.listdir("/proc/self/task"))
    wp.max_pool2d(np.ones((1, 1, 4, 4), np.float32), 2, device="cpu")
    small = len(os.listdir("/proc/self/task"))
    wp.max_pool2d(np.ones((4, 16, 256, 512), np.float32), 2, device="cpu")
    print(small - before, len(os.listdir("/proc/self/task")) - before)
    """
    for threads in (3, 5):
        assert run(program, RAYON_NUM_THREADS=str(threads)) == f"0 {threads}\n"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of threads are tried on Linux")
def test_without_threads_the_caller_computes() -> None:
    program = """
    import os, resource, threading
    import numpy as np, wgpu_pooling as wp
    x = np.random.default_rng(5).standard_normal((4, 16, 256, 512)).astype(np.float32)
    if os.geteuid() == 0:
        # The limit counts a user's threads, and root has none.
        os.setgroups([]), os.setresgid(54321, 54321, 54321), os.setresuid(54321, 54321, 54321)
    limit = len(os.listdir("/proc/self/task")) + MORE
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    for part in (x, x[:2, :2], x):
        n, c = part.shape[:2]
        expected = part.reshape(n, c, 128, 2, 256, 2).max((3, 5))
        assert (wp.max_pool2d(part, 2, device="cpu") == expected).all()
    stop = threading.Event()
    try:
        [threading.Thread(target=stop.wait, daemon=True).start() for _ in range(MORE + 1)]
    except RuntimeError as error:
        print(error)
    stop.set()
    """
    for more in (0, 1, 2, 5):
        said = run(program.replace("MORE", str(more)), RAYON_NUM_THREADS="64")
        assert said == "can't start new thread\n", "there is no limit"


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="the processor's switch is another one")
@pytest.mark.parametrize("extent", [60, 300])
def test_processors_that_take_subnormals_for_zeros(extent: int) -> None:
    # The thread itself computes small calls, others compute large ones.
    x = np.random.default_rng(7).integers(-9, 9, (1, 2, extent, extent + 1)).astype(np.int32)
    for name in ("f2", "f4", "f8"):
        bits = np.abs(x).astype(name.replace("f", "u"))
        subnormal = (bits | np.where(x < 0, bits.dtype.type(1 << (8 * bits.itemsize - 1)), bits.dtype.type(0))).view(name)
        least = subnormal.ravel()[np.argmax(x.ravel() == 1)]

        def results() -> list[np.ndarray]:
            operators = (wp.dilate, wp.erode, wp.opening, wp.closing, wp.gradient, wp.top_hat, wp.black_hat)
            peaks = [wp.local_maxima(subnormal, [5, 5], threshold=limit, device="cpu") for limit in (0, least, None)]
            return [own(subnormal, [3, 3], device="cpu") for own in operators] + [array for pair in peaks for array in pair]

        def flushing() -> list[np.ndarray]:
            libm, environment = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)()
            libm.fegetenv(environment)
            # MXCSR is the last word. Subnormal operands are zeros (bit 6), and so are subnormal results (bit 15).
            environment[7] |= 0x8040
            libm.fesetenv(environment)
            assert np.full(1, 5e-324)[0] == 0, "the processor compares subnormals"
            return results()

        expected = results()
        assert len(expected[-1]) > 50
        # A thread has its own switch.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            for mine, theirs in zip(pool.submit(flushing).result(), expected):
                assert (mine.dtype, mine.shape, mine.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())

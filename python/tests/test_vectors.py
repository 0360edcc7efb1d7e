"""The recorded cases of tests/vectors, through Python."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import wgpu_pooling as wp

FOLDER = Path(__file__).parents[2] / "tests" / "vectors"
# What the manifests repeat in a runtime's own words, and what they call by another name.
PEER_WORDS = {"rounding_type", "axis", "index_element_type", "include_batch_in_index"}
RENAMED = {"same_pad": "same_padding", "max_rule": "nan_policy"}
WITHOUT_EFFECT = {"empty_value", "empty_index", "ceil_rule", "same_padding", "size_rounding"}
WINDOWS: dict[str, Any] = {"MaxPool": wp.max_pool, "MinPool": wp.min_pool}
PLANES: dict[str, Any] = {"GlobalMaxPool": wp.global_max_pool, "GlobalMinPool": wp.global_min_pool}
ADAPTIVE: dict[str, Any] = {"AdaptiveMaxPool": wp.adaptive_max_pool, "AdaptiveMinPool": wp.adaptive_min_pool}
DTYPES: dict[str, Any] = {"BF16": ml_dtypes.bfloat16, "F16": np.float16, "F32": np.float32, "F64": np.float64}
DTYPES |= {f"{kind}{bits}": np.dtype(f"{kind.lower()}{bits // 8}") for kind in "IU" for bits in (8, 16, 32, 64)}


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, given in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in given["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], DTYPES[given["dtype"]]).reshape(given["shape"])
    return tensors


def cases() -> list[Any]:
    found = []
    for manifest in sorted(FOLDER.glob("*.json")):
        content = json.loads(manifest.read_text())
        tensors = read_safetensors(FOLDER / content["tensors"])
        assert content["case_count"] == len(content["cases"])
        # The large cases take long on software GPUs, and say of Python nothing that smaller ones do not.
        found += [pytest.param(case, tensors, id=case["id"]) for case in content["cases"] if not case.get("generated")]
    return found


def call(case: dict[str, Any], tensors: dict[str, np.ndarray], device: object) -> tuple[np.ndarray, np.ndarray | None]:
    attributes = {name: value for name, value in case["attrs"].items() if name not in PEER_WORDS}
    if "activation_params" in attributes:
        attributes["activation_params"] = [float(value) for value in attributes["activation_params"]]
    options = {RENAMED.get(name, name): value for name, value in case["options"].items()}
    options["layout"] = case["layout"]
    if options.get("same_padding") == "spec":
        options["same_padding"] = "spec_clamped"
    if options.get("duplicates") == "none_present":
        options["duplicates"] = "any"
    x = tensors[case["inputs"]["x"]["tensor"]]
    if case["op"] == "MaxUnpool":
        options.setdefault("unpool_min_size", "none")
        indices = tensors[case["inputs"]["indices"]["tensor"]]
        shape = case.get("output_shape")
        return wp.max_unpool(x, indices, output_shape=shape, device=device, **attributes, **options), None
    expected = (case.get("expected") or {}).get("indices")
    wanted = tensors[expected["tensor"]].dtype.name if expected else None
    if case["op"] in WINDOWS:
        result = WINDOWS[case["op"]](x, indices=wanted, device=device, **attributes, **options)
    else:
        options = {name: value for name, value in options.items() if name not in WITHOUT_EFFECT}
        if case["op"] in PLANES:
            result = PLANES[case["op"]](x, indices=wanted, device=device, **options)
        else:
            pool = ADAPTIVE[case["op"]]
            result = pool(x, attributes["output_size"], indices=wanted, device=device, **options)
    return result if wanted else (result, None)


def assert_same_bits(expected: np.ndarray, actual: np.ndarray, exact_nan: bool) -> None:
    assert (expected.dtype, expected.shape) == (actual.dtype, actual.shape)
    words = np.dtype(f"u{expected.itemsize}")
    differs = np.ascontiguousarray(expected).view(words) != np.ascontiguousarray(actual).view(words)
    if expected.dtype.kind in "fV" and not exact_nan:
        differs &= ~(np.isnan(expected) & np.isnan(actual))
    assert not differs.any(), f"{differs.sum()} of {differs.size} elements differ"


ROUNDING = {"Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid"}


@pytest.mark.parametrize(("case", "tensors"), cases())
def test_case(case: dict[str, Any], tensors: dict[str, np.ndarray], device: object) -> None:
    if case.get("expect_error"):
        # What only the peer refuses may have a result here.
        if case["strictness"] == "must_reject":
            with pytest.raises((ValueError, IndexError)):
                call(case, tensors, device)
        return
    y, indices = call(case, tensors, device)
    expected = tensors[case["expected"]["y"]["tensor"]]
    if case["attrs"].get("activation") in ROUNDING:
        assert (expected.dtype, expected.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(y.astype(np.float64), expected.astype(np.float64), rtol=0.02, atol=1e-6)
    else:
        assert_same_bits(expected, y, case.get("nan_payload") == "exact")
    if indices is not None:
        assert_same_bits(tensors[case["expected"]["indices"]["tensor"]], indices, True)


def mirrored(array: np.ndarray) -> np.ndarray:
    """Elements in reversed order: floats with the other sign, integers with all bits inverted."""
    words = np.dtype(f"u{array.itemsize}")
    sign = words.type(1 << (8 * array.itemsize - 1)) if array.dtype.kind in "fV" else ~words.type(0)
    return (np.ascontiguousarray(array).view(words) ^ sign).view(array.dtype).reshape(array.shape)


def pools_alone() -> list[Any]:
    """Every fifth pool without an activation, which is no function of mirrored elements."""
    found = [param for param in cases() if not param.values[0].get("expect_error")]
    cases_of = [param for param in found if param.values[0]["op"] != "MaxUnpool"]
    return [param for param in cases_of if not param.values[0]["attrs"].get("activation")][::5]


@pytest.mark.parametrize(("case", "tensors"), pools_alone())
def test_minima_are_maxima_of_mirrored_elements(
    case: dict[str, Any], tensors: dict[str, np.ndarray], device: object
) -> None:
    twin = {**case, "op": case["op"].replace("Max", "Min")}
    name = case["inputs"]["x"]["tensor"]
    y, indices = call(twin, {**tensors, name: mirrored(tensors[name])}, device)
    assert_same_bits(mirrored(tensors[case["expected"]["y"]["tensor"]]), y, case.get("nan_payload") == "exact")
    if indices is not None:
        assert_same_bits(tensors[case["expected"]["indices"]["tensor"]], indices, True)

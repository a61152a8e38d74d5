"""Expected results of tests/golden, and a formula in float64."""

import json
import pathlib
import struct

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAIRINGS = ("half", "interleave", "quarter", "interleave-half")
_DTYPES = {"F32": np.dtype(np.float32), "F16": np.dtype(np.float16),
           "F64": np.dtype(np.float64), "I64": np.dtype(np.int64),
           "I32": np.dtype(np.int32), "BF16": np.dtype(ml_dtypes.bfloat16)}


def load(path):
    """(tensors by name, metadata) of a .safetensors file."""
    data = (ROOT / path).read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + n for n in entry["data_offsets"])
        tensors[name] = np.frombuffer(
            data[begin:end], _DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors, metadata


def cases(file, kind):
    """(id, description, the case's tensors) for each case of that kind."""
    tensors, metadata = load(f"tests/golden/{file}.safetensors")
    for case in json.loads(metadata["cases"]):
        if case.get("kind", kind) == kind:
            name = case["case"] + "."
            yield case["case"], case, {
                key.removeprefix(name): value
                for key, value in tensors.items() if key.startswith(name)}


def rotations():
    for file in ("rotate", "partial", "extra"):
        yield from cases(file, "rotate")


def cached():
    for file in ("cached", "extra"):
        yield from cases(file, "cached")


def cached_options(case):
    return dict(style="neox" if case["neox"] else "gptj",
                sections=case["sections"], axes=case["axes"])


def same_bits(a, b):
    """Equal bits, but any NaN equals any other."""
    assert a.dtype == b.dtype and a.shape == b.shape
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    wide = np.float64
    both_nan = np.isnan(a.astype(wide)) & np.isnan(b.astype(wide))
    equal = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(
        b).view(bits)
    return bool(np.all(equal | both_nan))


def within_bound(got, want, absolute, dtype):
    """|error| <= 4 * 2^-24 * sum of |terms|, then one rounding to dtype."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    digits = {"float32": 24, "float16": 11, "bfloat16": 8,
              "float64": 50}[np.dtype(dtype).name]
    unit = 2.0 ** -24 if digits < 30 else 2.0 ** -50
    least = 2.0 ** -24 if np.dtype(dtype).name == "float16" else 1e-37
    before = 4 * unit * absolute
    allowed = before + (np.abs(want) + before) * 2.0 ** -digits + least
    finite = np.isfinite(want) & np.isfinite(absolute)
    return bool(np.all((np.abs(got - want) <= allowed)[finite]))


def pairs(pairing, width):
    """(i, j, p, r): columns of x, and where they go."""
    half = np.arange(width // 2)
    if pairing == "half":
        return half, half + width // 2, half, half + width // 2
    if pairing == "interleave":
        return 2 * half, 2 * half + 1, 2 * half, 2 * half + 1
    if pairing == "interleave-half":
        return 2 * half, 2 * half + 1, half, half + width // 2
    quarter = np.arange(width // 4)
    first = np.concatenate([quarter, quarter + width // 2])
    return first, first + width // 4, first, first + width // 4


def formula(x, cos, sin, pairing, slice=None):
    """The rotation in float64, written as docs/ops/rotate.md has it."""
    x, cos, sin = (a.astype(np.float64) for a in (x, cos, sin))
    start, end = slice or (0, x.shape[-1])
    y = x.copy()
    row, out = x[..., start:end], y[..., start:end]
    i, j, p, r = pairs(pairing, end - start)
    if cos.shape[-1] < end - start:
        full = np.zeros((*cos.shape[:-1], end - start))
        full_sin = full.copy()
        for columns in (p, r):
            full[..., columns] = cos
            full_sin[..., columns] = sin
        cos, sin = full, full_sin
    out[..., p] = row[..., i] * cos[..., p] - row[..., j] * sin[..., p]
    out[..., r] = row[..., j] * cos[..., r] + row[..., i] * sin[..., r]
    return y

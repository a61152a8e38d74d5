#!/usr/bin/env python3
"""Makes extra.safetensors: expected results of cases that the other files lack.

Half-width tables, fp64, ranks other than 4, cached rotations backward, with
int32 positions, three axes or a cache of another dtype. Plain numpy, written
from the formulas in docs/ops; nothing of the library is used. The output
depends on nothing but this file.

  tests/golden/make_golden.py            writes extra.safetensors beside it
  tests/golden/make_golden.py --check    exits 1 if that file differs
"""
import json
import pathlib
import struct
import sys

try:
    import numpy as np
except ImportError:
    sys.exit(77)  # ctest counts this as skipped

DTYPES = {"fp64": "F64", "fp32": "F32", "fp16": "F16", "bf16": "BF16",
          "int64": "I64", "int32": "I32"}
BITS = np.random.PCG64(20240917)


def unit(shape):
    """Uniform in [-1, 1), the same with every version of numpy."""
    raw = BITS.random_raw(int(np.prod(shape)))
    return (raw >> np.uint64(11)).astype(np.float64).reshape(shape) \
        * 2.0**-52 - 1.0


def integers(low, high, shape):
    raw = BITS.random_raw(int(np.prod(shape))) % np.uint64(high - low)
    return raw.astype(np.int64).reshape(shape) + low


def encode(values, dtype):
    """Rounds once to nearest, ties to even, and gives the stored array."""
    if dtype == "fp64":
        return values.astype(np.float64)
    if dtype == "fp32":
        return values.astype(np.float32)
    if dtype == "fp16":
        return values.astype(np.float16)
    bits = values.astype(np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype(np.uint16)


def decode(stored, dtype, real):
    if dtype == "bf16":
        return (stored.astype(np.uint32) << np.uint32(16)).view(
            np.float32).astype(real)
    return stored.astype(real)


def pairs(mode, width):
    """Columns (i, j) on the side of x and (p, r) on the side of y."""
    k = np.arange(width // 2)
    half, quarter = width // 2, width // 4
    if mode == 0:
        return k, k + half, k, k + half
    if mode == 1:
        return 2 * k, 2 * k + 1, 2 * k, 2 * k + 1
    if mode == 2:
        first = np.where(k < quarter, k, k + half - quarter)
        return first, first + quarter, first, first + quarter
    return 2 * k, 2 * k + 1, k, k + half


def columns(table, mode, width):
    """The table at the pairs' two columns, whichever width it has."""
    _, _, p, r = pairs(mode, width)
    if table.shape[-1] == width:
        return table[..., p], table[..., r]
    return table, table


def forward(x, cos, sin, mode):
    i, j, p, r = pairs(mode, x.shape[-1])
    cos_p, cos_r = columns(cos, mode, x.shape[-1])
    sin_p, sin_r = columns(sin, mode, x.shape[-1])
    y = np.empty_like(x)
    y[..., p] = x[..., i] * cos_p - x[..., j] * sin_p
    y[..., r] = x[..., j] * cos_r + x[..., i] * sin_r
    return y


def backward(dy, cos, sin, mode):
    i, j, p, r = pairs(mode, dy.shape[-1])
    cos_p, cos_r = columns(cos, mode, dy.shape[-1])
    sin_p, sin_r = columns(sin, mode, dy.shape[-1])
    dx = np.empty_like(dy)
    dx[..., i] = cos_p * dy[..., p] + sin_r * dy[..., r]
    dx[..., j] = cos_r * dy[..., r] - sin_p * dy[..., p]
    return dx


def table_terms(dy, x, mode, full):
    """What each element adds to dcos and dsin, in columns of the table."""
    i, j, p, r = pairs(mode, x.shape[-1])
    terms = []
    for first, second in ((dy[..., p] * x[..., i], dy[..., r] * x[..., j]),
                          (-dy[..., p] * x[..., j], dy[..., r] * x[..., i])):
        if full:
            both = np.empty_like(x)
            both[..., p], both[..., r] = first, second
            terms.append([both])
        else:
            terms.append([first, second])
    return terms


def reduce(parts, shape):
    axes = tuple(a for a in range(len(shape) - 1) if shape[a] == 1)
    return sum(np.sum(part, axis=axes, keepdims=True) for part in parts)


def rotate_case(tensors, name, mode, shape, cos_shape, dtype, cos_dtype,
                slice_=None):
    real = np.float64 if dtype == "fp64" else np.float32
    x, dy = encode(unit(shape) * 2, dtype), encode(unit(shape), dtype)
    cos, sin = (encode(unit(cos_shape), cos_dtype) for _ in range(2))
    start, end = slice_ or (0, shape[-1])
    c, s = decode(cos, cos_dtype, real), decode(sin, cos_dtype, real)
    y, dx = x.copy(), dy.copy()
    part_x = decode(x[..., start:end], dtype, real)
    part_dy = decode(dy[..., start:end], dtype, real)
    y[..., start:end] = encode(forward(part_x, c, s, mode), dtype)
    dx[..., start:end] = encode(backward(part_dy, c, s, mode), dtype)
    for key, value in (("x", x), ("dy", dy), ("y", y), ("dx", dx)):
        tensors[f"{name}.{key}"] = (dtype, value)
    tensors[f"{name}.cos"] = (cos_dtype, cos)
    tensors[f"{name}.sin"] = (cos_dtype, sin)
    terms = table_terms(part_dy.astype(np.float64), part_x.astype(np.float64),
                        mode, cos_shape[-1] == end - start)
    for key, parts in zip(("dcos", "dsin"), terms):
        tensors[f"{name}.{key}_f64"] = ("fp64", reduce(parts, cos_shape))
        tensors[f"{name}.{key}_abs"] = (
            "fp64", reduce([np.abs(part) for part in parts], cos_shape))
    case = {"case": name, "kind": "partial" if slice_ else "rotate",
            "mode": mode, "dtype": dtype, "cos_dtype": cos_dtype,
            "data": "normal"}
    if slice_:
        case["slice"] = slice_
    return case


def section_of(k, sections, axes):
    if not sections or sections[0] == 0:
        return 0
    if axes == "interleaved":
        return k % 3 if k % 3 and k // 3 < sections[k % 3] else 0
    return int(np.searchsorted(np.cumsum(sections), k, side="right"))


def cached_case(tensors, name, *, head_size, rotary_dim, neox, sections=None,
                axes="segmented", backward_=False, dtype="fp32",
                cache_dtype="fp32", position_dtype="int64", split=False):
    real = np.float64 if dtype == "fp64" else np.float32
    tokens, rows, half = 4, 19, rotary_dim // 2
    many = sections and sections[0] > 0
    positions = integers(0, rows,
                         (len(sections), tokens) if many else (tokens,))
    cache = encode(unit((rows, rotary_dim)), cache_dtype)
    table = decode(cache, cache_dtype, real)
    where = positions if many else positions[None]
    picked = np.stack([where[section_of(k, sections, axes)]
                       for k in range(half)], axis=-1)
    cos = table[picked, np.arange(half)][:, None]
    sin = table[picked, np.arange(half) + half][:, None]
    tensors[f"{name}.positions"] = (
        position_dtype, positions.astype(np.dtype(position_dtype)))
    tensors[f"{name}.cache"] = (cache_dtype, cache)
    for key, heads in (("query", 2), ("key", 1)):
        x = encode(unit((tokens, heads, head_size)) * 2, dtype)
        out = x.copy()
        part = decode(x[..., :rotary_dim], dtype, real)
        turn = backward if backward_ else forward
        out[..., :rotary_dim] = encode(turn(part, cos, sin, 0 if neox else 1),
                                       dtype)
        shape = x.shape if split else (tokens, heads * head_size)
        tensors[f"{name}.{key}"] = (dtype, x.reshape(shape))
        tensors[f"{name}.{key}_out"] = (dtype, out.reshape(shape))
    return {"case": name, "kind": "cached", "head_size": head_size,
            "rotary_dim": rotary_dim, "neox": neox, "sections": sections,
            "axes": axes, "backward": backward_, "dtype": dtype}


def make_cases(tensors):
    cases = []

    def rotate(*args):
        name = f"e{len(cases):03}"
        cases.append(rotate_case(tensors, name, *args))

    def cached(**options):
        name = f"e{len(cases):03}"
        cases.append(cached_case(tensors, name, **options))

    for mode in range(4):
        rotate(mode, (2, 2, 1, 12), (2, 1, 1, 6), "fp32", "fp32")
        rotate(mode, (2, 3, 1, 20), (1, 3, 1, 10), "bf16", "fp32")
        rotate(mode, (2, 2, 36), (2, 1, 18), "fp16", "bf16")
        rotate(mode, (3, 2, 8), (1, 1, 8), "fp64", "fp64")
        rotate(mode, (2, 2, 12), (2, 1, 6), "fp64", "fp64")
        rotate(mode, (4,), (4,), "fp32", "fp16")
        rotate(mode, (8,), (4,), "bf16", "bf16")
        rotate(mode, (3, 28), (1, 28), "fp16", "fp32")
        rotate(mode, (2, 1, 2, 1, 12), (1, 1, 2, 1, 12), "fp32", "fp32")
        rotate(mode, (2, 1, 2, 1, 2, 1, 2, 4), (1, 1, 2, 1, 1, 1, 2, 4),
               "bf16", "fp32")
        rotate(mode, (3, 2, 21), (3, 1, 8), "fp16", "fp32", (5, 21))
        rotate(mode, (2, 2, 17), (2, 1, 12), "fp64", "fp64", (3, 15))
    for neox in (True, False):
        for back in (True, False):
            cached(head_size=16, rotary_dim=12, neox=neox, backward_=back,
                   dtype="bf16", cache_dtype="fp32", position_dtype="int32")
            cached(head_size=11, rotary_dim=6, neox=neox, backward_=back,
                   dtype="fp64", cache_dtype="fp64", split=True)
            cached(head_size=24, rotary_dim=24, neox=neox, backward_=back,
                   sections=[5, 4, 3], axes="interleaved", dtype="fp16",
                   cache_dtype="bf16", position_dtype="int32", split=True)
            cached(head_size=20, rotary_dim=20, neox=neox, backward_=back,
                   sections=[1, 2, 3, 4], dtype="fp32", cache_dtype="fp16")
            cached(head_size=8, rotary_dim=2, neox=neox, backward_=back,
                   dtype="fp32", split=True)
    return cases


def serialize(tensors, cases):
    # Larger elements first: then each tensor is aligned in the file.
    order = sorted(tensors, key=lambda n: (-tensors[n][1].itemsize, n))
    header, offset = {"__metadata__": {"cases": json.dumps(cases)}}, 0
    for name in order:
        dtype, array = tensors[name]
        header[name] = {"dtype": DTYPES[dtype], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    parts = [np.ascontiguousarray(tensors[n][1]).tobytes() for n in order]
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def main():
    tensors = {}
    cases = make_cases(tensors)
    content = serialize(tensors, cases)
    path = pathlib.Path(__file__).with_name("extra.safetensors")
    if "--check" in sys.argv[1:]:
        same = path.exists() and path.read_bytes() == content
        print("same" if same else f"{path} differs")
        return 0 if same else 1
    path.write_bytes(content)
    print(f"{path}: {len(cases)} cases, {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

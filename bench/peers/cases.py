"""What is compared: cases, their data, and whether a result is right."""

import dataclasses

import numpy as np

EXACT_BITS = {"f32": 23, "bf16": 7, "f16": 10}  # of the mantissa, as stored
BYTES = {"f32": 4, "bf16": 2, "f16": 2}
SAMPLE = 32  # tokens at either end whose results are checked
WIDTH = 128


@dataclasses.dataclass(frozen=True)
class Case:
    """x is (1, tokens, heads, 128), or (1, heads, tokens, 128) in BNSD; the
    tables, of x's dtype, are shared by the heads."""
    op: str = "forward"  # or "dx", or "gradients": dx, dcos and dsin
    pairing: str = "half"  # or "interleave"
    dtype: str = "f32"
    layout: str = "BSND"
    tokens: int = 2048
    heads: int = 32
    kind: str = "memory"  # or "in cache", or "decode"

    @property
    def name(self):
        words = {"forward": "rotate", "dx": "dx", "gradients": "dx+dcos+dsin"}
        extra = "" if self.kind == "memory" else ", " + self.kind
        return "%s %s %s %s%s" % (words[self.op], self.pairing, self.dtype,
                                  self.layout, extra)

    @property
    def shape(self):
        by_token = (1, self.tokens, self.heads, WIDTH)
        return by_token if self.layout == "BSND" else (
            1, self.heads, self.tokens, WIDTH)

    @property
    def table_shape(self):
        return ((1, self.tokens, 1, WIDTH) if self.layout == "BSND" else
                (1, 1, self.tokens, WIDTH))

    @property
    def head_axis(self):
        return 2 if self.layout == "BSND" else 1

    @property
    def first(self):
        """The position of the first token."""
        return 1000 if self.kind == "decode" else 0

    @property
    def bytes(self):
        """The least that must be moved: rows, tables and their gradients."""
        rows = self.tokens * self.heads * WIDTH * BYTES[self.dtype]
        tables = 2 * self.tokens * WIDTH * BYTES[self.dtype]
        return (3 * rows + 2 * tables if self.op == "gradients" else
                2 * rows + tables)


def all_cases(quick):
    cases = [
        Case(), Case(layout="BNSD"), Case(pairing="interleave"),
        Case(dtype="bf16"), Case(dtype="f16"),
        Case(op="dx"), Case(op="gradients"), Case(op="gradients", dtype="bf16"),
        Case(tokens=64, kind="in cache"),
        Case(tokens=1, heads=40, kind="decode"),
        Case(tokens=1, heads=40, dtype="bf16", kind="decode"),
    ]
    if quick:
        return cases
    return cases + [
        Case(dtype="bf16", layout="BNSD"),
        Case(dtype="bf16", pairing="interleave"),
        Case(dtype="f16", pairing="interleave"),
        Case(op="dx", dtype="bf16"), Case(op="gradients", layout="BNSD"),
        Case(tokens=128, dtype="bf16", kind="in cache"),
    ]


def aligned(shape, dtype):
    """Memory at the start of a cache line, touched."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + size].view(dtype).reshape(shape)


def storage(dtype):
    """NumPy has no bf16: its bits stand in 16-bit integers."""
    return {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}[dtype]


def encode(values, dtype):
    """float64 to the dtype, rounded to nearest even."""
    if dtype != "bf16":
        return values.astype(storage(dtype))
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def decode(array, dtype):
    if dtype != "bf16":
        return array.astype(np.float64)
    return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


class Data:
    """Inputs of a case, in the case's dtype. Angles are those of the usual
    table with base 10000, so that peers that make their own tables fit."""

    def __init__(self, case):
        random = np.random.default_rng(1)
        self.case = case
        self.x = self.rows(random)
        self.dy = self.rows(random) if case.op != "forward" else None
        angles = np.outer(case.first + np.arange(case.tokens),
                          10000.0 ** (-np.arange(0, WIDTH, 2) / WIDTH))
        angles = (np.tile(angles, 2) if case.pairing == "half" else
                  np.repeat(angles, 2, axis=1))
        self.cos = self.table(np.cos(angles))
        self.sin = self.table(np.sin(angles))

    def rows(self, random):
        array = aligned(self.case.shape, storage(self.case.dtype))
        array[:] = encode(random.standard_normal(self.case.shape, np.float32),
                          self.case.dtype)
        return array

    def table(self, values):
        array = aligned(self.case.table_shape, storage(self.case.dtype))
        array[:] = encode(values, self.case.dtype).reshape(array.shape)
        return array


def turned(values, pairing):
    """rot(x): the partner of each element, with the first one's negated."""
    out = np.empty_like(values)
    if pairing == "half":
        half = values.shape[-1] // 2
        out[..., :half] = -values[..., half:]
        out[..., half:] = values[..., :half]
    else:
        out[..., 0::2] = -values[..., 1::2]
        out[..., 1::2] = values[..., 0::2]
    return out


def sampled(array, case):
    """The tokens at both ends."""
    axis = 1 if case.layout == "BSND" else 2
    keep = sorted(set(range(min(SAMPLE, case.tokens))) |
                  set(range(max(0, case.tokens - SAMPLE), case.tokens)))
    return np.take(array, keep, axis=axis)


def expected(data):
    """Results in double, of the sampled tokens, each with the sum of its terms'
    magnitudes."""
    case = data.case
    get = lambda array: decode(sampled(array, case), case.dtype)
    x, cos, sin = get(data.x), get(data.cos), get(data.sin)
    if case.op == "forward":
        y = turned(x, case.pairing)
        return {"y": (x * cos + y * sin, abs(x * cos) + abs(y * sin))}
    dy = get(data.dy)
    turn = turned(dy * sin, case.pairing)
    results = {"dx": (dy * cos - turn, abs(dy * cos) + abs(turn))}
    if case.op == "gradients":
        for name, terms in (("dcos", dy * x),
                            ("dsin", dy * turned(x, case.pairing))):
            axis = case.head_axis
            results[name] = (terms.sum(axis, keepdims=True),
                             abs(terms).sum(axis, keepdims=True))
    return results


def judge(results, want, case):
    """The share of numbers that differ from the exact one by more than one
    rounding to the dtype and the arithmetic in fp32, and the largest error
    against the sum of magnitudes."""
    wrong = total = 0
    largest = 0.0
    for name, (exact, terms) in want.items():
        got = sampled(results[name], case)
        error = abs(got - exact)
        half_ulp = 2.0 ** (np.floor(np.log2(np.maximum(abs(exact), 1e-30))) -
                           EXACT_BITS[case.dtype] - 1)
        bound = 1.001 * half_ulp + 2.0 ** -22 * terms
        if case.dtype == "f16":
            bound = np.maximum(bound, 2.0 ** -25)
        wrong += int((error > bound).sum())
        total += error.size
        largest = max(largest, float((error / (terms + 1e-3)).max()))
    return wrong / total, largest

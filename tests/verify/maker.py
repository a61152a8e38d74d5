"""Results with a mistake in them, made with numpy alone.

Written from the formulas; nothing of the library is used, so that what it says
of a mistake is checked against another hand's work.
"""

import numpy as np

DTYPES = {"fp32": "F32", "fp16": "F16", "bf16": "BF16", "int64": "I64"}
PAIRINGS = ("half", "interleave", "quarter", "interleave-half")


def bits_of_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def round_to(values, dtype):
    """Nearest, ties to even; back as float32."""
    values = np.asarray(values, np.float32)
    if dtype == "fp16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    if dtype == "bf16":
        return from_bf16(bits_of_bf16(values))
    return values


def cut_to(values, dtype):
    """Rounded toward zero."""
    values = np.ascontiguousarray(values, np.float32)
    if dtype == "bf16":
        return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(
            np.float32)
    near = values.astype(np.float16)
    too_far = np.abs(near.astype(np.float32)) > np.abs(values)
    bits = near.view(np.uint16) - too_far.astype(np.uint16)
    return bits.view(np.float16).astype(np.float32)


def stored(values, dtype):
    """(safetensors dtype, shape, bytes)."""
    if dtype == "bf16":
        array = bits_of_bf16(values)
    elif dtype == "fp16":
        array = np.asarray(values, np.float32).astype(np.float16)
    elif dtype == "int64":
        array = np.asarray(values, np.int64)
    else:
        array = np.asarray(values, np.float32)
    return DTYPES[dtype], list(array.shape), array.tobytes()


def loaded(tensor):
    """The numbers of a tensor as float32."""
    dtype, shape, data = tensor
    kind = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "F64": "<f8",
            "I64": "<i8"}[dtype]
    array = np.frombuffer(data, kind).reshape(shape)
    return from_bf16(array) if dtype == "BF16" else array.astype(np.float32)


def pair_columns(mode, width):
    """(i, j) on the side of x, (p, r) on that of y and the tables."""
    k = np.arange(width // 2)
    half, quarter = width // 2, width // 4
    if mode == "half":
        return k, k + half, k, k + half
    if mode == "interleave":
        return 2 * k, 2 * k + 1, 2 * k, 2 * k + 1
    if mode == "quarter":
        first = np.where(k < quarter, k, k + half - quarter)
        return first, first + quarter, first, first + quarter
    return 2 * k, 2 * k + 1, k, k + half


def spread(values, mode):
    """A number for each pair in the columns of both its elements."""
    width = 2 * values.shape[-1]
    _, _, p, r = pair_columns(mode, width)
    table = np.empty(values.shape[:-1] + (width,), values.dtype)
    table[..., p] = values
    table[..., r] = values
    return table


def plain(a, b):
    return a + b


def turn(x, cos, sin, mode, backward=False, add=plain, crossed=True):
    """Rotates the last axis in float32: product, product, `add`."""
    i, j, p, r = pair_columns(mode, x.shape[-1])
    shape = np.broadcast_shapes(x.shape, cos.shape)
    out = np.empty(shape, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        if not backward:
            out[..., p] = add(x[..., i] * cos[..., p],
                              -(x[..., j] * sin[..., p]))
            out[..., r] = add(x[..., j] * cos[..., r], x[..., i] * sin[..., r])
            return out
        sin_p, sin_r = sin[..., p], sin[..., r]
        if not crossed:
            sin_p, sin_r = sin_r, sin_p
        out[..., i] = add(x[..., p] * cos[..., p], x[..., r] * sin_r)
        out[..., j] = add(x[..., r] * cos[..., r], -(x[..., p] * sin_p))
    return out


def turn_slice(x, cos, sin, mode, start, end, **how):
    out = x.copy()
    out[..., start:end] = turn(x[..., start:end], cos, sin, mode, **how)
    return out


def frequencies(pairs, base=10000.0):
    return base ** (-np.arange(pairs) / pairs)


def angles_of(positions, freq):
    return np.asarray(positions, np.float64)[..., None] * freq


def gradients(dy, x, mode):
    """Terms of dcos and dsin for each column of a full table, float64."""
    i, j, p, r = pair_columns(mode, x.shape[-1])
    dy, x = dy.astype(np.float64), x.astype(np.float64)
    cos, sin = np.empty_like(x), np.empty_like(x)
    cos[..., p], cos[..., r] = dy[..., p] * x[..., i], dy[..., r] * x[..., j]
    sin[..., p], sin[..., r] = -dy[..., p] * x[..., j], dy[..., r] * x[..., i]
    return cos, sin


class Rotation:
    """Random data of a rotation, [batch, token, head, column] or, if `bnsd`,
    [batch, head, token, column]; tables for all heads."""

    def __init__(self, seed, mode, dtype, table_dtype, shape=(2, 24, 5, 32),
                 bnsd=False, slice_=None, per_batch=False, backward=False,
                 random_tables=False, x=None, tables=None):
        rng = np.random.default_rng(seed)
        self.mode, self.dtype, self.table_dtype = mode, dtype, table_dtype
        self.bnsd, self.backward = bnsd, backward
        self.batch, self.tokens, self.heads, self.columns = shape
        self.start, self.end = slice_ or (0, self.columns)
        self.width = self.end - self.start
        self.sliced = slice_ is not None
        if x is None:
            x = rng.standard_normal(shape)
            if bnsd:
                x = x.transpose(0, 2, 1, 3)
        self.x = round_to(np.ascontiguousarray(x, np.float32), dtype)
        self.positions = np.arange(self.tokens)[None]
        if per_batch:
            self.positions = np.arange(self.batch * self.tokens).reshape(
                self.batch, self.tokens)
        self.frequency = frequencies(self.width // 2)
        if tables is not None:
            self.cos, self.sin = tables
        elif random_tables:
            full = self.positions.shape + (self.width,)
            self.cos, self.sin = (
                round_to(self.place(rng.uniform(-1, 1, full)), table_dtype)
                for _ in range(2))
        else:
            self.cos, self.sin = self.tables(self.positions, self.frequency)

    def place(self, table):
        """[batch, token, column] in the axes of x."""
        return table[:, None] if self.bnsd else table[:, :, None]

    def tables(self, positions, frequency, layout=None, dtype=None):
        angles = angles_of(positions, frequency)
        return tuple(
            round_to(self.place(spread(f(angles), layout or self.mode)),
                     dtype or self.table_dtype) for f in (np.cos, np.sin))

    def turn(self, x=None, cos=None, sin=None, mode=None, start=None,
             end=None, **how):
        how.setdefault("backward", self.backward)
        return turn_slice(self.x if x is None else x,
                          self.cos if cos is None else cos,
                          self.sin if sin is None else sin, mode or self.mode,
                          self.start if start is None else start,
                          self.end if end is None else end, **how)

    def inputs(self):
        name = "dy" if self.backward else "x"
        return {name: stored(self.x, self.dtype),
                "cos": stored(self.cos, self.table_dtype),
                "sin": stored(self.sin, self.table_dtype)}

    def result(self, values):
        return {"dx" if self.backward else "y": stored(values, self.dtype)}

    def args(self):
        args = ["backward" if self.backward else "rotate", "--pairing",
                self.mode]
        if self.sliced:
            args += ["--slice", "%d:%d" % (self.start, self.end)]
        return args

    def heads_axis(self):
        return 1 if self.bnsd else 2

    def tokens_axis(self):
        return 2 if self.bnsd else 1


class Cached:
    """Random data of a rotation by position: query and key, flat."""

    def __init__(self, seed, style, dtype, tokens=40, heads=(4, 2),
                 head_size=32, rotary=None, rows=96, sections=None,
                 axes="segmented", first=3, backward=False):
        rng = np.random.default_rng(seed)
        self.style, self.dtype, self.axes = style, dtype, axes
        self.mode = "half" if style == "neox" else "interleave"
        self.tokens, self.heads, self.head_size = tokens, heads, head_size
        self.rotary = rotary or head_size
        self.rows, self.sections, self.backward = rows, sections, backward
        self.query, self.key = (
            round_to(rng.standard_normal((tokens, n, head_size)), dtype)
            for n in heads)
        self.frequency = frequencies(self.rotary // 2)
        self.cache = self.make_cache(self.frequency)
        count = len(sections) if sections else 1
        self.positions = np.stack(
            [first + np.arange(tokens) // (1 + i) for i in range(count)])

    def make_cache(self, frequency, rows=None):
        angles = angles_of(np.arange(rows or self.rows), frequency)
        return round_to(np.concatenate([np.cos(angles), np.sin(angles)], -1),
                        self.dtype)

    def section_of_pair(self, sections=None, axes=None):
        sections = sections or self.sections
        pairs = self.rotary // 2
        if not sections:
            return np.zeros(pairs, int)
        if (axes or self.axes) == "interleaved":
            section = np.zeros(pairs, int)
            for row in (1, 2):
                places = np.arange(sections[row]) * 3 + row
                section[places[places < pairs]] = row
            return section
        return np.repeat(np.arange(len(sections)), sections)

    def rows_of(self, positions=None, section=None, cache=None):
        """cos and sin of each token, [tokens, pairs]."""
        positions = self.positions if positions is None else positions
        section = self.section_of_pair() if section is None else section
        cache = self.cache if cache is None else cache
        pairs = self.rotary // 2
        row = positions[section].T  # [tokens, pairs]
        k = np.arange(pairs)
        return cache[row, k], cache[row, pairs + k]

    def turn(self, x, rows=None, mode=None, start=0, layout=None, **how):
        cos, sin = rows or self.rows_of()
        how.setdefault("backward", self.backward)
        cos, sin = (spread(t, layout or mode or self.mode)[:, None]
                    for t in (cos, sin))
        return turn_slice(x, cos, sin, mode or self.mode, start,
                          start + self.rotary, **how)

    def both(self, function):
        """The results of query and key."""
        return [function(self.query), function(self.key)]

    def inputs(self):
        positions = self.positions if self.sections else self.positions[0]
        return {"positions": stored(positions, "int64"),
                "query": stored(self.query.reshape(self.tokens, -1),
                                self.dtype),
                "key": stored(self.key.reshape(self.tokens, -1), self.dtype),
                "cache": stored(self.cache, self.dtype)}

    def result(self, values):
        return {name: stored(value.reshape(self.tokens, -1), self.dtype)
                for name, value in zip(("query", "key"), values)}

    def args(self):
        args = ["cached", "--style", self.style, "--head-size",
                str(self.head_size), "--axes", self.axes]
        if self.sections:
            args += ["--sections", ",".join(map(str, self.sections))]
        if self.backward:
            args += ["--backward"]
        return args

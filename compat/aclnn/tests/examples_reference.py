"""What the examples must print, from the definitions of the operators."""


def ramp(count, step):
    return [(i * step % 9 - 4) * 0.25 for i in range(count)]


def pairs(mode, width):
    """(i, j) in the row of x, (p, r) in the row of the tables."""
    half = width // 2
    for k in range(half):
        if mode == "half":
            yield k, k + half, k, k + half
        elif mode == "interleave":
            yield 2 * k, 2 * k + 1, 2 * k, 2 * k + 1
        else:  # interleave-half
            yield 2 * k, 2 * k + 1, k, k + half


def forward_row(mode, x, cos, sin):
    y = [0] * len(x)
    for i, j, p, r in pairs(mode, len(x)):
        y[p] = x[i] * cos[p] - x[j] * sin[p]
        y[r] = x[j] * cos[r] + x[i] * sin[r]
    return y


def backward_row(mode, dy, cos, sin):
    dx = [0] * len(dy)
    for i, j, p, r in pairs(mode, len(dy)):
        dx[i] = cos[p] * dy[p] + sin[r] * dy[r]
        dx[j] = cos[r] * dy[r] - sin[p] * dy[p]
    return dx


def rows(values, width):
    return [values[i:i + width] for i in range(0, len(values), width)]


def turn(row, mode, values, heads, cos, sin):
    """Rows of `heads` heads for each row of the tables."""
    width = len(cos[0])
    out = []
    for n, part in enumerate(rows(values, width)):
        out += row(mode, part, cos[n // heads], sin[n // heads])
    return out


def sums(mode, x, dy, heads, width, dcos, dsin):
    for n, (a, g) in enumerate(zip(rows(x, width), rows(dy, width))):
        for i, j, p, r in pairs(mode, width):
            dcos[n // heads][p] += g[p] * a[i]
            dcos[n // heads][r] += g[r] * a[j]
            dsin[n // heads][p] -= g[p] * a[j]
            dsin[n // heads][r] += g[r] * a[i]


def flat(table):
    return [value for row in table for value in row]


def tables(tokens, width):
    return (rows(ramp(tokens * width, 2), width),
            rows(ramp(tokens * width, 5), width))


def rotary(mode):
    cos, sin = tables(2, 8)
    return {"out": turn(forward_row, mode, ramp(48, 1), 3, cos, sin)}


def grad():
    cos, sin = tables(2, 8)
    dcos = [[0] * 8 for _ in range(2)]
    dsin = [[0] * 8 for _ in range(2)]
    dx = turn(backward_row, "interleave", ramp(48, 1), 3, cos, sin)
    sums("interleave", ramp(48, 4), ramp(48, 1), 3, 8, dcos, dsin)
    return {"dx": dx, "dcos": flat(dcos), "dsin": flat(dsin)}


def partial(row, name):
    cos, sin = tables(2, 4)
    out = []
    for n, part in enumerate(rows(ramp(48, 1), 8)):
        out += part[:2]
        out += row("interleave", part[2:6], cos[n // 3], sin[n // 3])
        out += part[6:]
    return {name: out}


def cached(mode, positions, head, cache, axis_of):
    """Query with 2 heads and key with 1; positions by axis and token."""
    out = {}
    tokens = len(positions[0])
    for name, heads, step in (("query", 2, 1), ("key", 1, 4)):
        values = ramp(tokens * heads * head, step)
        result = []
        for n, part in enumerate(rows(values, head)):
            token = n // heads
            cos = [0] * head
            sin = [0] * head
            for k, (_, _, p, r) in enumerate(pairs(mode, head)):
                row = cache[positions[axis_of(k)][token]]
                cos[p] = cos[r] = row[k]
                sin[p] = sin[r] = row[k + head // 2]
            result += forward_row(mode, part, cos, sin)
        out[name] = result
    return out


def apply(mode, tokens, heads, width):
    cos, sin = tables(tokens, width)
    query = ramp(tokens * heads * width, 1)
    key = ramp(tokens * width, 4)
    return {"query": turn(forward_row, mode, query, heads, cos, sin),
            "key": turn(forward_row, mode, key, 1, cos, sin)}


def apply_grad():
    cos, sin = tables(2, 8)
    dcos = [[0] * 8 for _ in range(2)]
    dsin = [[0] * 8 for _ in range(2)]
    sums("half", ramp(48, 7), ramp(48, 1), 3, 8, dcos, dsin)
    sums("half", ramp(16, 8), ramp(16, 4), 1, 8, dcos, dsin)
    return {"query": turn(backward_row, "half", ramp(48, 1), 3, cos, sin),
            "key": turn(backward_row, "half", ramp(16, 4), 1, cos, sin),
            "dcos": flat(dcos), "dsin": flat(dsin)}


def interleave_rope():
    cos, sin = tables(1, 64)
    return {"out": turn(forward_row, "interleave-half", ramp(128, 1), 2, cos,
                        sin)}


# By example; the numbers are few bits, so float holds all results exactly, and
# the 16-bit types round once.
EXPECTED = {
    "rotary_position_embedding": lambda: rotary("half"),
    "rotary_position_embedding_v2": lambda: rotary("half"),
    "rotary_position_embedding_grad":
        lambda: {**grad(), "alone": grad()["dx"]},
    "inplace_partial_rotary_mul": lambda: partial(forward_row, "x"),
    "inplace_partial_rotary_mul_grad": lambda: partial(backward_row, "dy"),
    "rope_with_sin_cos_cache": lambda: cached(
        "half", [[3, 0, 2]], 32, rows(ramp(128, 5), 32), lambda k: 0),
    "rope_with_sin_cos_cache_v2": lambda: cached(
        "interleave", [[1], [0], [2]], 64, rows(ramp(192, 5), 64),
        lambda k: k % 3 if k // 3 < 12 else 0),
    "apply_rotary_pos_emb": lambda: apply("half", 1, 2, 64),
    "apply_rotary_pos_emb_v2": lambda: apply("interleave", 3, 2, 8),
    "apply_rotary_pos_emb_grad": apply_grad,
    "interleave_rope": interleave_rope,
    "aclnn_c99": lambda: rotary("interleave"),
    "aclnn_ctypes": grad,
    "aclnn_decode_loop": lambda: apply("half", 4, 2, 8),
}


def check(name, output):
    """Raises where the output of an example is not as expected."""
    lines = dict(line.split(": ", 1) for line in output.splitlines())
    got = {key: [float(word) for word in text.split()]
           for key, text in lines.items()}
    expected = EXPECTED[name]()
    assert got.keys() == expected.keys(), (name, got.keys())
    for key, values in expected.items():
        assert got[key] == values, f"{name}: {key}: {got[key]} for {values}"

"""Inputs for the operators of torch.ops.ropewalk, of many kinds."""

import torch

PAIRINGS = ("half", "interleave", "quarter", "interleave-half")
DTYPES = ((torch.float32, torch.float32), (torch.bfloat16, torch.float32),
          (torch.float16, torch.bfloat16), (torch.float64, torch.float64))


def tensor(*shape, dtype=torch.float64, grad=False):
    return torch.randn(*shape, dtype=torch.float64).to(dtype).requires_grad_(
        grad)


def rotations(dtypes=DTYPES, grad=False):
    """(x, cos, sin, pairing, slice): pairings, broadcasts, slices, layouts."""
    torch.manual_seed(0)
    for i, pairing in enumerate(PAIRINGS):
        for k, (table, slice, width) in enumerate((
                ((2, 1, 3), None, 8), ((1, 1, 1), None, 8),
                ((2, 4, 3), (1, 5), 4), ((1, 4, 1), (2, 10), 8),
                ((1, 1, 3), None, 4))):  # the last: one value for each pair
            dtype, table_dtype = dtypes[(i + k) % len(dtypes)]
            size = 8 if slice is None else slice[1] + k
            x = tensor(2, 4, 3, size, dtype=dtype)
            if k % 2:
                x = x.transpose(1, 2).contiguous().transpose(1, 2)
            yield (x.requires_grad_(grad),
                   *(tensor(*table, width, dtype=table_dtype,
                            grad=grad and k != 3) for _ in range(2)),
                   pairing, slice)


def second(x, cos):
    """A k for q: fewer heads, where the tables allow it."""
    heads = 2 if cos.shape[1] == 1 else x.shape[1]
    return (x.detach()[:, :heads] * 2).requires_grad_(x.requires_grad)


SECTIONS = ((None, "segmented"), ([1, 2, 1], "segmented"),
            ([2, 1, 1], "interleaved"), ([1, 1, 1, 1], "segmented"),
            ([0, 0, 0], "segmented"))


def cached(dtypes=DTYPES, grad=False):
    """(positions, q, k, cache, head_size, style, sections, axes)"""
    torch.manual_seed(0)
    for i, style in enumerate(("neox", "gptj")):
        for k, (sections, axes) in enumerate(SECTIONS):
            for heads in (False, True):
                dtype, table_dtype = dtypes[(i + k) % len(dtypes)]
                shape = ((3,) if not sections or sections[0] == 0
                         else (len(sections), 3))
                positions = torch.randint(0, 7, shape)
                if k == 1:
                    positions = positions.int()
                q = tensor(3, 2, 10, dtype=dtype)
                key = tensor(3, 1, 10, dtype=dtype)
                if not heads:
                    q, key = q.flatten(1), key.flatten(1)
                yield (positions, q.requires_grad_(grad),
                       key.requires_grad_(grad),
                       tensor(7, 8, dtype=table_dtype, grad=grad), 10, style,
                       sections, axes)


def calls(op, grad):
    """Arguments for an operator by its name."""
    if op.startswith("rotary_cached"):
        yield from cached(grad=grad)
        return
    for x, cos, sin, *options in rotations(grad=grad):
        xs = (x, second(x, cos)) if op.startswith("rotary_qk") else (x,)
        if op.endswith("_backward"):
            xs = (*(torch.randn_like(t).requires_grad_(grad) for t in xs), *xs)
        if op.endswith("_") and grad:
            xs = tuple(t * 1 for t in xs)  # a leaf may not be written to
        yield (*xs, cos, sin, *options)


OPS = ("rotary", "rotary_", "rotary_dx", "rotary_dx_", "rotary_backward",
       "rotary_qk", "rotary_qk_", "rotary_qk_dx", "rotary_qk_backward",
       "rotary_cached", "rotary_cached_dx")

"""Names of other libraries, against float64 formulas of what they mean."""

import inspect

import pytest
import torch

import ropewalk.flash_attn as flash_attn
import ropewalk.torch as rt
import ropewalk.vllm as vllm

DTYPES = ((torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16),
          (torch.float16, torch.float32), (torch.float64, torch.float64))
UNITS = {torch.float32: 2.0**-22, torch.bfloat16: 2.0**-8,
         torch.float16: 2.0**-11, torch.float64: 2.0**-50}


def bare(function):
    parameters = inspect.signature(function).parameters.values()
    return str(inspect.Signature([p.replace(annotation=p.empty)
                                  for p in parameters]))


def test_signatures():
    assert flash_attn.__all__ == ["apply_rotary_emb"]
    assert bare(flash_attn.apply_rotary_emb) == (
        "(x, cos, sin, interleaved=False, inplace=False, seqlen_offsets=0, "
        "cu_seqlens=None, max_seqlen=None)")
    assert vllm.__all__ == ["rotary_embedding"]
    assert bare(vllm.rotary_embedding) == (
        "(positions, query, key, head_size, cos_sin_cache, is_neox)")


def rotated(x, cos, sin, positions, interleaved):
    """x (..., heads, head_size) in float64, pair by pair."""
    x = x.double()
    y = x.clone()
    pairs = cos.shape[1]
    for k in range(pairs):
        i, j = (2 * k, 2 * k + 1) if interleaved else (k, k + pairs)
        c, s = (t.double()[positions.long(), k].unsqueeze(-1)
                for t in (cos, sin))
        y[..., i] = x[..., i] * c - x[..., j] * s
        y[..., j] = x[..., j] * c + x[..., i] * s
    return y


def near(got, want, dtype):
    assert got.dtype == dtype and got.shape == want.shape
    torch.testing.assert_close(got.double(), want, rtol=0,
                               atol=8 * UNITS[dtype])


def tables(pairs, dtype):
    """Of 9 positions."""
    angles = torch.rand(9, pairs, dtype=torch.float64) * 6
    return angles.cos().to(dtype), angles.sin().to(dtype)


# --- flash-attention ---------------------------------------------------------

SHIFTS = torch.tensor([4, 0, 2])
BOUNDS = torch.tensor([0, 3, 3, 7], dtype=torch.int32)
LAYOUTS = {
    "from 0": ({}, [[0, 1, 2, 3, 4]] * 3),
    "an offset": ({"seqlen_offsets": 3}, [[3, 4, 5, 6, 7]] * 3),
    "offsets": ({"seqlen_offsets": SHIFTS},
                [[4, 5, 6, 7, 8], [0, 1, 2, 3, 4], [2, 3, 4, 5, 6]]),
    "packed": ({"cu_seqlens": BOUNDS, "max_seqlen": 4},
               [0, 1, 2, 0, 1, 2, 3]),
    "packed, an offset": (
        {"cu_seqlens": BOUNDS, "max_seqlen": 5, "seqlen_offsets": 2},
        [2, 3, 4, 2, 3, 4, 5]),
    "packed, offsets": (
        {"cu_seqlens": BOUNDS, "max_seqlen": 9,
         "seqlen_offsets": SHIFTS.int()}, [4, 5, 6, 2, 3, 4, 5]),
    "none": ({"cu_seqlens": BOUNDS[:1], "max_seqlen": 0}, []),
}


@pytest.mark.parametrize(("options", "positions"), LAYOUTS.values(),
                         ids=LAYOUTS)
@pytest.mark.parametrize("interleaved", (False, True))
def test_flash_attn(options, positions, interleaved):
    torch.manual_seed(0)
    positions = torch.tensor(positions, dtype=torch.long)
    shape = (3, 5) if positions.dim() == 2 else (9,)
    for dtype, table_dtype in DTYPES:
        for pairs in (8, 5, 0):
            cos, sin = tables(pairs, table_dtype)
            wide = torch.randn(*shape, 2, 32).to(dtype)
            for x in (wide[..., :16].contiguous(), wide[..., 7:23]):
                want = x.double().clone()
                count = len(positions)
                want[:count] = rotated(x[:count], cos, sin, positions,
                                       interleaved)
                y = flash_attn.apply_rotary_emb(x, cos, sin, interleaved,
                                                **options)
                near(y, want, dtype)
                # What does not rotate keeps its bits.
                assert torch.equal(y[..., 2 * pairs:], x[..., 2 * pairs:])
                assert torch.equal(y[count:], x[count:])
                z = x.clone()
                assert flash_attn.apply_rotary_emb(
                    z, cos, sin, interleaved, True, **options) is z
                assert torch.equal(z, y)


def test_flash_attn_in_place_in_a_view():
    wide = torch.randn(2, 5, 3, 16)
    before = wide.clone()
    cos, sin = tables(4, torch.float32)
    x = wide[:, :, 1, 3:][:, :, None]
    flash_attn.apply_rotary_emb(x, cos, sin, inplace=True)
    before[:, :, 1:2, 3:] = flash_attn.apply_rotary_emb(
        before[:, :, 1:2, 3:], cos, sin)
    assert torch.equal(wide, before)


def test_flash_attn_is_rotary_cached():
    """The same bits by the other way."""
    cos, sin = tables(8, torch.float32)
    x = torch.randn(7, 2, 16)
    got = flash_attn.apply_rotary_emb(x, cos, sin, cu_seqlens=BOUNDS,
                                      max_seqlen=4)
    want, _ = rt.rotary_cached(torch.tensor([0, 1, 2, 0, 1, 2, 3]), x, None,
                               torch.cat((cos, sin), 1), 16)
    assert torch.equal(got, want)


@pytest.mark.parametrize(("options", "positions"), LAYOUTS.values(),
                         ids=LAYOUTS)
@pytest.mark.parametrize("inplace", (False, True))
def test_flash_attn_gradients(options, positions, inplace):
    shape = (3, 5) if torch.tensor(positions).dim() == 2 else (9,)
    x = torch.randn(*shape, 2, 8, dtype=torch.float64, requires_grad=True)
    cos, sin = (t.requires_grad_() for t in tables(3, torch.float64))

    def function(x, cos, sin):
        return flash_attn.apply_rotary_emb(x * 1, cos, sin, True, inplace,
                                           **options)

    assert torch.autograd.gradcheck(function, (x, cos, sin), fast_mode=True)
    # As in the original: of x alone. The incoming gradient is not written to.
    cos, sin = cos.detach(), sin.detach()
    dy = torch.randn_like(x)
    kept = dy.clone()
    dx, = torch.autograd.grad(function(x, cos, sin), x, dy)
    assert torch.equal(dy, kept)
    assert torch.equal(dx, flash_attn.apply_rotary_emb(dy, cos, -sin, True,
                                                       **options))


def test_flash_attn_compiles():
    x = torch.randn(3, 5, 2, 16)
    cos, sin = tables(4, torch.float32)
    for options, whole in (({"seqlen_offsets": 2}, True),
                           ({"seqlen_offsets": SHIFTS}, False)):
        compiled = torch.compile(flash_attn.apply_rotary_emb, backend="eager",
                                 fullgraph=whole)
        assert torch.equal(
            compiled(x, cos, sin, **options),
            flash_attn.apply_rotary_emb(x, cos, sin, **options))


def refuse_flash(x=(3, 5, 2, 16), cos=(9, 4), sin=None, **options):
    dtype = options.pop("dtype", torch.float32)
    x = torch.ones(x, dtype=dtype)
    before = x.clone()
    cos, sin = torch.rand(cos), torch.rand(sin or cos)
    try:
        flash_attn.apply_rotary_emb(x, cos, sin, inplace=True, **options)
    finally:
        assert torch.equal(x, before)


def packed(*bounds, **options):
    return dict(x=(7, 2, 16), cu_seqlens=torch.tensor(bounds),
                **{"max_seqlen": 7, **options})


FLASH_REFUSALS = {
    "x": (ValueError, r"x: must be \(batch, .* but is \(7, 2, 16\)",
          dict(x=(7, 2, 16))),
    "x packed": (ValueError, r"x: must be \(tokens, heads, head_size\)",
                 dict(cu_seqlens=BOUNDS, max_seqlen=7)),
    "cos": (ValueError, r"cos: must be \(rows,", dict(cos=(3, 9, 4))),
    "wide": (ValueError, "cos: must have at most 8 columns", dict(cos=(9, 9))),
    "sin": (ValueError, r"sin: must have the shape of cos, \(9, 4\)",
            dict(sin=(9, 3))),
    "dtype": (TypeError, "x: dtype", dict(dtype=torch.int32)),
    "f64": (TypeError, "f64", dict(dtype=torch.float64)),
    "long": (IndexError, "leave 10 of the 9 rows", dict(x=(1, 10, 2, 16))),
    "offset": (IndexError, "leave 5 of the 9 rows of cos, but is 5",
               dict(seqlen_offsets=5)),
    "negative": (IndexError, "0 or more", dict(seqlen_offsets=-1)),
    "float": (TypeError, "be an int or a tensor", dict(seqlen_offsets=1.0)),
    "offsets": (IndexError, "from 0 to 8, .* one is 9",
                dict(seqlen_offsets=SHIFTS + 1)),
    "negative offsets": (IndexError, "one is -1",
                         dict(seqlen_offsets=SHIFTS - 1)),
    "offsets' shape": (ValueError, r"be \(3,\), .* but is \(2,\)",
                       dict(seqlen_offsets=SHIFTS[:2])),
    "offsets' dtype": (TypeError, "seqlen_offsets: must be int32 or int64",
                       dict(seqlen_offsets=SHIFTS.float())),
    "max_seqlen": (ValueError, "max_seqlen: must be given",
                   packed(0, 7, max_seqlen=None)),
    "short": (ValueError, "max_seqlen: must be at least 4",
              packed(0, 3, 7, max_seqlen=3)),
    "descends": (ValueError, r"cu_seqlens: must .* but is \[0, 4, 3, 7\]",
                 packed(0, 4, 3, 7)),
    "starts": (ValueError, "begin with 0", packed(1, 7)),
    "ends": (ValueError, "end at 7 tokens or before", packed(0, 8)),
    "no bounds": (ValueError, r"cu_seqlens: must be \(batch \+ 1,\)",
                  {**packed(0), "cu_seqlens": BOUNDS[:0]}),
    "cu dtype": (TypeError, "cu_seqlens: must be int32 or int64",
                 packed(0.0, 7.0)),
    "packed offset": (IndexError, "one is 9",
                      packed(0, 7, seqlen_offsets=3)),
    "packed offsets": (ValueError, r"be \(1,\), one for each sequence",
                       packed(0, 7, seqlen_offsets=SHIFTS)),
}


@pytest.mark.parametrize(("error", "text", "arguments"),
                         FLASH_REFUSALS.values(), ids=FLASH_REFUSALS)
def test_flash_attn_refuses(error, text, arguments):
    with pytest.raises(error, match=text) as caught:
        refuse_flash(**arguments)
    assert isinstance(caught.value, AssertionError)


def test_in_place_refuses_leaves():
    cos, sin = tables(4, torch.float32)
    x = torch.randn(3, 5, 2, 16, requires_grad=True)
    key = torch.randn(3, 5, 16)
    before, key_before = x.detach().clone(), key.clone()
    with pytest.raises(RuntimeError, match="leaf"):
        flash_attn.apply_rotary_emb(x, cos, sin, inplace=True)
    for query in (x, x.transpose(0, 1)):
        positions = torch.zeros(query.shape[:2], dtype=torch.long)
        with pytest.raises(RuntimeError, match="leaf"):
            vllm.rotary_embedding(positions, query, None, 16,
                                  torch.cat((cos, sin), 1), True)
    assert torch.equal(x, before) and torch.equal(key, key_before)


# --- vLLM --------------------------------------------------------------------


@pytest.mark.parametrize("is_neox", (True, False))
@pytest.mark.parametrize("positions", (
    torch.tensor([8, 0, 3, 3]), torch.tensor([5, 1], dtype=torch.int32),
    torch.tensor([[0, 1, 2], [8, 4, 4]]), torch.zeros(0, dtype=torch.long)),
    ids=("tokens", "int32", "batch", "none"))
def test_vllm(positions, is_neox):
    torch.manual_seed(0)
    axes = positions.dim()
    for dtype, table_dtype in DTYPES:
        for pairs in (8, 5):
            cos, sin = tables(pairs, table_dtype)
            cache = torch.cat((cos, sin), 1)
            wide = torch.randn(*positions.shape, 5, 16).to(dtype)
            heads = wide[..., 0:3, :], wide[..., 3:4, :]  # of one buffer
            want = [rotated(x, cos, sin, positions, not is_neox)
                    for x in heads]
            flat = [x.flatten(axes) for x in heads]
            for q, k in (heads, flat, (heads[0], flat[1]), (flat[0], None),
                         (heads[0].clone(), None)):
                q, k = (x if x is None or x._base is None else
                        wide.clone().as_strided(x.shape, x.stride(),
                                                x.storage_offset())
                        for x in (q, k))
                result = vllm.rotary_embedding(positions, q, k, 16, cache,
                                               is_neox)
                assert result is None
                near(q.reshape(want[0].shape), want[0], dtype)
                if k is not None:
                    near(k.reshape(want[1].shape), want[1], dtype)


def test_vllm_any_strides():
    """Where batch and seqlen cannot be seen as one axis."""
    cache = torch.cat(tables(8, torch.float32), 1)
    positions = torch.tensor([[0, 1, 2], [8, 4, 4]])
    query, key = torch.randn(3, 2, 64), torch.randn(2, 3, 32)
    want = [x.clone() for x in (query.transpose(0, 1), key)]
    vllm.rotary_embedding(positions, *want, 16, cache, True)
    vllm.rotary_embedding(positions, query.transpose(0, 1), key, 16, cache,
                          True)
    assert torch.equal(query.transpose(0, 1), want[0])
    assert torch.equal(key, want[1])


@pytest.mark.parametrize("shape", ((6,), (2, 3)))
def test_vllm_gradients(shape):
    """The original has none; here they are right."""
    positions = torch.arange(6).view(shape)
    inputs = [torch.randn(*shape, n, dtype=torch.float64, requires_grad=True)
              for n in (16, 8)]
    cache = torch.cat(tables(3, torch.float64), 1).requires_grad_()

    def function(query, key, cache):
        query, key = query * 1, key * 1
        vllm.rotary_embedding(positions, query, key, 8, cache, False)
        return query, key

    assert torch.autograd.gradcheck(function, (*inputs, cache), fast_mode=True)
    with torch.no_grad():
        plain = function(*inputs, cache)
    assert all(map(torch.equal, plain, function(*inputs, cache)))


def test_vllm_compiles():
    cache = torch.cat(tables(4, torch.float32), 1)
    positions = torch.tensor([8, 0, 3])
    q, k = torch.randn(3, 32), torch.randn(3, 16)
    want = q.clone(), k.clone()
    vllm.rotary_embedding(positions, *want, 16, cache, True)
    compiled = torch.compile(vllm.rotary_embedding, backend="aot_eager",
                             fullgraph=True)
    compiled(positions, q, k, 16, cache, True)
    assert torch.equal(q, want[0]) and torch.equal(k, want[1])


@pytest.mark.parametrize("grad", (False, True))
def test_vllm_opcheck(grad):
    cache = torch.cat(tables(4, torch.float32), 1)
    q, k = (torch.randn(3, n).requires_grad_(grad) * 1 for n in (32, 16))
    torch.library.opcheck(
        torch.ops.ropewalk.rotary_cached_,
        (torch.tensor([8, 0, 3]), q, k, cache, 16, "neox"),
        test_utils=("test_schema", "test_autograd_registration",
                    "test_faketensor"))


VLLM_REFUSALS = {
    "beyond": (IndexError, r"positions\[2\] is 9", dict(position=9)),
    "negative": (IndexError, r"positions\[2\] is -1", dict(position=-1)),
    "positions": (ValueError, "positions: must be", dict(positions=(3, 2, 2))),
    "query": (ValueError, r"query: must be \(3,\) .* but is \(4, 32\)",
              dict(query=(4, 32))),
    "key": (ValueError, r"key: must be \(3,\)", dict(key=(4, 16))),
    "head_size": (ValueError, "query", dict(query=(3, 30))),
    "cache": (ValueError, "cache", dict(cache=(9, 18))),
    "dtype": (TypeError, "dtype", dict(dtype=torch.int64)),
}


@pytest.mark.parametrize(("error", "text", "changes"), VLLM_REFUSALS.values(),
                         ids=VLLM_REFUSALS)
def test_vllm_refuses(error, text, changes):
    positions = torch.zeros(changes.get("positions", (3,)), dtype=torch.long)
    positions[-1] = changes.get("position", 0)
    q, k = (torch.ones(changes.get(name, shape)).to(
        changes.get("dtype", torch.float32))
        for name, shape in (("query", (3, 32)), ("key", (3, 16))))
    cache = torch.rand(changes.get("cache", (9, 8)))
    with pytest.raises(error, match=text) as caught:
        vllm.rotary_embedding(positions, q, k, 16, cache, True)
    assert isinstance(caught.value, RuntimeError)
    assert (q == 1).all() and (k == 1).all()


@pytest.mark.parametrize("argument", ("x", "cos"))
def test_not_a_tensor(argument):
    arguments = dict(x=torch.ones(1, 2, 3, 4), cos=torch.ones(2, 2),
                     sin=torch.ones(2, 2))
    arguments[argument] = [1.0]
    with pytest.raises(TypeError, match=f"{argument}: must be a tensor"):
        flash_attn.apply_rotary_emb(**arguments)

"""ropewalk.torch_npu against the formulas of the operators it is named for."""

import inspect

import pytest
import torch

import ropewalk.torch as rt
import ropewalk.torch_npu as torch_npu

SIGNATURES = {
    "npu_rotary_mul": "(self, r1, r2, rotary_mode='half', rotate=None)",
    "npu_rotary_mul_backward": "(grad, self, r1, r2, rotary_mode='half')",
    "npu_mrope": "(positions, query, key, cos_sin_cache, head_size, *, "
                 "mrope_section=None, rotary_mode='half', "
                 "cache_mode='default')",
    "npu_apply_rotary_pos_emb": "(query, key, cos, sin, layout='BSND', "
                                "rotary_mode='half')",
    "npu_interleave_rope": "(x, cos, sin)",
    "inplace_partial_rotary_mul": "(x, r1, r2, *, rotary_mode='interleave', "
                                  "partial_slice=None)",
    "inplace_partial_rotary_mul_backward":
        "(grad_output, r1, r2, *, rotary_mode='interleave', "
        "partial_slice=None)",
}


def test_signatures():
    assert sorted(SIGNATURES) == torch_npu.__all__
    for name, want in SIGNATURES.items():
        signature = inspect.signature(getattr(torch_npu, name))
        bare = [p.replace(annotation=p.empty)
                for p in signature.parameters.values()]
        assert str(inspect.Signature(bare)) == want


def half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def interleave(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def quarter(x):
    return torch.cat([half(part) for part in x.chunk(2, -1)], -1)


ROTATED = {"half": half, "interleave": interleave, "quarter": quarter}


@pytest.mark.parametrize("mode", ROTATED)
@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16,
                                   torch.float16))
def test_rotary_mul(mode, dtype):
    x = torch.randn(2, 3, 5, 8).to(dtype)
    r1, r2 = torch.randn(2, 1, 1, 5, 8)
    y = torch_npu.npu_rotary_mul(x, r1, r2, mode)
    c, s = r1.to(dtype).float(), r2.to(dtype).float()
    want = (x.float() * c + ROTATED[mode](x.float()) * s).to(dtype)
    assert y.dtype == dtype and torch.equal(y, want)
    # The same, with the matrix that says what rot(x) is.
    matrix = ROTATED[mode](torch.eye(8)).to(dtype)
    assert torch.equal(torch_npu.npu_rotary_mul(x, r1, r2, rotate=matrix),
                       want)


@pytest.mark.parametrize("mode", ROTATED)
def test_rotary_mul_backward(mode):
    x, dy = torch.randn(2, 2, 3, 5, 8)
    tables = [t.requires_grad_() for t in torch.randn(2, 1, 1, 5, 8)]
    x.requires_grad_()
    y = torch_npu.npu_rotary_mul(x, *tables, mode)
    grads = torch.autograd.grad(y, (x, *tables), dy)
    with torch.no_grad():
        got = torch_npu.npu_rotary_mul_backward(dy, x, *tables, mode)
    assert all(map(torch.equal, grads, got))
    want = torch.autograd.grad(x * tables[0] + ROTATED[mode](x) * tables[1],
                               (x, *tables), dy)
    for gradient, expected in zip(got, want, strict=True):
        torch.testing.assert_close(gradient, expected)
    half_x, half_dy = x.detach().bfloat16(), dy.bfloat16()
    assert {t.dtype for t in torch_npu.npu_rotary_mul_backward(
        half_dy, half_x, *(t.detach() for t in tables), mode)} == {
            torch.bfloat16}


def test_mrope():
    q, k, cache = torch.randn(4, 3 * 128), torch.randn(4, 128), torch.randn(
        9, 128)
    positions = torch.tensor([8, 0, 3, 3])
    rows = cache[positions][:, None]
    cos, sin = (torch.cat((t, t), -1) for t in rows.chunk(2, -1))
    for section in (None, [0, 0, 0]):
        got = torch_npu.npu_mrope(positions, q, k, cache, 128,
                                  mrope_section=section)
        for y, x in zip(got, (q, k), strict=True):
            heads = x.view(4, -1, 128)
            assert torch.equal(y.view_as(heads),
                               heads * cos + half(heads) * sin)
    three = torch.randint(0, 9, (3, 4))
    for mode, axes in (("default", "segmented"),
                       ("interleave", "interleaved")):
        got = torch_npu.npu_mrope(three, q, k, cache, 128,
                                  mrope_section=[24, 20, 20],
                                  rotary_mode="interleave", cache_mode=mode)
        want = rt.rotary_cached(three, q, k, cache, 128, style="gptj",
                                sections=[24, 20, 20], axes=axes)
        assert all(map(torch.equal, got, want))


@pytest.mark.parametrize("layout", ("BSND", "SBND", "BNSD", "TND"))
def test_apply_rotary_pos_emb(layout):
    sizes = dict(B=2, S=5, N=4, T=7, D=16)
    query = torch.randn([sizes[axis] for axis in layout])
    key = torch.randn([{**sizes, "N": 2}[axis] for axis in layout])
    for width in (16, 8):
        cos, sin = torch.randn([2] + [{**sizes, "N": 1, "D": width}[axis]
                                      for axis in layout])
        q, k = query.clone(), key.clone()
        got = torch_npu.npu_apply_rotary_pos_emb(q, k, cos, sin, layout)
        assert got[0] is q and got[1] is k
        for y, x in zip(got, (query, key), strict=True):
            part = x[..., :width]
            assert torch.equal(y[..., :width], part * cos + half(part) * sin)
            assert torch.equal(y[..., width:], x[..., width:])


def test_interleave_rope():
    x = torch.randn(2, 3, 5, 64)
    cos, sin = torch.randn(2, 2, 1, 5, 64)
    apart = torch.cat((x[..., ::2], x[..., 1::2]), -1)
    assert torch.equal(torch_npu.npu_interleave_rope(x, cos, sin),
                       apart * cos + half(apart) * sin)


def test_inplace_partial():
    x = torch.randn(2, 5, 3, 32)
    r1, r2 = torch.randn(2, 2, 5, 1, 18).requires_grad_().unbind()
    y = x.clone()
    assert torch_npu.inplace_partial_rotary_mul(
        y, r1, r2, partial_slice=[7, 25]) is None
    part = x[..., 7:25]
    assert torch.equal(y[..., 7:25], part * r1 + interleave(part) * r2)
    assert torch.equal(y[..., :7], x[..., :7])
    assert torch.equal(y[..., 25:], x[..., 25:]) and not y.requires_grad
    leaf = x.clone().requires_grad_()
    z = leaf * 1
    torch_npu.inplace_partial_rotary_mul(z, r1, r2, partial_slice=[7, 25])
    dy = torch.randn_like(x)
    z.backward(dy)
    assert r1.grad is None
    assert torch_npu.inplace_partial_rotary_mul_backward(
        dy, r1, r2, partial_slice=[7, 25]) is None
    assert torch.equal(dy, leaf.grad)


def test_no_slice_does_nothing():
    x, table = torch.randn(2, 5, 3, 32), torch.randn(2, 5, 1, 32)
    y = x.clone()
    torch_npu.inplace_partial_rotary_mul(y, table, table)
    torch_npu.inplace_partial_rotary_mul_backward(y, table, table,
                                                  partial_slice=[4, 4])
    assert torch.equal(x, y)


Q, C, CACHE = torch.randn(2, 16), torch.randn(2, 5, 1, 8), torch.randn(4, 8)
X, P = torch.randn(2, 5, 3, 8), torch.tensor([0, 1])
REFUSALS = {
    "position": (IndexError, r"positions\[1\] is 4",
                 lambda: torch_npu.npu_mrope(P + 3, Q, Q, CACHE, 8)),
    "cache_mode": (ValueError, "cache_mode: must be default or interleave",
                   lambda: torch_npu.npu_mrope(P, Q, Q, CACHE, 8,
                                               cache_mode="interleaved")),
    "rotary_mode": (ValueError, "rotary_mode",
                    lambda: torch_npu.npu_mrope(P, Q, Q, CACHE, 8,
                                                rotary_mode="neox")),
    "mode": (ValueError, "pairing",
             lambda: torch_npu.npu_rotary_mul(X, C, C, "neox")),
    "rotate": (ValueError, "rotate: must be 8 x 8",
               lambda: torch_npu.npu_rotary_mul(X, C, C,
                                                rotate=torch.eye(4))),
    "layout": (ValueError, "layout: must be BSND",
               lambda: torch_npu.npu_apply_rotary_pos_emb(X, X.clone(), C, C,
                                                          "BSH")),
    "rank": (ValueError, "query: must have rank 3",
             lambda: torch_npu.npu_apply_rotary_pos_emb(X, X.clone(), C, C,
                                                        "TND")),
    "cos by head": (ValueError, "the size of N must be 1, but is 3",
                    lambda: torch_npu.npu_apply_rotary_pos_emb(
                        X, X.clone(), X, X)),
    "slice": (ValueError, "partial_slice",
              lambda: torch_npu.inplace_partial_rotary_mul(
                  X, C, C, partial_slice=[4, 12])),
    "width": (ValueError, "last axis",
              lambda: torch_npu.inplace_partial_rotary_mul(
                  X, C, C, partial_slice=[0, 4])),
}


@pytest.mark.parametrize(("error", "text", "call"), REFUSALS.values(),
                         ids=REFUSALS)
def test_refusals(error, text, call):
    before = X.clone()
    with pytest.raises(error, match=text):
        call()
    assert torch.equal(X, before)

"""What torch checks of its operators: opcheck, compile, vmap, export."""

import pytest
import samples
import torch
import torch._dynamo.testing
from torch.library import opcheck

import ropewalk.torch as rt

ops = torch.ops.ropewalk


@pytest.mark.parametrize("op", samples.OPS)
@pytest.mark.parametrize("grad", (False, True))
def test_opcheck(op, grad):
    calls = list(samples.calls(op, grad))
    assert len(calls) >= 20
    for arguments in calls:
        opcheck(getattr(ops, op).default, arguments)


def _compiled(function):
    torch._dynamo.reset()
    return torch.compile(function, fullgraph=True, dynamic=True,
                         backend="inductor")


def _compare(function, compiled, tensors):
    """Values and gradients, bit for bit."""
    results = []
    for call in (function, compiled):
        leaves = [t.detach().clone().requires_grad_(t.requires_grad)
                  for t in tensors]
        outputs = call(*leaves)
        loss = sum(y.square().sum() for y in outputs)
        loss.backward()
        results.append([*outputs, *(t.grad for t in leaves if t.requires_grad)])
    assert all(map(torch.equal, *results))


def test_compile_without_a_break_for_any_length():
    counter = torch._dynamo.testing.CompileCounterWithBackend("inductor")

    def attention(q, k, cos, sin):
        q, k = q.transpose(1, 2), k.transpose(1, 2)
        return rt.rotary_qk(q, k, cos, sin)

    torch._dynamo.reset()
    compiled = torch.compile(attention, fullgraph=True, dynamic=True,
                             backend=counter)
    for length in (3, 17, 5, 64):
        tensors = [torch.randn(2, length, heads, 16, requires_grad=True)
                   for heads in (4, 2)]
        tensors += [torch.randn(1, 1, length, 16, requires_grad=True)
                    for _ in range(2)]
        _compare(attention, compiled, tensors)
    assert counter.frame_count == 1


def test_compile_cached_and_in_place():
    def cached(q, k, cache):
        positions = torch.arange(q.shape[0])
        return rt.rotary_cached(positions, q, k, cache, 8)

    compiled = _compiled(cached)
    for length in (3, 7):
        _compare(cached, compiled, [
            torch.randn(length, 16, requires_grad=True),
            torch.randn(length, 8, requires_grad=True),
            torch.randn(9, 8, requires_grad=True)])

    def in_place(x, cos, sin):
        y = x + 1
        rt.rotary_(y[:, 1:], cos, sin)
        return (y,)

    _compare(in_place, _compiled(in_place), [
        torch.randn(2, 5, 8, requires_grad=True),
        *torch.randn(2, 1, 1, 8).unbind()])

    def inference(x, cos, sin):
        return rt.rotary_(x, cos, sin) * 2

    compiled = _compiled(inference)
    with torch.no_grad():
        x, cos, sin = torch.randn(2, 8), torch.randn(1, 8), torch.randn(1, 8)
        copy = x.clone()
        assert torch.equal(compiled(x, cos, sin), inference(copy, cos, sin))
        assert torch.equal(x, copy)


def test_compiled_calls_refuse_what_eager_ones_refuse():
    compiled = _compiled(rt.rotary)
    with pytest.raises(Exception, match="last axis must be 8 or 4"):
        compiled(torch.randn(2, 8), torch.randn(1, 6), torch.randn(1, 6))
    compiled = _compiled(rt.rotary_cached)
    with pytest.raises(IndexError, match=r"positions\[0\] is 9"):
        compiled(torch.tensor([9]), torch.randn(1, 8), torch.randn(1, 8),
                 torch.randn(4, 8), 8)


def test_export():
    class Rotary(torch.nn.Module):
        def forward(self, x, cos, sin):
            return rt.rotary(x, cos, sin)

    arguments = torch.randn(2, 8), torch.randn(1, 8), torch.randn(1, 8)
    program = torch.export.export(Rotary(), arguments)
    assert any("ropewalk.rotary" in str(node.target)
               for node in program.graph.nodes)
    assert torch.equal(program.module()(*arguments), rt.rotary(*arguments))


IN_DIMS = {
    "rotary": ((0, None, None), (1, 0, 0), (None, 2, 2), (-1, None, 1)),
    "rotary_qk": ((0, 0, None, None), (1, None, 0, 0), (None, None, 1, 1)),
    "rotary_cached": ((None, 0, 0, None), (0, None, None, None),
                      (0, 1, 0, None), (None, 0, 0, 0)),
}


def _batched(tensor, dim, size):
    if dim is None:
        return tensor
    if tensor.is_floating_point():
        noise = [tensor + i for i in range(size)]
    else:
        noise = [tensor.flip(-1), *[tensor] * (size - 1)]
    return torch.stack(noise, dim)


@pytest.mark.parametrize(("op", "dims"), [
    (op, dims) for op, many in IN_DIMS.items() for dims in many])
@pytest.mark.parametrize("grad", (False, True))
def test_vmap(op, dims, grad):
    for arguments in samples.calls(op, grad):
        tensors = [_batched(t.detach(), dim, 3) for t, dim in
                   zip(arguments[:len(dims)], dims, strict=True)]
        for tensor in tensors:
            tensor.requires_grad_(grad and tensor.is_floating_point())
        options = arguments[len(dims):]
        names = (("pairing", "slice") if op != "rotary_cached" else
                 ("head_size", "style", "sections", "axes"))

        def call(*tensors, options=options, names=names):
            return getattr(rt, op)(*tensors, **dict(zip(names, options,
                                                        strict=True)))

        got = torch.vmap(call, in_dims=dims)(*tensors)
        got = (got,) if op == "rotary" else got
        each = [call(*(t if dim is None else t.select(dim, i) for t, dim in
                       zip(tensors, dims, strict=True))) for i in range(3)]
        for i, y in enumerate(got):
            want = torch.stack([e if op == "rotary" else e[i] for e in each])
            assert torch.equal(y, want)


def test_vmap_of_gradients():
    x, dy = torch.randn(2, 5, 4, 8)
    cos, sin = torch.randn(2, 1, 4, 8).requires_grad_().unbind()
    x.requires_grad_()
    y = rt.rotary(x, cos, sin)

    def gradients(dy):
        return torch.autograd.grad(y, (x, cos, sin), dy, retain_graph=True)

    batch = torch.stack([dy, 2 * dy, -dy])
    got = torch.vmap(gradients)(batch)
    for i, one in enumerate(batch):
        for a, b in zip(got, gradients(one), strict=True):
            assert torch.equal(a[i], b)


def test_torch_func():
    x, cos, sin = torch.randn(2, 4, 8), *torch.randn(2, 1, 4, 8)

    def loss(x, cos, sin):
        return rt.rotary(x, cos, sin).pow(3).sum()

    def formula(x, cos, sin):
        half = torch.cat((-x[..., 4:], x[..., :4]), -1)
        return (x * cos + half * sin).pow(3).sum()

    for i in range(3):
        got, want = (torch.func.grad(f, argnums=i)(x, cos, sin)
                     for f in (loss, formula))
        torch.testing.assert_close(got, want)
    # Gradients of each sample, and the second derivatives by the tables.
    each = [torch.vmap(torch.func.grad(f, argnums=1), in_dims=(0, None, None))(
        x[:, None], cos, sin) for f in (loss, formula)]
    torch.testing.assert_close(*each)
    second = [torch.func.jacrev(torch.func.grad(f, argnums=1))(
        x.double().requires_grad_(), cos.double(), sin.double())
        for f in (loss, formula)]
    torch.testing.assert_close(*second)

    def cached(cache, q):
        return sum(y.pow(2).sum() for y in rt.rotary_cached(
            torch.arange(4), q, q, cache, 8))

    q, cache = torch.randn(4, 8), torch.randn(5, 8)
    got = torch.func.grad(cached)(cache, q)
    want = torch.autograd.grad(cached(cache.requires_grad_(), q), cache)[0]
    assert torch.equal(got, want)


def test_vmap_in_place():
    x, table = torch.randn(3, 2, 8), torch.randn(3, 1, 8)
    want = rt.rotary(x, table, table)
    torch.vmap(lambda x, t: rt.rotary_(x, t, t))(x, table)
    assert torch.equal(x, want)
    with pytest.raises(ValueError, match="in place"):
        torch.vmap(lambda t: rt.rotary_(x[0], t, t))(table)

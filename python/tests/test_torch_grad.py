"""Gradients, and gradients of gradients, against differences."""

import pytest
import samples
import torch
from torch.autograd import gradcheck, gradgradcheck

import ropewalk.torch as rt

F64 = ((torch.float64, torch.float64),)
ROTATIONS = list(samples.rotations(F64, grad=True))
CACHED = list(samples.cached(F64, grad=True))


@pytest.mark.parametrize("case", ROTATIONS)
def test_rotary(case):
    *tensors, pairing, slice = case

    def call(*arguments):
        return rt.rotary(*arguments, pairing=pairing, slice=slice)

    assert gradcheck(call, tensors)
    assert gradgradcheck(call, tensors, fast_mode=True)


@pytest.mark.parametrize("case", ROTATIONS)
def test_rotary_qk(case):
    x, cos, sin, pairing, slice = case
    # Sizes that differences can be taken of in a short time.
    tensors = [x, samples.second(x, cos), cos, sin]

    def call(*arguments):
        return rt.rotary_qk(*arguments, pairing=pairing, slice=slice)

    assert gradcheck(call, tensors)
    assert gradgradcheck(call, tensors, fast_mode=True)


@pytest.mark.parametrize("case", ROTATIONS[::3])
def test_rotary_in_place(case):
    *tensors, pairing, slice = case

    def call(x, cos, sin):
        return rt.rotary_(x * 1, cos, sin, pairing=pairing, slice=slice)

    assert gradcheck(call, tensors)
    assert gradgradcheck(call, tensors, fast_mode=True)


@pytest.mark.parametrize("case", CACHED)
def test_rotary_cached(case):
    positions, *tensors, head_size, style, sections, axes = case

    def call(*arguments):
        return rt.rotary_cached(positions, *arguments, head_size, style=style,
                                sections=sections, axes=axes)

    assert gradcheck(call, tensors)
    assert gradgradcheck(call, tensors, fast_mode=True)


def test_in_place_on_part_of_a_larger_tensor():
    def call(x, cos, sin):
        y = x * 1
        rt.rotary_(y[:, 1], cos, sin)
        return y

    assert gradcheck(call, [samples.tensor(2, 3, 4, grad=True),
                            samples.tensor(1, 4, grad=True),
                            samples.tensor(1, 4, grad=True)])


@pytest.mark.parametrize("kind", ("rotary", "rotary_qk", "rotary_cached"))
def test_what_is_kept(kind):
    """x is kept for the gradients of the tables only, and never changed."""
    x = torch.randn(4, 2, 8, requires_grad=True)
    kept = []

    def pack(tensor):
        kept.append((tensor, tensor.detach().clone()))
        return tensor

    for grad in (False, True):
        kept.clear()
        table = torch.randn(4, 8, requires_grad=grad)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            if kind == "rotary_cached":
                out = rt.rotary_cached(torch.arange(4), x, x, table, 8)
            elif kind == "rotary_qk":
                out = rt.rotary_qk(x, x, table[:, None], table[:, None])
            else:
                out = (rt.rotary(x, table[:, None], table[:, None]),)
        assert any(t is x or t.data_ptr() == x.data_ptr()
                   for t, _ in kept) == grad
        sum(y.sum() for y in out).backward()
        assert all(torch.equal(t, copy) for t, copy in kept)


def test_tables_cost_a_gradient_only_if_they_need_one():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            names.append(function._schema.name)
            return function(*args, **(kwargs or {}))

    x = torch.randn(4, 8, requires_grad=True)
    for grad in (False, True):
        names = []
        table = torch.randn(1, 8, requires_grad=grad)
        with Names():
            rt.rotary(x, table, table).sum().backward()
        assert ("ropewalk::rotary_backward" in names) == grad
        assert ("ropewalk::rotary_dx" in names) != grad


def test_strided_gradients_are_taken_as_they_are():
    x = torch.randn(2, 5, 3, 8, requires_grad=True)
    table = torch.randn(1, 5, 1, 8)
    y = rt.rotary(x, table, table)
    y.sum().backward()  # an expanded gradient, all strides 0
    assert torch.allclose(x.grad, torch.autograd.grad(
        (x * table + torch.cat((-x[..., 4:], x[..., :4]), -1) * table).sum(),
        x)[0])

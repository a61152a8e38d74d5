"""ropewalk.torch: bits, layouts, modes of torch, refusals."""

import copy
import threading

import golden
import ml_dtypes
import numpy as np
import pytest
import samples
import torch

import ropewalk
import ropewalk.torch as rt
from ropewalk.torch import _direct, _native

ops = torch.ops.ropewalk


def to_torch(array):
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(
            torch.bfloat16)
    return torch.from_numpy(array.copy())


def to_numpy(tensor):
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(
            ml_dtypes.bfloat16)
    return tensor.numpy()


def equal(a, b):
    return a.dtype == b.dtype and golden.same_bits(to_numpy(a), to_numpy(b))


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)


@pytest.fixture(params=("direct", "dispatcher", "by address"))
def way(request, monkeypatch):
    """The ways by which a call reaches the kernel."""
    if request.param != "direct":
        monkeypatch.setattr(_direct, "_can_ask", False)
    if request.param == "by address":  # as with a torch before 2.10
        monkeypatch.setattr(_native, "THREADS", None)
        for name in ("rotate", "rotate_backward", "rotate_cached"):
            monkeypatch.setattr(_native, name, _native.portable(
                getattr(_native, name)))


def test_golden_rotations(way):
    for name, case, arrays in golden.rotations():
        t = {key: to_torch(value) for key, value in arrays.items()}
        options = dict(pairing=golden.PAIRINGS[case["mode"]],
                       slice=case.get("slice"))
        y = rt.rotary(t["x"], t["cos"], t["sin"], **options)
        assert equal(y, t["y"]), name
        x = t["x"].clone()
        assert rt.rotary_(x, t["cos"], t["sin"], **options) is x
        assert equal(x, t["y"]), name
        x.requires_grad_()
        y = rt.rotary(x, t["cos"], t["sin"], **options)
        y.backward(t["dy"])
        assert equal(x.grad, t["dx"]), name


def test_golden_cached(way):
    for name, case, arrays in golden.cached():
        t = {key: to_torch(value) for key, value in arrays.items()}
        k = t.get("key")
        if case.get("backward", False):
            q = torch.zeros_like(t["query"], requires_grad=True)
            y, _ = rt.rotary_cached(t["positions"], q, None, t["cache"],
                                    case["head_size"],
                                    **golden.cached_options(case))
            y.backward(t["query"])
            assert equal(q.grad, t["query_out"]), name
            continue
        q, k = rt.rotary_cached(t["positions"], t["query"], k, t["cache"],
                                case["head_size"],
                                **golden.cached_options(case))
        assert equal(q, t["query_out"]), name
        assert k is None or equal(k, t["key_out"]), name


def test_the_bits_are_those_of_the_eager_formula():
    x = torch.randn(2, 4, 16, 64)
    cos, sin = torch.randn(2, 2, 1, 16, 64)
    assert torch.equal(rt.rotary(x, cos, sin),
                       x * cos + rotate_half(x) * sin)


def test_gradients_have_the_bits_of_the_native_ones():
    for x, cos, sin, pairing, slice in samples.rotations(grad=True):
        y = rt.rotary(x, cos, sin, pairing=pairing, slice=slice)
        dy = torch.randn_like(y)
        y.backward(dy)
        grads = ropewalk.rotate_backward(
            *map(to_numpy, (dy, cos, sin, x)), pairing=pairing, slice=slice)
        assert golden.same_bits(to_numpy(x.grad), grads[0])
        if cos.requires_grad:
            assert golden.same_bits(to_numpy(cos.grad), grads[1])
            assert golden.same_bits(to_numpy(sin.grad), grads[2])


def test_qk_is_one_rotation_of_each():
    for x, cos, sin, pairing, slice in samples.rotations():
        options = dict(pairing=pairing, slice=slice)
        k = samples.second(x, cos)
        q_out, k_out = rt.rotary_qk(x, k, cos, sin, **options)
        assert equal(q_out, rt.rotary(x, cos, sin, **options))
        assert equal(k_out, rt.rotary(k, cos, sin, **options))


def test_cached_key_may_be_missing():
    for positions, q, k, *rest in samples.cached():
        options = dict(zip(("style", "sections", "axes"), rest[2:],
                           strict=True))
        both = rt.rotary_cached(positions, q, k, *rest[:2], **options)
        alone = rt.rotary_cached(positions, q, None, *rest[:2], **options)
        assert equal(both[0], alone[0]) and alone[1] is None


def test_strides_are_those_of_empty_like(way):
    cos, sin = torch.randn(2, 1, 1, 5, 8)
    base = torch.randn(2, 5, 3, 8)
    views = (base.transpose(1, 2), torch.randn(2, 3, 5, 8),
             torch.randn(2, 5, 3, 24)[..., 8:16].transpose(1, 2),
             torch.randn(1, 3, 5, 8).expand(2, 3, 5, 8),
             torch.randn(2, 3, 5, 16)[..., ::2])
    for x in views:
        y = rt.rotary(x, cos, sin)
        assert y.stride() == torch.empty_like(x).stride()
        assert torch.equal(y, x * cos + rotate_half(x) * sin)


def test_views_in_place_leave_the_rest_alone():
    qkv = torch.randn(4, 3, 6, 16)
    before = qkv.clone()
    cos, sin = torch.randn(2, 4, 1, 8)
    q = qkv[:, 0]
    rt.rotary_(q, cos, sin, slice=(8, 16))
    assert torch.equal(qkv[:, 1:], before[:, 1:])
    assert torch.equal(q[..., :8], before[:, 0, :, :8])
    x = before[:, 0, :, 8:]
    assert torch.equal(q[..., 8:], x * cos + rotate_half(x) * sin)


def test_in_place_is_seen_by_autograd():
    x = torch.randn(2, 3, 8, requires_grad=True)
    table = torch.ones(1, 1, 8)
    y = x.exp()  # which keeps y for its gradient
    with torch.no_grad():
        rt.rotary_(y, table, table)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    with torch.inference_mode():
        z = torch.randn(2, 3, 8)
        want = rt.rotary(z, table, table)
        assert torch.equal(rt.rotary_(z, table, table), want)


def test_negative_bit():
    x = torch.randn(2, 8, dtype=torch.complex64).conj().imag
    assert x.is_neg()
    table = torch.randn(1, 8)
    assert torch.equal(rt.rotary(x, table, table),
                       x * table + rotate_half(x.clone()) * table)


def test_autocast_leaves_tables_alone():
    x = torch.randn(2, 3, 8).bfloat16()
    cos, sin = torch.randn(2, 1, 1, 8)
    want = rt.rotary(x, cos, sin)
    rounded = rt.rotary(x, cos.bfloat16(), sin.bfloat16())
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(rt.rotary(x, cos, sin), want)
        assert torch.equal(ops.rotary(x, cos, sin), want)
    assert not torch.equal(want, rounded)


def test_threads_do_not_change_bits():
    x = torch.randn(4, 8, 256, 64)
    cos, sin = torch.randn(2, 1, 1, 256, 64)
    threads = torch.get_num_threads()
    results = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            assert _native.THREADS.count == n
            leaves = [t.clone().requires_grad_() for t in (x, cos, sin)]
            y = rt.rotary(*leaves)
            y.backward(x)
            results.append([y, *(t.grad for t in leaves)])
    finally:
        torch.set_num_threads(threads)
    for other in results[1:]:
        assert all(map(torch.equal, results[0], other))


def test_calls_from_many_threads():
    x = torch.randn(4, 8, 256, 64)
    cos, sin = torch.randn(2, 1, 1, 256, 64)
    want = rt.rotary(x, cos, sin)
    same = []

    def work():
        for _ in range(20):
            same.append(torch.equal(rt.rotary(x, cos, sin), want))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(same) == 80 and all(same)


def test_dispatch_modes_see_the_operators():
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.seen.append(function)
            return function(*args, **(kwargs or {}))

    x, table = torch.randn(2, 8), torch.randn(1, 8)
    with Recorder() as recorder:
        rt.rotary(x, table, table)
    assert ops.rotary.default in recorder.seen
    with torch.profiler.profile() as profile:
        rt.rotary(x, table, table)
    assert any(event.name == "ropewalk::rotary" for event in profile.events())


def test_meta_and_fake():
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = torch.empty(2, 5, 3, 8, device="meta").transpose(1, 2)
    table = torch.empty(1, 1, 5, 8, device="meta")
    y = rt.rotary(x, table, table)
    assert y.is_meta and y.stride() == x.stride()
    with pytest.raises(ValueError, match=r"\[rotate\] cos: last axis"):
        rt.rotary(x, table[..., :6], table[..., :6])
    with FakeTensorMode():
        x = torch.randn(2, 8)
        q, k = rt.rotary_cached(torch.zeros(2, dtype=torch.long), x, x,
                                torch.randn(4, 8), 8)
        assert q.shape == k.shape == (2, 8)


X, COS, SIN = (torch.randn(2, 3, 5, 8), *torch.randn(2, 2, 1, 5, 8))
POSITIONS, CACHE = torch.tensor([0, 3]), torch.randn(4, 8)
Q = torch.randn(2, 16)


class Elsewhere(torch.Tensor):
    """A tensor that says it is on a GPU; it has no memory."""

    @staticmethod
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(
            cls, (2, 3, 5, 8), dtype=torch.float32, device="cuda")

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} was called")


REFUSALS = {
    "not a tensor": (TypeError, r"\[rotate\] x: must be a tensor, but is list",
                     lambda: rt.rotary([1.0], COS, SIN)),
    "an array": (TypeError, r"\[rotate\] cos: must be a tensor",
                 lambda: rt.rotary(X, COS.numpy(), SIN)),
    "integers": (TypeError, r"\[rotate\] x",
                 lambda: rt.rotary(X.int(), COS, SIN)),
    "f64 mixed": (TypeError, r"\[rotate\] cos",
                  lambda: rt.rotary(X, COS.double(), SIN.double())),
    "complex": (TypeError, r"\[rotate\] x: dtype",
                lambda: rt.rotary(X.to(torch.complex64), COS, SIN)),
    "sparse": (ValueError, r"\[rotate\] x: must be a dense tensor",
               lambda: rt.rotary(torch.eye(8).to_sparse(), COS[0, 0], COS)),
    "last axis": (ValueError, r"\[rotate\] cos: last axis must be 8 or 4, but "
                  "is 6",
                  lambda: rt.rotary(X, COS[..., :6], SIN[..., :6])),
    "rank": (ValueError, r"\[rotate\] cos",
             lambda: rt.rotary(X, COS[0], SIN[0])),
    "pairing": (ValueError, "pairing: must be half",
                lambda: rt.rotary(X, COS, SIN, pairing="neox")),
    "slice": (ValueError, "slice: must be",
              lambda: rt.rotary(X, COS, SIN, slice=(4, 12))),
    "overlap": (ValueError, "overlap",
                lambda: rt.rotary_(X[:1, :1].expand(2, 3, 5, 8), COS, SIN)),
    "a device": (ValueError, r"\[rotate\] x: must be in the memory of the "
                 "CPU, but is on cuda",
                 lambda: rt.rotary(Elsewhere(), COS, SIN)),
    "tables on a device": (ValueError, r"\[rotate\] sin: .*cuda",
                           lambda: rt.rotary(X, COS, Elsewhere())),
    "meta tables": (ValueError, r"\[rotate\] cos: must be a dense tensor in "
                    "the memory of the CPU",
                    lambda: rt.rotary(X, COS.to("meta"), SIN)),
    "position too high": (IndexError, r"positions\[1\] is 4",
                          lambda: rt.rotary_cached(POSITIONS + 1, Q, Q, CACHE,
                                                   8)),
    "position below 0": (IndexError, r"positions\[0\] is -1",
                         lambda: rt.rotary_cached(POSITIONS - 1, Q, Q, CACHE,
                                                  8)),
    "positions of floats": (TypeError, r"\[rotate_cached\] positions",
                            lambda: rt.rotary_cached(POSITIONS.float(), Q, Q,
                                                     CACHE, 8)),
    "head size": (ValueError, "head_size",
                  lambda: rt.rotary_cached(POSITIONS, Q, Q, CACHE, 7)),
    "style": (ValueError, "style: must be neox or gptj",
              lambda: rt.rotary_cached(POSITIONS, Q, Q, CACHE, 8, style="x")),
    "sections": (ValueError, "sections",
                 lambda: rt.rotary_cached(POSITIONS, Q, Q, CACHE, 8,
                                          sections=[1, 2, 2])),
    "a leaf in place": (RuntimeError, "leaf",
                        lambda: rt.rotary_(X.clone().requires_grad_(), COS,
                                           SIN)),
    "a view of a leaf": (RuntimeError, "leaf",
                         lambda: rt.rotary_(X.clone().requires_grad_()[:],
                                            COS, SIN)),
}


@pytest.mark.parametrize(("error", "text", "call"), REFUSALS.values(),
                         ids=REFUSALS)
def test_refusals(error, text, call):
    tensors = (X, COS, SIN, POSITIONS, CACHE, Q)
    before = copy.deepcopy(tensors)
    for grad in (False, True):
        with torch.set_grad_enabled(grad or "leaf" in text), \
                pytest.raises(error, match=text):
            call()
    assert all(map(torch.equal, before, tensors))


def test_a_refused_leaf_keeps_its_values():
    x = X.clone().requires_grad_()
    for target in (x, x[:1]):
        with pytest.raises(RuntimeError, match="leaf"):
            rt.rotary_(target, COS[:1], SIN[:1])
    assert torch.equal(x, X)

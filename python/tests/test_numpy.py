"""The operators on arrays: bits, layouts, refusals."""

import copy

import golden
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import ropewalk

ROTATIONS = list(golden.rotations())
CACHED = list(golden.cached())


def _ids(cases):
    return [case[0] for case in cases]


@pytest.mark.parametrize(("name", "case", "t"), ROTATIONS, ids=_ids(ROTATIONS))
def test_golden_rotations(name, case, t):
    options = dict(pairing=golden.PAIRINGS[case["mode"]],
                   slice=case.get("slice"))
    y = ropewalk.rotate(t["x"], t["cos"], t["sin"], **options)
    assert golden.same_bits(y, t["y"])
    dx = ropewalk.rotate_backward(t["dy"], t["cos"], t["sin"], **options)
    assert golden.same_bits(dx, t["dx"])
    dx, dcos, dsin = ropewalk.rotate_backward(t["dy"], t["cos"], t["sin"],
                                              t["x"], **options)
    assert golden.same_bits(dx, t["dx"])
    if "dcos_f64" in t and case["data"] == "normal":
        for got, name in ((dcos, "dcos"), (dsin, "dsin")):
            assert got.dtype == t["cos"].dtype
            assert golden.within_bound(got, t[f"{name}_f64"],
                                       t[f"{name}_abs"], got.dtype)


@pytest.mark.parametrize(("name", "case", "t"), CACHED, ids=_ids(CACHED))
def test_golden_cached(name, case, t):
    query, key = ropewalk.rotate_cached(
        t["positions"], t["query"], t.get("key"), t["cache"],
        case["head_size"], backward=case.get("backward", False),
        **golden.cached_options(case))
    assert golden.same_bits(query, t["query_out"])
    if "key" in t:
        assert golden.same_bits(key, t["key_out"])
    else:
        assert key is None


def test_real_activations():
    for name in ("query", "key"):
        t, _ = golden.load(f"data/smollm2_{name}.safetensors")
        y = ropewalk.rotate(t["x"], t["cos"], t["sin"])
        assert golden.same_bits(y, t["y"])


DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64)


@st.composite
def problems(draw):
    """x of any layout with tables that broadcast to it."""
    pairing = draw(st.sampled_from(golden.PAIRINGS))
    unit = 4 if pairing == "quarter" else 2
    width = unit * draw(st.integers(1, 9))
    before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    shape = (*draw(st.lists(st.integers(1, 4), max_size=3)),
             before + width + after)
    sliced = before + after > 0 or draw(st.booleans())
    tables = tuple(n if draw(st.booleans()) else 1 for n in shape[:-1])
    tables += (width // 2 if draw(st.booleans()) else width,)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from(DTYPES))
    table_dtype = dtype if dtype == np.float64 else draw(
        st.sampled_from(DTYPES[:3]))

    def array(shape, dtype):
        wide = rng.standard_normal(tuple(2 * n for n in shape)).astype(dtype)
        order = draw(st.permutations(range(len(shape))))
        flat = wide.transpose(order)
        steps = tuple(np.s_[::draw(st.sampled_from((1, 2, -1, -2)))]
                      for _ in shape)
        view = flat.transpose(np.argsort(order))[steps]
        return view[tuple(np.s_[:n] for n in shape)]

    return (array(shape, dtype), array(tables, table_dtype),
            array(tables, table_dtype), pairing,
            (before, before + width) if sliced else None)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_any_layout(problem):
    x, cos, sin, pairing, slice = problem
    y = ropewalk.rotate(x, cos, sin, pairing=pairing, slice=slice)
    want = golden.formula(x, cos, sin, pairing, slice)
    # Two products and a sum in fp32, then one rounding.
    unit = {2: 2.0**-8, 4: 2.0**-22, 8: 2.0**-51}[x.dtype.itemsize]
    scale = np.maximum(*(golden.formula(np.abs(x), np.abs(cos), sign * np.abs(
        sin), pairing, slice) for sign in (1, -1)))
    assert y.dtype == x.dtype
    np.testing.assert_array_less(np.abs(y.astype(np.float64) - want),
                                 unit * scale + 1e-6)
    dense = ropewalk.rotate(x.copy(), cos.copy(), sin.copy(), pairing=pairing,
                            slice=slice)
    assert golden.same_bits(y, dense)
    in_place = x.copy(order="F")
    assert ropewalk.rotate(in_place, cos, sin, pairing=pairing, slice=slice,
                           out=in_place) is in_place
    assert golden.same_bits(in_place, y)


def _tensors(shape=(2, 3, 5, 8), dtype=np.float32):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(dtype)
    table = (*shape[:1], 1, *shape[2:])
    return (x, rng.standard_normal(table).astype(np.float32),
            rng.standard_normal(table).astype(np.float32))


def test_the_result_keeps_the_order_of_axes():
    x, cos, sin = _tensors()
    permuted = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(
        0, 2, 1, 3)
    y = ropewalk.rotate(permuted, cos, sin)
    assert y.strides == permuted.strides
    assert golden.same_bits(y, ropewalk.rotate(x, cos, sin))


class Exported:
    """Nothing but DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack():
    x, cos, sin = _tensors()
    y = ropewalk.rotate(Exported(x), Exported(cos), Exported(sin))
    assert isinstance(y, np.ndarray)
    assert golden.same_bits(y, ropewalk.rotate(x, cos, sin))
    out = np.empty_like(x)
    target = Exported(out)
    assert ropewalk.rotate(Exported(x), cos, sin, out=target) is target
    assert golden.same_bits(out, y)


def test_read_only_inputs_and_outputs():
    x, cos, sin = _tensors()
    want = ropewalk.rotate(x, cos, sin)
    for array in (x, cos, sin):
        array.flags.writeable = False
    assert golden.same_bits(ropewalk.rotate(x, cos, sin), want)
    with pytest.raises(ValueError, match=r"\[rotate\] out: .*read-only"):
        ropewalk.rotate(x, cos, sin, out=x)


def test_outputs_are_never_copies():
    """A strided out is written to, not lost."""
    x, cos, sin = _tensors()
    room = np.zeros((2, 3, 5, 24), np.float32)
    out = room[..., 4:20:2]
    ropewalk.rotate(x, cos, sin, out=out)
    assert golden.same_bits(out.copy(), ropewalk.rotate(x, cos, sin))
    assert not room[..., :4].any() and not room[..., 5::2].any()
    outs = tuple(np.empty((*a.shape, 2), a.dtype)[..., 1]
                 for a in (x, cos, sin))
    got = ropewalk.rotate_backward(x, cos, sin, x, out=outs)
    for a, b, c in zip(got, outs, ropewalk.rotate_backward(x, cos, sin, x),
                       strict=True):
        assert a is b and golden.same_bits(a.copy(), c)


def test_empty():
    x, cos, sin = _tensors((2, 3, 0, 8))
    assert ropewalk.rotate(x, cos, sin).shape == (2, 3, 0, 8)
    x, cos, sin = _tensors((0, 3, 4, 8))
    cos = np.ones((1, 1, 4, 8), np.float32)
    dx, dcos, dsin = ropewalk.rotate_backward(x, cos, cos, x)
    assert dx.shape == x.shape and not dcos.any() and not dsin.any()


X, COS, SIN = _tensors()
REFUSALS = {
    "a list": (TypeError, r"\[rotate\] x: must be an array, but is list",
               lambda: ropewalk.rotate([1.0], COS, SIN)),
    "an integer dtype": (TypeError, r"\[rotate\] x: dtype must be .* int8",
                         lambda: ropewalk.rotate(X.astype(np.int8), COS, SIN)),
    "uint16 is not bf16": (TypeError, "uint16",
                           lambda: ropewalk.rotate(X.astype(np.uint16), COS,
                                                   SIN)),
    "int64 data": (TypeError, r"\[rotate\] x",
                   lambda: ropewalk.rotate(X.astype(np.int64), COS, SIN)),
    "byte order": (TypeError, "byte order",
                   lambda: ropewalk.rotate(X.astype(">f4"), COS, SIN)),
    "f64 tables": (TypeError, r"\[rotate\] cos",
                   lambda: ropewalk.rotate(X, COS.astype(np.float64),
                                           SIN.astype(np.float64))),
    "sin unlike cos": (ValueError, r"\[rotate\] sin: shape must be that of cos",
                       lambda: ropewalk.rotate(X, COS, SIN[..., :4])),
    "no broadcast": (ValueError, r"\[rotate\] cos: axis 2",
                     lambda: ropewalk.rotate(X, COS[:, :, :2], SIN[:, :, :2])),
    "another rank": (ValueError, r"\[rotate\] cos",
                     lambda: ropewalk.rotate(X, COS[0], SIN[0])),
    "rank 9": (ValueError, r"\[rotate\] x: .*rank",
               lambda: ropewalk.rotate(X.reshape(1, 1, 1, 1, 1, 2, 3, 5, 8),
                                       COS, SIN)),
    "no such pairing": (ValueError, "pairing: must be half, interleave",
                        lambda: ropewalk.rotate(X, COS, SIN, pairing="neox")),
    "a slice beyond the row": (ValueError, "slice: must be",
                               lambda: ropewalk.rotate(X, COS, SIN,
                                                       slice=(4, 12))),
    "an out of another shape": (ValueError, r"\[rotate\] y: shape",
                                lambda: ropewalk.rotate(X, COS, SIN,
                                                        out=X[:1])),
    "overlap": (ValueError, r"\[rotate\] y: must not overlap",
                lambda: ropewalk.rotate(X[:, :2], COS, SIN, out=X[:, 1:])),
    "dx alone as out": (ValueError, r"\[rotate_backward\] out",
                        lambda: ropewalk.rotate_backward(X, COS, SIN, X,
                                                         out=X)),
    "position too high": (IndexError, r"positions\[1\] is 4",
                          lambda: ropewalk.rotate_cached(
                              np.array([0, 4]), X[0, 0, :2], None,
                              COS[0, 0, :4], 8)),
    "position below 0": (IndexError, r"positions\[0\] is -1",
                         lambda: ropewalk.rotate_cached(
                             np.array([-1, 0]), X[0, 0, :2], None,
                             COS[0, 0, :4], 8)),
    "positions of floats": (TypeError, r"\[rotate_cached\] positions",
                            lambda: ropewalk.rotate_cached(
                                np.array([0.0, 1.0]), X[0, 0, :2], None,
                                COS[0, 0, :4], 8)),
    "no such style": (ValueError, "style: must be neox or gptj",
                      lambda: ropewalk.rotate_cached(
                          np.array([0, 1]), X[0, 0, :2], None, COS[0, 0, :4],
                          8, style="half")),
    "no such axes": (ValueError, "axes: must be segmented or interleaved",
                     lambda: ropewalk.rotate_cached(
                         np.array([0, 1]), X[0, 0, :2], None, COS[0, 0, :4],
                         8, axes="x")),
    "cached out not a pair": (ValueError, r"\[rotate_cached\] out",
                              lambda: ropewalk.rotate_cached(
                                  np.array([0, 1]), X[0, 0, :2], None,
                                  COS[0, 0, :4], 8, out=X)),
}


@pytest.mark.parametrize(("error", "text", "call"), REFUSALS.values(),
                         ids=REFUSALS)
def test_refusals(error, text, call):
    before = copy.deepcopy((X, COS, SIN))
    with pytest.raises(error, match=text):
        call()
    for a, b in zip(before, (X, COS, SIN), strict=True):
        assert golden.same_bits(a, b)


def test_threads():
    x, cos, sin = _tensors((4, 8, 512, 64))
    want = ropewalk.rotate_backward(x, cos, sin, x)
    try:
        for threads in (1, 3):
            ropewalk.set_num_threads(threads)
            assert ropewalk.num_threads() == threads
            got = ropewalk.rotate_backward(x, cos, sin, x)
            assert all(map(golden.same_bits, got, want))
    finally:
        ropewalk.set_num_threads(0)


def test_version():
    header = (golden.ROOT / "include/ropewalk/version.h").read_text()
    assert f'"{ropewalk.__version__}"' in header

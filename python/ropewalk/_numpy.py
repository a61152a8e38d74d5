"""The operators on arrays."""

from collections.abc import Sequence
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._options import Axes, Pairing, Style

Array = npt.NDArray[Any]


class _Dlpack(Protocol):
    def __dlpack__(self) -> Any: ...


ArrayLike = Array | _Dlpack
"""A NumPy array, or anything with DLPack in the memory of the CPU."""


def _bfloat16() -> np.dtype[Any]:
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeError("a bf16 array needs the package ml_dtypes") from error
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bf16":
        return _bfloat16()
    return np.dtype({"f32": "float32", "f16": "float16", "f64": "float64",
                     "i32": "int32", "i64": "int64"}[name])


def _view(argument: str, array: object, writable: bool = False) -> _core.View:
    """A view of the array's own memory; never of a copy."""
    try:
        if not isinstance(array, np.ndarray):
            if not hasattr(array, "__dlpack__"):
                raise TypeError("must be an array, but is "
                                f"{type(array).__name__}")
            if getattr(array, "requires_grad", False):
                raise TypeError("its gradient would be lost; use "
                                "ropewalk.torch, or detach it")
            return _core.View(array, writable=writable)
        if writable and not array.flags.writeable:
            raise ValueError("must be writable, but is read-only")
        if not array.dtype.isnative:
            raise TypeError("must have the machine's byte order")
        # NumPy can name bf16 neither in DLPack nor in the buffer protocol.
        if array.dtype.name == "bfloat16":
            return _core.View(array.view(np.uint16), "bf16", writable=writable)
        if array.dtype.name not in ("float32", "float16", "float64", "int32",
                                    "int64"):
            raise TypeError("dtype must be float32, float16, bfloat16 or "
                            "float64 (positions: int64 or int32), but is "
                            f"{array.dtype.name}")
        return _core.View(array, writable=writable)
    except (TypeError, ValueError, BufferError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{argument}: {error}") from error


def _like(array: ArrayLike, view: _core.View) -> Array:
    if isinstance(array, np.ndarray):
        return np.empty_like(array, subok=False)
    return np.empty(view.shape, _dtype(view.dtype))


class _Call:
    """Collects the views of a call, named for messages."""

    def __init__(self, operator: str) -> None:
        self._operator = operator

    def read(self, name: str, array: ArrayLike) -> _core.View:
        return _view(f"[{self._operator}] {name}", array)

    def write(self, name: str, array: ArrayLike | None,
              like: ArrayLike, like_view: _core.View) -> tuple[Any, _core.View]:
        if array is None:
            array = _like(like, like_view)
        return array, _view(f"[{self._operator}] {name}", array, writable=True)


def rotate(x: ArrayLike, cos: ArrayLike, sin: ArrayLike, *,
           pairing: Pairing = "half", slice: tuple[int, int] | None = None,
           out: ArrayLike | None = None) -> Any:
    """Rotates pairs of columns: ``x̂ * cos + rot(x) * sin``.

    Args:
      x: rank 1 to 8, float32, bfloat16, float16 or float64; any strides.
      cos, sin: the rank of x; each leading axis 1 or that of x; the last axis
        has the rotated width, or half of it (one value for each pair). One
        dtype, not necessarily that of x; float64 only with float64.
      pairing: which columns rotate together. Of D columns: "half"
        (i, i + D/2), GPT-NeoX; "interleave" (2k, 2k + 1), GPT-J; "quarter",
        "half" in each half of D; "interleave-half" reads (2k, 2k + 1), writes
        (k, k + D/2), DeepSeek.
      slice: (start, end), the columns that rotate; the others are copied.
      out: where to write; may be x itself.

    Returns:
      out, or a new array of x's shape, dtype and order of axes.

    Raises:
      ValueError: shapes, options, overlap, read-only out, memory of a device.
      TypeError: dtypes, and what is not an array.

    Nothing is written where it raises. The C++ counterpart is
    ropewalk::Rotate, CANN's is RotaryPositionEmbedding.
    """
    call = _Call("rotate")
    x_view = call.read("x", x)
    out, out_view = call.write("out", out, x, x_view)
    _core.rotate(x_view, call.read("cos", cos), call.read("sin", sin),
                 out_view, pairing=pairing, slice=slice)
    return out


@overload
def rotate_backward(dy: ArrayLike, cos: ArrayLike, sin: ArrayLike,
                    x: None = None, *, pairing: Pairing = "half",
                    slice: tuple[int, int] | None = None,
                    out: ArrayLike | None = None) -> Any: ...


@overload
def rotate_backward(dy: ArrayLike, cos: ArrayLike, sin: ArrayLike,
                    x: ArrayLike, *, pairing: Pairing = "half",
                    slice: tuple[int, int] | None = None,
                    out: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
                    ) -> tuple[Any, Any, Any]: ...


def rotate_backward(dy: ArrayLike, cos: ArrayLike, sin: ArrayLike,
                    x: ArrayLike | None = None, *, pairing: Pairing = "half",
                    slice: tuple[int, int] | None = None,
                    out: Any = None) -> Any:
    """Gradients of `rotate`, from the gradient of its result.

    Args:
      dy: the gradient of the result; shape and dtype of x.
      cos, sin, pairing, slice: those of `rotate`.
      x: what was rotated, if dcos and dsin are wanted.
      out: where to write: dx, or with x (dx, dcos, dsin). dx may be dy or x.

    Returns:
      dx, or with x (dx, dcos, dsin). dcos and dsin have cos's shape and dtype:
      they are summed over the axes on which cos is broadcast, in an order that
      the shapes alone decide, with one rounding.

    Raises: as `rotate`.

    The C++ counterpart is ropewalk::RotateBackward, CANN's is
    RotaryPositionEmbeddingGrad.
    """
    call = _Call("rotate_backward")
    dy_view = call.read("dy", dy)
    cos_view = call.read("cos", cos)
    sin_view = call.read("sin", sin)
    if x is None:
        dx, dx_view = call.write("dx", out, dy, dy_view)
        _core.rotate_backward(dy_view, cos_view, sin_view, dx=dx_view,
                              pairing=pairing, slice=slice)
        return dx
    if out is None:
        out = None, None, None
    elif not isinstance(out, tuple) or len(out) != 3:
        raise ValueError("[rotate_backward] out: with x it must be the tuple "
                         "(dx, dcos, dsin)")
    x_view = call.read("x", x)
    dx, dx_view = call.write("dx", out[0], dy, dy_view)
    dcos, dcos_view = call.write("dcos", out[1], cos, cos_view)
    dsin, dsin_view = call.write("dsin", out[2], sin, sin_view)
    _core.rotate_backward(dy_view, cos_view, sin_view, x_view, dx_view,
                          dcos_view, dsin_view, pairing=pairing, slice=slice)
    return dx, dcos, dsin


def rotate_cached(positions: ArrayLike, query: ArrayLike,
                  key: ArrayLike | None, cache: ArrayLike, head_size: int, *,
                  style: Style = "neox",
                  sections: Sequence[int] | None = None,
                  axes: Axes = "segmented", backward: bool = False,
                  out: tuple[ArrayLike, ArrayLike | None] | None = None,
                  ) -> tuple[Any, Any]:
    """Rotates the heads of each token by the row of a cache at its position.

    Args:
      positions: int64 or int32, (tokens), or with sections
        (len(sections), tokens).
      query, key: (tokens, heads * head_size) or (tokens, heads, head_size),
        any strides; key may be None.
      cache: (rows, rotary_dim); a row holds rotary_dim / 2 cosines, then the
        sines.
      head_size: columns of a head; those from rotary_dim on are copied.
      style: "neox", pairs (i, i + rotary_dim/2); "gptj", pairs (2k, 2k + 1).
      sections: 3 or 4 numbers of pairs that sum to rotary_dim / 2: which pairs
        follow which row of positions (multimodal). None or starting with 0:
        plain positions.
      axes: how the sections lie: "segmented", one after the other;
        "interleaved", by turns.
      backward: query and key are gradients of the result, and the result is
        the gradients of query and key.
      out: (query, key) to write to; each may be the input itself.

    Returns:
      (query, key), key None if none was given.

    Raises:
      IndexError: a position outside of the cache.
      ValueError, TypeError: as `rotate`.

    The C++ counterpart is ropewalk::RotateCached, CANN's is
    RopeWithSinCosCache.
    """
    call = _Call("rotate_cached")
    outs = (None, None) if out is None else out
    if not isinstance(outs, tuple) or len(outs) != 2:
        raise ValueError("[rotate_cached] out: must be the tuple (query, key)")
    query_view = call.read("query", query)
    query_out, query_out_view = call.write("query_out", outs[0], query,
                                           query_view)
    key_out = key_view = key_out_view = None
    if key is not None:
        key_view = call.read("key", key)
        key_out, key_out_view = call.write("key_out", outs[1], key,
                                           key_view)
    _core.rotate_cached(
        call.read("positions", positions), call.read("cache", cache),
        query_view, query_out_view, key_view, key_out_view,
        head_size=head_size, style=style, sections=sections, axes=axes,
        backward=backward)
    return query_out, key_out

"""The operators for PyTorch, with gradients of everything.

They are also torch.ops.ropewalk.rotary and so on: torch.compile, vmap, export
and autograd know them. They run on the CPU, on torch's own threads
(torch.set_num_threads), without the GIL. Results have the strides of
torch.empty_like. Formulas and rules: docs/ops of the source.
"""

from collections.abc import Sequence

import torch

from .._options import Axes, Pairing, Style
from . import _native
from . import _cached as _cached  # registers its operators
from ._direct import may_call_directly
from ._library import calls, check_tensors, increment_version, ops
from ._transformers import Patch, patch_transformers

__all__ = [
    "Patch",
    "patch_transformers",
    "rotary",
    "rotary_",
    "rotary_cached",
    "rotary_qk",
    "rotary_qk_",
]

Tensor = torch.Tensor


def rotary(x: Tensor, cos: Tensor, sin: Tensor, *, pairing: Pairing = "half",
           slice: tuple[int, int] | None = None) -> Tensor:
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

    Returns:
      A tensor of x's shape, dtype and, where x is dense, strides. x, cos and
      sin get gradients; those of cos and sin are computed only if one of them
      requires it, in the pass that computes x's.

    Raises:
      ValueError: shapes, options, memory of a device.
      TypeError: dtypes, and what is not a tensor.

    CANN's counterpart is RotaryPositionEmbedding.
    """
    if may_call_directly(x, cos, sin):
        y = torch.empty_like(x)
        _native.rotate(x, cos, sin, y, None, None, pairing, slice,
                       threads=_native.THREADS)
        return y
    check_tensors("rotate", x=x, cos=cos, sin=sin)
    result: Tensor = calls["rotary"](x, cos, sin, pairing, slice)
    return result


def rotary_(x: Tensor, cos: Tensor, sin: Tensor, *, pairing: Pairing = "half",
            slice: tuple[int, int] | None = None) -> Tensor:
    """`rotary`, written to x; columns outside of the slice are not touched.

    Returns:
      x. It may be a view of a larger tensor, with any strides. Where gradients
      are needed it works by way of a copy.

    Raises:
      RuntimeError: x is a leaf that requires a gradient.
      Else as `rotary`; x also may not overlap itself, cos or sin.

    CANN's counterpart is InplacePartialRotaryMul.
    """
    if may_call_directly(x, cos, sin):
        _native.rotate(x, cos, sin, x, None, None, pairing, slice,
                       threads=_native.THREADS)
        increment_version(x)
    else:
        check_tensors("rotate", x=x, cos=cos, sin=sin)
        ops.rotary_(x, cos, sin, pairing, slice)
    return x


def rotary_qk_(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *,
               pairing: Pairing = "half",
               slice: tuple[int, int] | None = None) -> tuple[Tensor, Tensor]:
    """`rotary_qk`, written to q and k, in one run.

    Returns:
      q and k. What `rotary_` says of x holds for both; they may not overlap.
    """
    if may_call_directly(q, k, cos, sin):
        _native.rotate(q, cos, sin, q, k, k, pairing, slice,
                       threads=_native.THREADS)
        increment_version(q)
        increment_version(k)
    else:
        check_tensors("rotate", x=q, x2=k, cos=cos, sin=sin)
        ops.rotary_qk_(q, k, cos, sin, pairing, slice)
    return q, k


def rotary_qk(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor, *,
              pairing: Pairing = "half",
              slice: tuple[int, int] | None = None) -> tuple[Tensor, Tensor]:
    """`rotary` of two tensors by the same tables, in one run.

    Args:
      q, k: as x of `rotary`; their sizes may differ where cos has size 1 (the
        heads), and so may their dtypes.
      cos, sin, pairing, slice: those of `rotary`.

    Returns:
      The rotated q and k. Gradients of cos and sin are summed over both before
      they are rounded.

    Raises: as `rotary`. Messages call q x, and k x2.
    """
    if may_call_directly(q, k, cos, sin):
        q_out, k_out = torch.empty_like(q), torch.empty_like(k)
        _native.rotate(q, cos, sin, q_out, k, k_out, pairing, slice,
                       threads=_native.THREADS)
        return q_out, k_out
    check_tensors("rotate", x=q, x2=k, cos=cos, sin=sin)
    ys: tuple[Tensor, Tensor] = calls["rotary_qk"](
        q, k, cos, sin, pairing, slice)
    return ys


def rotary_cached(positions: Tensor, q: Tensor, k: Tensor | None,
                  cache: Tensor, head_size: int, *, style: Style = "neox",
                  sections: Sequence[int] | None = None,
                  axes: Axes = "segmented") -> tuple[Tensor, Tensor | None]:
    """Rotates the heads of each token by the row of a cache at its position.

    Args:
      positions: int64 or int32, (tokens), or with sections
        (len(sections), tokens).
      q, k: (tokens, heads * head_size) or (tokens, heads, head_size), any
        strides; k may be None.
      cache: (rows, rotary_dim); a row holds rotary_dim / 2 cosines, then the
        sines.
      head_size: columns of a head; those from rotary_dim on are copied.
      style: "neox", pairs (i, i + rotary_dim/2); "gptj", pairs (2k, 2k + 1).
      sections: 3 or 4 numbers of pairs that sum to rotary_dim / 2: which pairs
        follow which row of positions (multimodal). None or starting with 0:
        plain positions.
      axes: how the sections lie: "segmented", one after the other;
        "interleaved", by turns.

    Returns:
      The rotated q and k; None for a k that is None. q, k and cache get
      gradients.

    Raises:
      IndexError: a position outside of the cache; nothing is clamped.
      ValueError, TypeError: as `rotary`.

    CANN's counterpart is RopeWithSinCosCache.
    """
    if k is None:
        # A key without heads.
        shape = (q.shape[0], 0, head_size) if q.dim() == 3 else (q.shape[0], 0)
        q_out, _ = rotary_cached(positions, q, q.new_empty(shape), cache,
                                 head_size, style=style, sections=sections,
                                 axes=axes)
        return q_out, None
    if may_call_directly(positions, q, k, cache):
        q_out, k_out = torch.empty_like(q), torch.empty_like(k)
        _native.rotate_cached(positions, cache, q, q_out, k, k_out,
                              head_size=head_size, style=style,
                              sections=sections, axes=axes,
                              threads=_native.THREADS)
        return q_out, k_out
    check_tensors("rotate_cached", positions=positions, query=q, key=k,
                  cache=cache)
    ys: tuple[Tensor, Tensor] = calls["rotary_cached"](
        positions, q, k, cache, head_size, style, sections, axes)
    return ys

"""A name of flash-attention, on CPUs: apply_rotary_emb.

The signature and the dtypes of flash_attn.layers.rotary, in the arithmetic of
docs/numerics.md. What differs is in docs/dropin.md.
"""

from typing import NoReturn

import torch

from . import torch as _rt
from ._errors import raises_also
from ._options import Pairing
from .torch._library import check_tensors

__all__ = ["apply_rotary_emb"]

Tensor = torch.Tensor


@raises_also(AssertionError)
def apply_rotary_emb(x: Tensor, cos: Tensor, sin: Tensor,
                     interleaved: bool = False, inplace: bool = False,
                     seqlen_offsets: int | Tensor = 0,
                     cu_seqlens: Tensor | None = None,
                     max_seqlen: int | None = None) -> Tensor:
    """Rotates each token by the row of cos and sin at its position.

    The position of a token is its index in its sequence, plus the offset of
    the sequence.

    Args:
      x: (batch, seqlen, heads, head_size), or with cu_seqlens (tokens, heads,
        head_size): sequences one after the other. float32, bfloat16, float16
        or float64; any strides.
      cos, sin: (rows, rotary_dim / 2), one value for each pair. The first
        rotary_dim columns of a head rotate. One dtype, not necessarily that of
        x; float64 only with float64.
      interleaved: pairs (2k, 2k + 1), else (i, i + rotary_dim / 2).
      inplace: writes to x, and returns it.
      seqlen_offsets: one for all sequences, or int32 or int64, (batch).
      cu_seqlens: int32 or int64, (batch + 1): where each sequence begins, from
        0 on, and where the last one ends. Tokens behind it do not rotate.
      max_seqlen: needed with cu_seqlens; at least the longest sequence.

    Returns:
      A tensor of x's shape and dtype. x gets a gradient, and so do cos and sin
      if they require one.

    Raises:
      IndexError: a position outside of cos and sin.
      ValueError, TypeError: shapes, options, dtypes. All three are
        AssertionErrors too. Nothing has been written then.
      RuntimeError: inplace, and x is a leaf that requires a gradient.
    """
    check_tensors("rotate", x=x, cos=cos, sin=sin)
    _check_shapes(x, cos, sin, packed=cu_seqlens is not None)
    rows = cos.shape[0]
    tokens = x
    positions: slice | Tensor
    if cu_seqlens is not None:
        positions = _packed_positions(x.shape[0], rows, seqlen_offsets,
                                      cu_seqlens, max_seqlen)
        tokens = x[:len(positions)]
    elif isinstance(seqlen_offsets, Tensor):
        positions = _positions(x.shape, rows, seqlen_offsets)
    else:
        positions = _slice(x.shape[1], rows, seqlen_offsets)
    tables = [t[positions].unsqueeze(-2) for t in (cos, sin)]
    if isinstance(positions, slice):
        tables = [t.unsqueeze(0) for t in tables]
    pairing: Pairing = "interleave" if interleaved else "half"
    columns = (0, 2 * cos.shape[1])
    if inplace:
        _rt.rotary_(tokens, *tables, pairing=pairing, slice=columns)
        return x
    y = _rt.rotary(tokens, *tables, pairing=pairing, slice=columns)
    if tokens.shape == x.shape:
        return y
    return torch.cat((y, x[tokens.shape[0]:]))


def _refuse(error: type[Exception], argument: str, need: str,
            fact: object) -> NoReturn:
    raise error(f"[apply_rotary_emb] {argument}: must {need}, but is {fact}")


def _check_shapes(x: Tensor, cos: Tensor, sin: Tensor, packed: bool) -> None:
    if x.dim() != (3 if packed else 4):
        _refuse(ValueError, "x", "be (tokens, heads, head_size)" if packed else
                "be (batch, seqlen, heads, head_size)", tuple(x.shape))
    if cos.dim() != 2:
        _refuse(ValueError, "cos", "be (rows, rotary_dim / 2)",
                tuple(cos.shape))
    if sin.shape != cos.shape:
        _refuse(ValueError, "sin", f"have the shape of cos, {tuple(cos.shape)}",
                tuple(sin.shape))
    if 2 * cos.shape[1] > x.shape[-1]:
        _refuse(ValueError, "cos", f"have at most {x.shape[-1] // 2} columns, "
                "half of head_size", tuple(cos.shape))


def _check_integers(argument: str, tensor: Tensor, shape: str,
                    fits: bool) -> None:
    check_tensors("apply_rotary_emb", **{argument: tensor})
    if tensor.dtype not in (torch.int32, torch.int64):
        _refuse(TypeError, argument, "be int32 or int64", tensor.dtype)
    if not fits:
        _refuse(ValueError, argument, f"be {shape}", tuple(tensor.shape))


def _slice(seqlen: int, rows: int, offset: int) -> slice:
    """The rows of the table, the same for all sequences."""
    if not isinstance(offset, (int, torch.SymInt)):
        _refuse(TypeError, "seqlen_offsets", "be an int or a tensor",
                type(offset).__name__)
    if offset < 0 or offset + seqlen > rows:
        _refuse(IndexError, "seqlen_offsets", "be 0 or more, and leave "
                f"{seqlen} of the {rows} rows of cos", offset)
    return slice(offset, offset + seqlen)


# What follows looks at numbers in tensors; torch.compile breaks its graph here.


def _in_table(positions: Tensor, rows: int) -> Tensor:
    if positions.numel():
        low, high = map(int, positions.aminmax())
        if low < 0 or high >= rows:
            _refuse(IndexError, "seqlen_offsets", "give positions from 0 to "
                    f"{rows - 1}, the rows of cos",
                    f"such that one is {low if low < 0 else high}")
    return positions


def _positions(shape: torch.Size, rows: int, offsets: Tensor) -> Tensor:
    """(batch, seqlen)"""
    _check_integers("seqlen_offsets", offsets, f"({shape[0]},), one for each "
                    "sequence", offsets.shape == shape[:1])
    return _in_table(offsets.long()[:, None] + torch.arange(shape[1]), rows)


def _packed_positions(tokens: int, rows: int, offsets: int | Tensor,
                      cu_seqlens: Tensor, max_seqlen: int | None) -> Tensor:
    """(tokens that are in a sequence)"""
    _check_integers("cu_seqlens", cu_seqlens, "(batch + 1,)",
                    cu_seqlens.dim() == 1 and cu_seqlens.numel() > 0)
    if max_seqlen is None:
        _refuse(ValueError, "max_seqlen", "be given with cu_seqlens", None)
    bounds = cu_seqlens.long()
    starts, lengths = bounds[:-1], bounds.diff()
    end = int(bounds[-1])
    if bounds[0] != 0 or (lengths < 0).any() or end > tokens:
        _refuse(ValueError, "cu_seqlens", "begin with 0, not descend, and end "
                f"at {tokens} tokens or before", cu_seqlens.tolist())
    longest = int(lengths.max()) if lengths.numel() else 0
    if longest > max_seqlen:
        _refuse(ValueError, "max_seqlen", f"be at least {longest}, the longest "
                "sequence", max_seqlen)
    if isinstance(offsets, Tensor):
        _check_integers("seqlen_offsets", offsets, f"({len(lengths)},), one "
                        "for each sequence", offsets.shape == lengths.shape)
        offsets = offsets.long()
    shifts = torch.repeat_interleave(offsets - starts, lengths)
    return _in_table(torch.arange(end) + shifts, rows)

"""The names of torch_npu, on CPUs: `import ropewalk.torch_npu as torch_npu`.

For programs written for Ascend NPUs: the same signatures, casts and dtypes of
results, in the arithmetic of docs/numerics.md. Limits of the devices (sizes,
layouts of the tables, modes) are not imitated, and gradients exist wherever
ropewalk.torch has them. inplace_partial_rotary_mul and its backward are those
of cann_ops_transformer.
"""

from collections.abc import Sequence

import torch

from . import torch as _rt
from ._options import Axes, Pairing, Style
from .torch._library import check_tensors

__all__ = [
    "inplace_partial_rotary_mul",
    "inplace_partial_rotary_mul_backward",
    "npu_apply_rotary_pos_emb",
    "npu_interleave_rope",
    "npu_mrope",
    "npu_rotary_mul",
    "npu_rotary_mul_backward",
]

Tensor = torch.Tensor


def npu_rotary_mul(self: Tensor, r1: Tensor, r2: Tensor,
                   rotary_mode: Pairing = "half",
                   rotate: Tensor | None = None) -> Tensor:
    """``x̂ * r1 + rot(x) * r2``; r1 is cos, r2 is sin.

    Args:
      self: rank 3 or 4, float32, bfloat16 or float16.
      r1, r2: broadcast to self; rounded to its dtype.
      rotary_mode: "half", "interleave", "quarter" or "interleave-half".
      rotate: (D, D), so that rot(x) is x @ rotate: products and sums in
        float64, rounded to float32. None: as rotary_mode says.

    Returns:
      A tensor of self's shape and dtype.

    Raises: ValueError, TypeError; as `ropewalk.torch.rotary`.
    """
    r1, r2 = r1.to(self.dtype), r2.to(self.dtype)
    if rotate is None:
        return _rt.rotary(self, r1, r2, pairing=rotary_mode)
    width = self.shape[-1]
    if rotate.shape != (width, width):
        raise ValueError(f"[npu_rotary_mul] rotate: must be {width} x {width}, "
                         f"but is {tuple(rotate.shape)}")
    rotated = (self.double() @ rotate.double()).float()
    return (self.float() * r1.float() + rotated * r2.float()).to(self.dtype)


def npu_rotary_mul_backward(grad: Tensor, self: Tensor, r1: Tensor, r2: Tensor,
                            rotary_mode: Pairing = "half",
                            ) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of npu_rotary_mul: of self, r1 and r2.

    All have the dtype of self; those of r1 and r2 have their shapes, summed
    over what they are broadcast to. (torch_npu leaves these two undefined
    where r1 and r2 need no gradient.)
    """
    r1, r2 = r1.to(self.dtype), r2.to(self.dtype)
    check_tensors("rotate_backward", dy=grad, x=self, cos=r1, sin=r2)
    dx, dr1, dr2 = torch.ops.ropewalk.rotary_backward(grad, self, r1, r2,
                                                      rotary_mode)
    return dx, dr1, dr2


def npu_mrope(positions: Tensor, query: Tensor, key: Tensor,
              cos_sin_cache: Tensor, head_size: int, *,
              mrope_section: Sequence[int] | None = None,
              rotary_mode: str = "half", cache_mode: str = "default",
              ) -> tuple[Tensor, Tensor]:
    """Rotates by position; see `ropewalk.torch.rotary_cached`.

    Args:
      positions: int64, (tokens), or (3 or 4, tokens) with mrope_section.
      query, key: (tokens, heads * head_size).
      cos_sin_cache: (rows, rotary_dim), cosines then sines.
      mrope_section: None or zeros for plain positions, else 3 or 4 counts that
        sum to rotary_dim / 2.
      rotary_mode: "half" or "interleave".
      cache_mode: "default" (sections one after the other) or "interleave".

    Raises:
      IndexError: a position outside of the cache, which is undefined on a
        device.
    """
    styles: dict[str, Style] = {"half": "neox", "interleave": "gptj"}
    layouts: dict[str, Axes] = {"default": "segmented", "interleave": "interleaved"}
    if rotary_mode not in styles:
        raise ValueError("[npu_mrope] rotary_mode: must be half or interleave, "
                         f"but is {rotary_mode}")
    if cache_mode not in layouts:
        raise ValueError("[npu_mrope] cache_mode: must be default or "
                         f"interleave, but is {cache_mode}")
    q, k = _rt.rotary_cached(
        positions, query, key, cos_sin_cache, head_size,
        style=styles[rotary_mode], sections=mrope_section,
        axes=layouts[cache_mode])
    assert k is not None
    return q, k


def npu_apply_rotary_pos_emb(query: Tensor, key: Tensor, cos: Tensor,
                             sin: Tensor, layout: str = "BSND",
                             rotary_mode: Pairing = "half",
                             ) -> tuple[Tensor, Tensor]:
    """Rotates query and key in place, and returns them.

    Args:
      query, key: rank 4, or 3 if layout is "TND".
      cos, sin: 1 where layout has N, else broadcast to both; if narrower than
        a head, only the first columns rotate.
      layout: "BSND", "SBND", "BNSD" or "TND".
      rotary_mode: "half", "interleave" or "quarter".
    """
    if layout not in ("BSND", "SBND", "BNSD", "TND"):
        raise ValueError("[npu_apply_rotary_pos_emb] layout: must be BSND, "
                         f"SBND, BNSD or TND, but is {layout}")
    for name, tensor in (("query", query), ("key", key), ("cos", cos),
                         ("sin", sin)):
        if tensor.dim() != len(layout):
            raise ValueError(f"[npu_apply_rotary_pos_emb] {name}: must have "
                             f"rank {len(layout)}, but has {tensor.dim()}")
    if cos.shape[layout.index("N")] != 1:
        raise ValueError("[npu_apply_rotary_pos_emb] cos: the size of N must "
                         f"be 1, but is {cos.shape[layout.index('N')]}")
    return _rt.rotary_qk_(query, key, cos, sin, pairing=rotary_mode,
                          slice=(0, cos.shape[-1]))


def npu_interleave_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Reads pairs side by side, leaves them apart: pairing "interleave-half".

    x is (B, N, S, D); cos and sin are (B, 1, S, D) or (B, 1, 1, D).
    """
    return _rt.rotary(x, cos, sin, pairing="interleave-half")


def inplace_partial_rotary_mul(x: Tensor, r1: Tensor, r2: Tensor, *,
                               rotary_mode: Pairing = "interleave",
                               partial_slice: Sequence[int] | None = None,
                               ) -> None:
    """Rotates the columns [start, end) of x in place.

    Args:
      x: (B, S, N, D).
      r1, r2: cos and sin, as wide as the slice; they get no gradients.
      partial_slice: (start, end). None is (0, 0): nothing is done.
    """
    columns = _columns(x, partial_slice)
    if columns is not None:
        _rt.rotary_(x, r1.detach(), r2.detach(), pairing=rotary_mode,
                    slice=columns)


def inplace_partial_rotary_mul_backward(
        grad_output: Tensor, r1: Tensor, r2: Tensor, *,
        rotary_mode: Pairing = "interleave",
        partial_slice: Sequence[int] | None = None) -> None:
    """Turns the gradient of the result into the gradient of x, in place.

    Arguments as those of inplace_partial_rotary_mul.
    """
    check_tensors("rotate_backward", dy=grad_output, cos=r1, sin=r2)
    columns = _columns(grad_output, partial_slice)
    if columns is not None:
        torch.ops.ropewalk.rotary_dx_(grad_output, r1.detach(), r2.detach(),
                                      rotary_mode, columns)


def _columns(x: Tensor,
             partial_slice: Sequence[int] | None) -> tuple[int, int] | None:
    """The slice, or None where there is nothing to do."""
    start, end = (0, 0) if partial_slice is None else partial_slice
    if not 0 <= start <= end <= x.shape[-1]:
        raise ValueError("[inplace_partial_rotary_mul] partial_slice: must be "
                         f"0 <= start <= end <= {x.shape[-1]}, but is "
                         f"{[start, end]}")
    return None if start == end else (start, end)

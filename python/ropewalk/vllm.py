"""A name of vLLM, on CPUs: rotary_embedding.

The signature of vLLM's operator (torch.ops._C.rotary_embedding), in the
arithmetic of docs/numerics.md. What differs is in docs/dropin.md.
"""

from typing import Any

import torch

from . import _core
from ._errors import raises_also
from .torch import _native
from .torch._direct import may_call_directly
from .torch._library import (
    _checked,
    calls,
    check_tensors,
    increment_version,
    library,
    ops,
)

__all__ = ["rotary_embedding"]

Tensor = torch.Tensor


@raises_also(RuntimeError)
def rotary_embedding(positions: Tensor, query: Tensor, key: Tensor | None,
                     head_size: int, cos_sin_cache: Tensor,
                     is_neox: bool) -> None:
    """Rotates the heads of query and key in place, by position.

    Args:
      positions: int64 or int32, (tokens) or (batch, seqlen).
      query, key: the axes of positions, then heads * head_size or heads,
        head_size. float32, bfloat16, float16 or float64, any strides; key may
        be None.
      head_size: columns of a head; those from rotary_dim on are not touched.
      cos_sin_cache: (rows, rotary_dim); a row holds rotary_dim / 2 cosines,
        then the sines. Not necessarily of query's dtype; float64 only with
        float64.
      is_neox: pairs (i, i + rotary_dim / 2), else (2k, 2k + 1).

    Raises:
      IndexError: a position outside of the cache.
      ValueError, TypeError: shapes, dtypes, overlap. All three are
        RuntimeErrors too. Nothing has been written then.
      RuntimeError: query or key is a leaf that requires a gradient.
    """
    check_tensors("rotary_embedding", positions=positions, query=query,
                  cos_sin_cache=cos_sin_cache,
                  **({} if key is None else {"key": key}))
    axes = positions.dim()
    if axes not in (1, 2):
        raise ValueError("[rotary_embedding] positions: must be (tokens) or "
                         f"(batch, seqlen), but is {tuple(positions.shape)}")
    for name, x in (("query", query), ("key", key)):
        if x is not None and (x.shape[:axes] != positions.shape
                              or x.dim() - axes not in (1, 2)):
            raise ValueError(
                f"[rotary_embedding] {name}: must be {tuple(positions.shape)} "
                "as positions, then heads * head_size or heads, head_size, "
                f"but is {tuple(x.shape)}")
    if key is None:  # a key without heads
        shape = positions.shape + ((0,) if query.dim() == axes + 1
                                   else (0, head_size))
        key = query.new_empty(shape)
    if axes == 1:
        _rotate_(positions, query, key, head_size, cos_sin_cache, is_neox)
        return
    tokens = query.flatten(0, 1), key.flatten(0, 1)
    _rotate_(positions.flatten(), *tokens, head_size, cos_sin_cache, is_neox)
    for x, rotated in zip((query, key), tokens, strict=True):
        if not (1 in x.shape[:2] or x.stride(0) == x.shape[1] * x.stride(1)):
            x.copy_(rotated.view(x.shape))  # flatten had to copy


def _rotate_(positions: Tensor, query: Tensor, key: Tensor, head_size: int,
             cache: Tensor, is_neox: bool) -> None:
    arguments = (positions, query, key, cache, head_size,
                 "neox" if is_neox else "gptj")
    if may_call_directly(*arguments[:4]):
        _run(*arguments)
    else:
        ops.rotary_cached_(*arguments)


def _run(positions: Tensor, query: Tensor, key: Tensor, cache: Tensor,
         head_size: int, style: str) -> None:
    _native.rotate_cached(positions, cache, query, query, key, key,
                          head_size=head_size, style=style,
                          threads=_native.THREADS)
    increment_version(query)
    increment_version(key)


def _check(positions: Tensor, query: Tensor, key: Tensor, cache: Tensor,
           head_size: int, style: str) -> None:
    _checked(_core.rotate_cached, "rotate_cached",
             dict(positions=positions, cache=cache, query=query,
                  query_out=query, key=key, key_out=key),
             head_size=head_size, style=style)


def _autograd(keys: Any, *arguments: Any) -> None:
    if torch.is_grad_enabled() and any(t.requires_grad for t in arguments[:4]):
        # The gradient of the cache needs query and key as they were.
        xs = arguments[1:3]
        kept = [x.clone() for x in xs] if arguments[3].requires_grad else xs
        rotated = calls["rotary_cached"](arguments[0], *kept, *arguments[3:],
                                         None, "segmented")
        for x, y in zip(xs, rotated, strict=True):
            x.copy_(y)
        return
    with torch._C._AutoDispatchBelowAutograd():
        ops.rotary_cached_.default.redispatch(
            keys & torch._C._after_autograd_keyset, *arguments)


library.define("rotary_cached_(Tensor positions, Tensor(a!) q, Tensor(b!) k, "
               "Tensor cache, int head_size, str style) -> ()")
library.impl("rotary_cached_", _run, "CPU")
library.impl("rotary_cached_", _autograd, "Autograd", with_keyset=True)
torch.library.register_fake("ropewalk::rotary_cached_", _check, lib=library)

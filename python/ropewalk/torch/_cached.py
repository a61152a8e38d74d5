"""rotary_cached: rotation by position, of torch.ops.ropewalk."""

from typing import Any

import torch

from .. import _core
from . import _native
from ._library import _checked, batch_first, calls, library, register

Tensor = torch.Tensor


def _kernel(backward: bool, check_only: bool) -> Any:
    def kernel(positions: Tensor, q: Tensor, k: Tensor, cache: Tensor,
               head_size: int, style: str = "neox", sections: Any = None,
               axes: str = "segmented") -> tuple[Tensor, Tensor]:
        results = torch.empty_like(q), torch.empty_like(k)
        tensors = dict(positions=positions, cache=cache, query=q,
                       query_out=results[0], key=k, key_out=results[1])
        options = dict(head_size=head_size, style=style, sections=sections,
                       axes=axes, backward=backward)
        if check_only:
            _checked(_core.rotate_cached, "rotate_cached", tensors,
                     **options)
        else:
            _native.rotate_cached(**tensors, **options,
                                  threads=_native.THREADS)
        return results

    return kernel


def _rows(positions: Tensor, pairs: int, sections: Any, axes: str) -> Tensor:
    """(tokens, pairs): the row of the cache that each pair follows."""
    if not sections or sections[0] == 0:
        return positions.long().unsqueeze(1).expand(-1, pairs)
    axis = torch.zeros(pairs, dtype=torch.long, device=positions.device)
    if axes == "segmented":
        axis = torch.repeat_interleave(
            torch.arange(len(sections), device=positions.device),
            torch.tensor(sections, device=positions.device),
            output_size=pairs)
    else:
        for i in (1, 2):
            axis[i:3 * sections[i]:3] = i
    return positions.long()[axis].T


def _cache_gradient(dys: Any, xs: Any, positions: Tensor, cache: Tensor,
                    options: Any) -> Tensor:
    """d/dcache of <dy, rotary_cached(x)>, by way of the rows that were used."""
    head_size, style, sections, axes = options
    pairs = cache.shape[1] // 2
    rows = _rows(positions, pairs, sections, axes)
    columns = torch.arange(pairs, device=cache.device)
    cos = cache[rows, columns].unsqueeze(1)
    sin = cache[rows, columns + pairs].unsqueeze(1)
    heads = [x.unflatten(1, (x.shape[1] // head_size, head_size))
             if x.dim() == 2 else x for x in (*dys, *xs)]
    *_, dcos, dsin = calls["rotary_qk_backward"](
        *heads, cos, sin, "half" if style == "neox" else "interleave",
        (0, 2 * pairs))
    gradient = torch.zeros_like(cache)
    for tables, first in ((dcos, 0), (dsin, pairs)):
        gradient = gradient.index_put((rows, columns + first),
                                      tables.squeeze(1), accumulate=True)
    return gradient


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    positions, q, k, cache, *ctx.options = inputs
    ctx.for_cache = ctx.needs_input_grad[3]
    ctx.save_for_backward(positions, cache, *((q, k) if ctx.for_cache else ()))


def _of_forward(ctx: Any, *grads: Tensor) -> Any:
    positions, cache, *xs = ctx.saved_tensors
    dq, dk = calls["rotary_cached_dx"](positions, *grads, cache, *ctx.options)
    dcache = (_cache_gradient(grads, xs, positions, cache, ctx.options)
              if ctx.for_cache else None)
    return None, dq, dk, dcache, *[None] * 4


def _of_dx(ctx: Any, *grads: Tensor) -> Any:
    positions, cache, *dys = ctx.saved_tensors
    ddq, ddk = calls["rotary_cached"](positions, *grads, cache, *ctx.options)
    dcache = (_cache_gradient(dys, grads, positions, cache, ctx.options)
              if ctx.for_cache else None)
    return None, ddq, ddk, dcache, *[None] * 4


def _vmap(op: str) -> Any:
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        (positions, q, k, cache), options = arguments[:4], arguments[4:]
        size = info.batch_size
        # Tokens are independent, so a batch of tokens is more tokens.
        if in_dims[3] is not None:
            results = [calls[op](*(
                batch_first(t, dim, size)[i] for t, dim in
                zip(arguments[:4], in_dims, strict=False)), *options)
                for i in range(size)]
            return tuple(map(torch.stack, zip(*results, strict=True))), (0, 0)
        moved = [batch_first(t, dim, size) for t, dim in
                 zip((positions, q, k), in_dims, strict=False)]
        positions = moved[0].movedim(0, -2).flatten(-2)
        outputs = calls[op](positions, moved[1].flatten(0, 1),
                                   moved[2].flatten(0, 1), cache, *options)
        return tuple(y.unflatten(0, (size, -1)) for y in outputs), (0, 0)

    return vmap


for _name, _gradient in (("rotary_cached", _of_forward),
                         ("rotary_cached_dx", _of_dx)):
    _backward = _gradient is _of_dx
    library.define(
        f"{_name}(Tensor positions, Tensor q, Tensor k, Tensor cache, "
        'int head_size, str style="neox", int[]? sections=None, '
        'str axes="segmented") -> (Tensor, Tensor)')
    _run = _kernel(_backward, check_only=False)
    library.impl(_name, _run, "CPU")
    torch.library.register_fake(f"ropewalk::{_name}",
                                _kernel(_backward, check_only=True),
                                lib=library)
    register(_name, 4, _run, _setup, _gradient, _vmap(_name))

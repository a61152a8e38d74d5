"""The operators of torch.ops.ropewalk: kernels, fakes, gradients, vmap.

With F(dy; x, cos, sin) = <dy, rotary(x, cos, sin)>, which is linear in dy, in x
and in (cos, sin), the gradients of rotary are those of F, and so are gradients
of gradients. So three operators are closed under differentiation:

    NAME           y                  of x, cos, sin
    NAME_dx        dF/dx              of dy, cos, sin
    NAME_backward  dF/dx and dF/d(cos, sin), one pass   of dy, x, cos, sin

NAME is rotary, of one tensor, or rotary_qk, of two that share their tables.
"""

from typing import Any

import torch

from .. import _core
from . import _native
from ._direct import is_plain, is_transformed, may_call_directly

Tensor = torch.Tensor
# torch has no types for these.
library: Any = getattr(torch.library, "Library")("ropewalk", "FRAGMENT")
ops: Any = torch.ops.ropewalk
_OPTIONS = 'str pairing="half", int[]? slice=None'
_DEFAULTS = ("half", None)


def check_tensors(operator: str, **tensors: Tensor) -> None:
    """Refuses what would not reach a kernel of ours, with a better message."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"[{operator}] {name}: must be a tensor, but is "
                            f"{type(tensor).__name__}")
        if tensor.device.type not in ("cpu", "meta"):
            raise ValueError(f"[{operator}] {name}: must be in the memory of "
                             f"the CPU, but is on {tensor.device}")


def _checked(function: Any, operator: str, tensors: dict[str, Tensor],
             **options: Any) -> None:
    """Refuses what the native operator would, by shapes and dtypes alone.

    Symbolic sizes are left to the run, which checks again.
    """
    for tensor in tensors.values():
        if not all(isinstance(n, int) for n in (*tensor.shape,
                                                *tensor.stride())):
            return
    views = {name: _native.described(f"[{operator}] {name}", tensor)
             for name, tensor in tensors.items()}
    function(**views, **options, check_only=True)


# --- rotary and rotary_qk ---------------------------------------------------


def _plural(tensors: Any) -> Any:
    """What an operator returns: the tensor itself if it is one."""
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _tuple(result: Any) -> tuple[Tensor, ...]:
    return (result,) if isinstance(result, Tensor) else tuple(result)


def _forward_kernel(n: int, check_only: bool) -> Any:
    def kernel(*arguments: Any) -> Any:
        (*xs, cos, sin), (pairing, slice) = _split(n + 2, arguments)
        ys = [torch.empty_like(x) for x in xs]
        names = dict(x=xs[0], cos=cos, sin=sin, y=ys[0])
        if n == 2:
            names.update(x2=xs[1], y2=ys[1])
        if check_only:
            _checked(_core.rotate, "rotate", names, pairing=pairing,
                     slice=slice)
        else:
            _native.rotate(**names, pairing=pairing, slice=slice,
                           threads=_native.THREADS)
        return _plural(ys)

    return kernel


def _dx_kernel(n: int, check_only: bool) -> Any:
    return _backward_kernel(n, check_only, tables=False)


def _backward_kernel(n: int, check_only: bool, tables: bool = True) -> Any:

    def kernel(*arguments: Any) -> Any:
        count = (2 if tables else 1) * n + 2
        (*data, cos, sin), (pairing, slice) = _split(count, arguments)
        results = [torch.empty_like(dy) for dy in data[:n]]
        names = dict(dy=data[0], cos=cos, sin=sin, dx=results[0])
        if n == 2:
            names.update(dy2=data[1], dx2=results[1])
        if tables:
            names.update(x=data[n], dcos=torch.empty_like(cos),
                         dsin=torch.empty_like(sin))
            if n == 2:
                names.update(x2=data[n + 1])
            results += [names["dcos"], names["dsin"]]
        if check_only:
            _checked(_core.rotate_backward, "rotate_backward", names,
                     pairing=pairing, slice=slice)
        else:
            _native.rotate_backward(**names, pairing=pairing, slice=slice,
                                    threads=_native.THREADS)
        return _plural(results)

    return kernel


def _split(count: int, arguments: Any) -> tuple[Any, Any]:
    """Tensors and options; torch leaves out options that are the default."""
    options = arguments[count:]
    return arguments[:count], (*options, *_DEFAULTS[len(options):])


def _inner(operator: Any, xs: Any, tables: Any, options: Any) -> Any:
    """Rotations of the slice alone: zeros where `operator` would copy."""
    pairing, slice = options
    if slice is None:
        return _tuple(operator(*xs, *tables, pairing, None))
    start, end = slice
    rotated = operator(*(x[..., start:end] for x in xs), *tables, pairing,
                       None)
    return [torch.nn.functional.pad(y, (start, x.shape[-1] - end))
            for x, y in zip(xs, _tuple(rotated), strict=True)]


calls: dict[str, Any] = {}
"""By name, the shortest way to call each operator that has a gradient."""


def register(op: str, tensors: int, kernel: Any, setup: Any, gradient: Any,
             vmap: Any) -> None:
    """Gives an operator its gradient and its rule for vmap: to torch's
    dispatcher, and to an autograd.Function for calls past it."""
    name = f"ropewalk::{op}"
    torch.library.register_autograd(name, gradient, setup_context=setup,
                                    lib=library)
    torch.library.register_vmap(name, vmap, lib=library)
    operator = getattr(ops, op)

    def call(*arguments: Any) -> Any:
        if may_call_directly(*arguments[:tensors]):
            return kernel(*arguments)
        if is_transformed():
            return transformed.apply(*arguments)
        if is_plain(*arguments[:tensors]):
            return plain.apply(*arguments)
        return operator(*arguments)

    def forward(ctx: Any, *arguments: Any) -> Any:
        result = call(*arguments)
        setup(ctx, arguments, result)
        return result

    # torch.func wants setup_context apart, which costs twice the time.
    plain: Any = type(op, (torch.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(gradient)})
    transformed: Any = type(op, (torch.autograd.Function,), {
        "forward": staticmethod(call), "setup_context": staticmethod(setup),
        "backward": staticmethod(gradient), "vmap": staticmethod(vmap)})
    calls[op] = call


def _gradients(name: str, n: int) -> Any:
    """How to keep what gradients need, and the gradients of NAME, NAME_dx and
    NAME_backward."""

    def forward(*arguments: Any) -> Any:
        return calls[name](*arguments)

    def dx(*arguments: Any) -> Any:
        return calls[f"{name}_dx"](*arguments)

    def backward(*arguments: Any) -> Any:
        return calls[f"{name}_backward"](*arguments)

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        *data, cos, sin, pairing, slice = inputs
        ctx.options = pairing, slice
        ctx.for_tables = any(ctx.needs_input_grad[len(data):len(data) + 2])
        # x of the forward, dy of _dx: only for the gradients of the tables.
        kept = data if ctx.for_tables or len(data) == 2 * n else ()
        ctx.save_for_backward(*kept, cos, sin)

    def of_forward(ctx: Any, *grads: Tensor) -> Any:
        *xs, cos, sin = ctx.saved_tensors
        if not ctx.for_tables:
            return *_tuple(dx(*grads, cos, sin, *ctx.options)), *[None] * 4
        return *backward(*grads, *xs, cos, sin, *ctx.options), None, None

    def of_dx(ctx: Any, *grads: Tensor) -> Any:
        *dys, cos, sin = ctx.saved_tensors
        ddys = _tuple(forward(*grads, cos, sin, *ctx.options))
        if not ctx.for_tables:
            return *ddys, *[None] * 4
        results = backward(*dys, *grads, cos, sin, *ctx.options)
        return *ddys, *results[n:], None, None

    def of_backward(ctx: Any, *grads: Tensor) -> Any:
        *data, cos, sin = ctx.saved_tensors
        dys, xs = data[:n], data[n:]
        gxs, gtables = grads[:n], grads[n:]
        by_x = _tuple(forward(*gxs, cos, sin, *ctx.options))
        by_tables = _inner(forward, xs, gtables, ctx.options)
        ddys = [a + b for a, b in zip(by_x, by_tables, strict=True)]
        dxs = _inner(dx, dys, gtables, ctx.options)
        dtables = [None, None]
        if ctx.for_tables:
            dtables = backward(*dys, *gxs, cos, sin, *ctx.options)[n:]
        return *ddys, *dxs, *dtables, None, None

    return setup, (of_forward, of_dx, of_backward)


def batch_first(tensor: Tensor, dim: int | None, size: int) -> Tensor:
    """The batch as axis 0; a tensor without one is shared by all of it."""
    if dim is None:
        return tensor.expand(size, *tensor.shape)
    return tensor.movedim(dim, 0)


def _vmap(op: str, tensors: int, outputs: int) -> Any:
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        moved = [batch_first(tensor, dim, info.batch_size) for tensor, dim in
                 zip(arguments[:tensors], in_dims, strict=False)]
        result = calls[op](*moved, *arguments[tensors:])
        return result, _plural([0] * outputs)

    return vmap


def _define(name: str, operands: list[str]) -> None:
    n = len(operands)
    dys = [f"d{x}" for x in operands]
    setup, gradients = _gradients(name, n)
    for op, tensors, outputs, make, gradient in (
            (name, operands, n, _forward_kernel, gradients[0]),
            (f"{name}_dx", dys, n, _dx_kernel, gradients[1]),
            (f"{name}_backward", dys + operands, n + 2, _backward_kernel,
             gradients[2])):
        names = ", ".join(f"Tensor {t}" for t in (*tensors, "cos", "sin"))
        returned = ", ".join(["Tensor"] * outputs)
        library.define(f"{op}({names}, {_OPTIONS}) -> ({returned})")
        kernel = make(n, check_only=False)
        library.impl(op, kernel, "CPU")
        torch.library.register_fake(f"ropewalk::{op}",
                                    make(n, check_only=True), lib=library)
        count = len(tensors) + 2
        register(op, count, kernel, setup, gradient,
                 _vmap(op, count, outputs))


_define("rotary", ["x"])
_define("rotary_qk", ["q", "k"])


# --- In place: rotary_, rotary_qk_, rotary_dx_ -------------------------------


def increment_version(x: Tensor) -> None:
    """Lets autograd see that x was written to."""
    if not x.is_inference():
        torch.autograd.graph.increment_version(x)


def _in_place_kernel(name: str, n: int, check_only: bool) -> Any:
    backward = name == "rotary_dx_"
    read, written = ("dy", "dx") if backward else ("x", "y")
    operator = "rotate_backward" if backward else "rotate"

    def kernel(*arguments: Any) -> None:
        (*xs, cos, sin), (pairing, slice) = _split(n + 2, arguments)
        names = {read: xs[0], "cos": cos, "sin": sin, written: xs[0]}
        if n == 2:
            names.update({f"{read}2": xs[1], f"{written}2": xs[1]})
        if check_only:
            _checked(getattr(_core, operator), operator, names,
                     pairing=pairing, slice=slice)
            return
        getattr(_native, operator)(**names, pairing=pairing, slice=slice,
                                   threads=_native.THREADS)
        for x in xs:
            increment_version(x)

    return kernel


def _in_place_autograd(name: str, n: int) -> Any:
    def autograd(keys: Any, *arguments: Any) -> None:
        tensors, options = _split(n + 2, arguments)
        if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
            xs = tensors[:n]
            if any(t.requires_grad for t in tensors[n:]):
                # The gradients of the tables need x as it was.
                xs = [x.clone() for x in xs]
            ys = _tuple(calls[name[:-1]](*xs, *tensors[n:], *options))
            # torch's copy_ knows what may be written to in place, and says
            # so before it writes.
            for x, y in zip(tensors[:n], ys, strict=True):
                x.copy_(y)
            return
        with torch._C._AutoDispatchBelowAutograd():
            getattr(ops, name).default.redispatch(
                keys & torch._C._after_autograd_keyset, *tensors, *options)

    return autograd


def _in_place_vmap(name: str, n: int) -> Any:
    def vmap(info: Any, in_dims: Any, *arguments: Any) -> Any:
        tensors, options = _split(n + 2, arguments)
        if None in in_dims[:n]:
            raise ValueError("[rotate] x: vmap over other tensors cannot write "
                             "to one x in place")
        getattr(ops, name)(*(
            batch_first(tensor, dim, info.batch_size) for tensor, dim in
            zip(tensors, in_dims, strict=False)), *options)
        return None, None

    return vmap


for _name, _operands in (("rotary_", ["x"]), ("rotary_qk_", ["q", "k"]),
                         ("rotary_dx_", ["dx"])):
    _n = len(_operands)
    _written = ", ".join(f"Tensor({mark}!) {x}" for mark, x in
                         zip("ab", _operands, strict=False))
    library.define(f"{_name}({_written}, Tensor cos, Tensor sin, {_OPTIONS})"
                   " -> ()")
    library.impl(_name, _in_place_kernel(_name, _n, False), "CPU")
    library.impl(_name, _in_place_autograd(_name, _n), "Autograd",
                 with_keyset=True)
    torch.library.register_fake(f"ropewalk::{_name}",
                                _in_place_kernel(_name, _n, True), lib=library)
    torch.library.register_vmap(f"ropewalk::{_name}",
                                _in_place_vmap(_name, _n), lib=library)

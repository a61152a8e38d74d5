"""Whether a call may go past torch's dispatcher.

For one token the dispatcher costs more than the rotation. It has nothing to do
for plain tensors on the CPU while nothing watches or transforms the calls;
what is not known for certain goes through it.
"""

from typing import Any

import torch
from torch.autograd import forward_ad

try:
    _function_modes = torch._C._len_torch_function_stack
    _dispatch_modes = torch._C._len_torch_dispatch_stack
    _transforms = torch._C._functorch.peek_interpreter_stack
    _tracing = torch._C._get_tracing_state
    _profiling = torch._C._autograd._profiler_enabled
    forward_ad._current_level
    _FUNCTION_TRANSFORMS = (torch._C._functorch.TransformType.Grad,
                            torch._C._functorch.TransformType.Vmap)
    _can_ask = True
except AttributeError:  # a later torch: all goes through the dispatcher
    _can_ask = False

_is_compiling = torch.compiler.is_compiling
_is_grad_enabled = torch.is_grad_enabled
_Tensor = torch.Tensor


def is_plain(*tensors: Any) -> bool:
    """Whether the dispatcher has nothing to do but for gradients. What is not
    asked here (other devices and layouts than the first tensor's), the native
    operator refuses."""
    if _is_compiling() or not _can_ask:
        return False
    for t in tensors:
        if type(t) is not _Tensor or t.is_neg():
            return False
    return tensors[0].is_cpu and not (
        _dispatch_modes() or _function_modes() or
        _transforms() is not None or _tracing() is not None or
        _profiling() or forward_ad._current_level >= 0)


def may_call_directly(*tensors: Any) -> bool:
    """Whether a call may go straight to the kernel."""
    if _is_grad_enabled():
        for t in tensors:
            if getattr(t, "requires_grad", False):
                return False
    return is_plain(*tensors)


def is_transformed() -> bool:
    """Whether torch.func takes gradients or vmap: it knows gradients of an
    autograd.Function, but not registered ones."""
    if _is_compiling() or not _can_ask:
        return False
    transform = _transforms()
    return transform is not None and transform.key() in _FUNCTION_TRANSFORMS

"""Models of transformers, made to rotate by these operators."""

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch

NAME = "apply_rotary_pos_emb"
_ORIGINAL = "_ropewalk_original"


class Patch:
    """What patch_transformers changed. Also a context manager that undoes it.

    Attributes:
      modules: the Python modules whose apply_rotary_pos_emb was replaced.
    """

    def __init__(self, modules: list[types.ModuleType]) -> None:
        self.modules = modules

    def undo(self) -> None:
        """Gives the modules their own functions back."""
        for module in self.modules:
            function = getattr(module, NAME)
            setattr(module, NAME, getattr(function, _ORIGINAL, function))

    def __enter__(self) -> "Patch":
        return self

    def __exit__(self, *error: object) -> None:
        self.undo()


def _replacement(original: Callable[..., Any]) -> Callable[..., Any]:
    from . import rotary_qk

    signature = inspect.signature(original)
    names = list(signature.parameters)
    index = names.index("unsqueeze_dim")
    default = signature.parameters["unsqueeze_dim"].default

    @functools.wraps(original)
    def apply_rotary_pos_emb(q: torch.Tensor, k: torch.Tensor,
                             cos: torch.Tensor, sin: torch.Tensor,
                             *rest: Any, **named: Any) -> Any:
        axis = named.get("unsqueeze_dim",
                         rest[index - 4] if len(rest) > index - 4 else default)
        if cos.dtype != q.dtype:
            # As in the products of the original.
            dtype = torch.promote_types(q.dtype, cos.dtype)
            q, k = q.to(dtype), k.to(dtype)
        return rotary_qk(q, k, cos.unsqueeze(axis), sin.unsqueeze(axis))

    setattr(apply_rotary_pos_emb, _ORIGINAL, original)
    return apply_rotary_pos_emb


def _is_llama_style(function: Callable[..., Any]) -> bool:
    """Whether it rotates pairs (i, i + D/2) of q and k, by trying it."""
    parameters = list(inspect.signature(function).parameters)
    if parameters[:4] != ["q", "k", "cos", "sin"] or \
            "unsqueeze_dim" not in parameters:
        return False
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    tensors = (random(2, 4, 3, 16), random(2, 2, 3, 16), random(2, 3, 16),
               random(2, 3, 16))
    with torch.no_grad():
        try:
            want = function(*tensors)
            got = _replacement(function)(*tensors)
            return all(map(torch.equal, want, got))
        except Exception:  # whatever the function makes of such tensors
            return False


def _modules_of(model: torch.nn.Module) -> Iterable[types.ModuleType]:
    names = {type(part).__module__ for part in model.modules()}
    for name in sorted(names):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, NAME):
            yield module


def patch_transformers(
        model_or_module: torch.nn.Module | types.ModuleType) -> Patch:
    """Makes models of transformers rotate by `ropewalk.torch.rotary_qk`.

    Their Python modules call a function apply_rotary_pos_emb; it is replaced,
    for all models of these modules, in training too. In float32 results keep
    their bits; in bfloat16 and float16 there is one rounding where the
    original has three.

    Args:
      model_or_module: a model, or a module such as
        transformers.models.llama.modeling_llama.

    Returns:
      A Patch, whose undo() takes it back. `with patch_transformers(model):`
      does so at the end.

    Raises:
      ValueError: there is no such function, or none that does what Llama's
        does (which is tried out). Nothing is changed then.
      TypeError: neither a model nor a module.
    """
    if isinstance(model_or_module, torch.nn.Module):
        modules = list(_modules_of(model_or_module))
    elif isinstance(model_or_module, types.ModuleType):
        modules = [model_or_module] if hasattr(model_or_module, NAME) else []
    else:
        raise TypeError("[patch_transformers] model_or_module: must be a model "
                        "or a module, but is "
                        f"{type(model_or_module).__name__}")
    if not modules:
        raise ValueError(f"[patch_transformers] no function {NAME} in the "
                         "modules of this model")
    modules = [m for m in modules
               if not hasattr(getattr(m, NAME), _ORIGINAL)]
    for module in modules:
        if not _is_llama_style(getattr(module, NAME)):
            raise ValueError(f"[patch_transformers] {module.__name__}.{NAME} "
                             "is not the rotation that Llama uses")
    for module in modules:
        setattr(module, NAME, _replacement(getattr(module, NAME)))
    return Patch(modules)

"""Whether a result from elsewhere is right and, if not, why."""

from collections.abc import Mapping
from typing import Any

from . import _core
from ._numpy import ArrayLike, _view

_INPUTS = {"rotate": ("x", "cos", "sin"),
           "backward": ("dy", "cos", "sin", "x"),
           "cached": ("positions", "cache", "query", "key")}
_RESULTS = {"rotate": {"y": "y"},
            "backward": {"dx": "dx", "dcos": "dcos", "dsin": "dsin"},
            "cached": {"query": "query_out", "key": "key_out"}}


def verify(operation: str, inputs: Mapping[str, ArrayLike],
           result: Mapping[str, ArrayLike], **options: Any) -> dict[str, Any]:
    """Compares a result with the exact one; names the mistake that gives it.

    Args:
      operation: "rotate", "backward" or "cached", as in `ropewalk verify`.
      inputs: x, cos, sin; or dy, cos, sin and perhaps x; or positions, cache,
        query and perhaps key. Other names are left alone.
      result: y; or dx, dcos, dsin or some of them; or query, key or one.
      options: pairing and slice; or head_size, style, sections, axes and
        backward. Further: reference ("exact", "contract", "eager-bf16",
        "eager-fp16"), and at most one limit: exact=True for the library's
        bits, ulp, or rtol and atol; worst, how many errors to list;
        diagnose=False to look for no cause.

    Returns:
      What `ropewalk verify --json` prints: {"ok", "outputs", "diagnosis"}.

    Raises:
      ValueError, TypeError: what cannot be compared.
    """
    if operation not in _INPUTS:
        raise ValueError("[verify] operation: must be rotate, backward or "
                         f"cached, but is {operation}")
    tensors = {name: _view(f"[verify] {name}", inputs[name])
               for name in _INPUTS[operation] if name in inputs}
    for name, argument in _RESULTS[operation].items():
        if name in result:
            tensors[argument] = _view(f"[verify] {name}", result[name])
    for name in (*_INPUTS[operation][:3], *_RESULTS[operation].values()):
        needed = name in _INPUTS[operation] or operation == "rotate"
        if needed and name not in tensors:
            raise ValueError(f"[verify] {name}: is needed, but missing")
    report: dict[str, Any] = getattr(_core, f"verify_{operation}")(
        **tensors, **options)
    return report

"""Rules for tensors sharded over several processes: `import ropewalk.sharding`.

Afterwards the functions of `ropewalk.torch` take DTensors of
torch.distributed. Data sharded over any axis but the last (batch, heads,
sequence) rotate where they are, without communication; so do tables that are
sharded like the data, or replicated (each process then takes its part of
them). Gradients of tables over a sharded axis that they are broadcast along
come back as partial sums. Anything else is redistributed first, except in
place, where it is refused. See docs/sharding.md.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.distributed.tensor import Partial, Placement, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from .torch._library import ops

__all__: list[str] = []

Placements = list[Placement | None]
_Rule = tuple[Placements, Placements]


def _of_table(x: Any, table: Any, axis: int | None,
              summed: bool) -> Placement:
    if axis is None:
        return Replicate()
    if table.shape[axis] == x.shape[axis]:
        return Shard(axis)
    return Partial() if summed else Replicate()


def _rules(xs: Sequence[Any], cos: Any, sin: Any, data: int,
           outputs: str) -> Iterator[_Rule]:
    """For one dimension of a mesh: results, and what they are made of. `xs`
    are the operands, of `data` tensors that the operator takes before cos and
    sin (dy and x of an operand have one shape)."""
    options: Placements = [None, None]
    for axis in (None, *range(xs[0].ndim - 1)):
        rows: Placement = Replicate() if axis is None else Shard(axis)
        tables: Placements = [_of_table(xs[0], table, axis, summed=False)
                              for table in (cos, sin)]
        sums: Placements = [_of_table(xs[0], table, axis, summed=True)
                            for table in (cos, sin)]
        results: dict[str, Placements] = {
            "none": [], "data": [rows] * len(xs),
            "all": [*[rows] * len(xs), *sums]}
        yield results[outputs], [*[rows] * data, *tables, *options]


def _check_in_place(xs: Sequence[Any]) -> None:
    """In place, nothing can be moved elsewhere first."""
    for name, x in zip(("x", "x2"), xs, strict=False):
        for placement in x.placements:
            if not (placement.is_replicate()
                    or type(placement) is Shard
                    and placement.dim % x.ndim < x.ndim - 1):
                raise RuntimeError(f"[rotate] {name}: in place, must be "
                                   "sharded over axes but the last, or "
                                   f"replicated, but is {x.placements}")
        if x.placements != xs[0].placements:
            raise RuntimeError(f"[rotate] {name}: in place, must be sharded "
                               f"like x, {xs[0].placements}, but is "
                               f"{x.placements}")


def _register(name: str, operands: int, data: int, outputs: str) -> None:
    def sharding(*arguments: Any) -> list[_Rule]:
        xs, (cos, sin) = arguments[:operands], arguments[data:data + 2]
        if outputs == "none":
            _check_in_place(xs)
        given = len(arguments)
        return [(results, inputs[:given]) for results, inputs in
                _rules(xs, cos, sin, data, outputs)]

    register_sharding(getattr(ops, name).default)(sharding)


def _register_cached(name: str) -> None:
    def sharding(positions: Any, q: Any, k: Any, cache: Any, head_size: int,
                 *options: Any) -> list[_Rule]:
        none: Placements = [None] * (1 + len(options))

        def rule(of_positions: Placement, rows: Placement) -> _Rule:
            return [rows, rows], [of_positions, rows, rows, Replicate(), *none]

        rules = [rule(Replicate(), Replicate()),
                 rule(Shard(positions.ndim - 1), Shard(0))]
        # Heads; where they lie side by side in columns, whole ones only.
        columns = q.ndim == 2 or k.ndim == 2
        if q.ndim == k.ndim and not (columns and any(
                x.shape[1] // head_size % size
                for x in (q, k) for size in q.mesh.shape)):
            rules.append(rule(Replicate(), Shard(1)))
        return rules

    register_sharding(getattr(ops, name).default)(sharding)


for _n, _op in ((1, "rotary"), (2, "rotary_qk")):
    _register(_op, _n, _n, "data")
    _register(f"{_op}_dx", _n, _n, "data")
    _register(f"{_op}_backward", _n, 2 * _n, "all")
    _register(f"{_op}_", _n, _n, "none")
_register("rotary_dx_", 1, 1, "none")
_register_cached("rotary_cached")
_register_cached("rotary_cached_dx")

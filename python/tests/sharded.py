"""Run by torchrun: sharded rotations have the bits of those in one process.

Ends with an error, in any process, if they do not.
"""

import itertools

import torch
import torch.distributed as dist
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
)
from torch.distributed.tensor.debug import CommDebugMode

import ropewalk.sharding
import ropewalk.torch as rt

BATCH, HEADS, TOKENS, WIDTH = 0, 1, 2, 3


def made(*shape, dtype=torch.float32):
    return torch.randn(*shape, dtype=torch.float64).to(dtype)


def same(got, want):
    assert isinstance(got, DTensor) and got.dtype == want.dtype
    assert torch.equal(got.full_tensor(), want), (got.placements, want.shape)


def gradients(ys, inputs, dys):
    return torch.autograd.grad(ys, inputs, dys)


def check_rotary(mesh, placements, table_placements, shape, table, pairing,
                 dtype, silent=True):
    """y and dx to the bit, dcos and dsin to rounding."""
    x, dy = made(*shape, dtype=dtype), made(*shape, dtype=dtype)
    tables = [made(*table) for _ in range(2)]
    plain = [t.clone().requires_grad_() for t in (x, *tables)]
    want = rt.rotary(*plain, pairing=pairing)
    dx, *dtables = gradients(want, plain, dy)
    shards = [distribute_tensor(t, mesh, p).requires_grad_() for t, p in
              zip((x, *tables), (placements, *[table_placements] * 2),
                  strict=True)]
    sharded_dy = distribute_tensor(dy, mesh, placements)
    with CommDebugMode() as communication:
        y = rt.rotary(*shards, pairing=pairing)
        grads = gradients(y, shards, sharded_dy)
    if silent:
        assert communication.get_total_counts() == 0
        assert list(y.placements) == list(grads[0].placements) == placements
    same(y, want)
    same(grads[0], dx)
    for got, expected, axes in zip(grads[1:], dtables, (table,) * 2,
                                   strict=True):
        torch.testing.assert_close(got.full_tensor(), expected, rtol=0,
                                   atol=1e-4)
        for placement, of_x in zip(got.placements, placements, strict=True):
            if silent and of_x.is_shard():
                want = Partial() if axes[of_x.dim] == 1 else of_x
                assert placement == want, (placement, want)


def check_axes(mesh):
    shape = (4, 4, 8, 16)
    for axis, table in itertools.product((BATCH, HEADS, TOKENS), (
            (1, 1, 8, 16), (4, 1, 8, 8), (1, 1, 1, 16), (4, 4, 8, 16))):
        ways = [[Replicate()]]
        if table[axis] == shape[axis]:
            ways.append([Shard(axis)])
        for way, pairing, dtype in itertools.product(
                ways, ("half", "interleave"), (torch.float32, torch.bfloat16)):
            check_rotary(mesh, [Shard(axis)], way, shape, table, pairing,
                         dtype)


def check_what_does_not_divide(mesh):
    """Axes that the mesh does not divide, or that are shorter than it."""
    for tokens in (mesh.size() + 1, 2 * mesh.size() - 1):
        check_rotary(mesh, [Shard(TOKENS)], [Replicate()], (2, 2, tokens, 8),
                     (1, 1, tokens, 8), "half", torch.float32)
    check_rotary(mesh, [Shard(TOKENS)], [Replicate()], (2, 2, 1, 8),
                 (1, 1, 1, 8), "half", torch.float32, silent=False)
    # Columns: gathered first.
    check_rotary(mesh, [Shard(WIDTH)], [Replicate()], (2, 2, 4, 8),
                 (1, 1, 4, 8), "half", torch.float32, silent=False)


def check_two_axes():
    """A mesh of two dimensions: sequence and heads."""
    mesh = dist.init_device_mesh("cpu", (2, 2))
    for first, second in ((TOKENS, HEADS), (BATCH, TOKENS), (TOKENS, TOKENS)):
        check_rotary(mesh, [Shard(first), Shard(second)],
                     [Replicate()] * 2, (4, 4, 8, 16), (1, 1, 8, 16), "half",
                     torch.float32)


def check_qk(mesh):
    """q and k of several numbers of heads; in place too."""
    q, k = made(2, 8, 8, 16), made(2, 4, 8, 16)
    cos, sin = made(1, 1, 8, 16), made(1, 1, 8, 16)
    want = rt.rotary_qk(q, k, cos, sin)
    for axis in (HEADS, TOKENS):
        shards = [distribute_tensor(t, mesh, [Shard(axis)]) for t in (q, k)]
        tables = [distribute_tensor(t, mesh, [Replicate()])
                  for t in (cos, sin)]
        with CommDebugMode() as communication:
            ys = rt.rotary_qk(*shards, *tables)
            rt.rotary_qk_(*shards, *tables)
        assert communication.get_total_counts() == 0
        for y, in_place, expected in zip(ys, shards, want, strict=True):
            same(y, expected)
            same(in_place, expected)
    x = distribute_tensor(q, mesh, [Shard(TOKENS)])
    rt.rotary_(x, *tables)
    same(x, want[0])


def check_cached(mesh):
    positions, cache = torch.arange(8).flip(0), made(9, 8)
    for flat in (False, True):
        q, k = made(8, 8, 16), made(8, 4, 16)
        if flat:
            q, k = q.flatten(1), k.flatten(1)
        plain = [t.clone().requires_grad_() for t in (q, k)]
        want = rt.rotary_cached(positions, *plain, cache, 16)
        grads = gradients(want, plain, (q, k))
        for axis, of_positions in ((0, Shard(0)), (0, Replicate()),
                                   (1, Replicate())):
            dys = [distribute_tensor(t, mesh, [Shard(axis)]) for t in (q, k)]
            shards = [t.clone().requires_grad_() for t in dys]
            tables = [distribute_tensor(positions, mesh, [of_positions]),
                      distribute_tensor(cache, mesh, [Replicate()])]
            with CommDebugMode() as communication:
                ys = rt.rotary_cached(tables[0], *shards, tables[1], 16)
                got = gradients(ys, shards, dys)
            assert communication.get_total_counts() == 0
            for y, expected in zip((*ys, *got), (*want, *grads), strict=True):
                same(y, expected)


def refused(text, function, *arguments):
    kept = [t.to_local().clone() for t in arguments]
    try:
        function(*arguments)
    except RuntimeError as caught:  # what DTensor makes of every error
        assert text in str(caught), caught
    else:
        raise AssertionError(f"not refused: {text}")
    assert all(map(torch.equal, kept, (t.to_local() for t in arguments)))


def check_refusals(mesh):
    q, k, table = made(4, 4, 8, 16), made(4, 4, 8, 16), made(1, 1, 8, 16)

    def on(t, placement):
        return distribute_tensor(t, mesh, [placement])

    tables = [on(table, Replicate())] * 2
    refused("but is (Shard(dim=3),)", rt.rotary_,
            on(q, Shard(WIDTH)), *tables)
    refused("sharded like x", rt.rotary_qk_, on(q, Shard(HEADS)),
            on(k, Shard(TOKENS)), *tables)
    for function in (rt.rotary, rt.rotary_):
        # By the whole axis, not by the part that a process has.
        refused("cos: axis 2", function, on(q, Shard(TOKENS)),
                *[on(table[:, :, :8 // mesh.size()], Replicate())] * 2)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)  # every process makes the same tensors
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    check_axes(mesh)
    check_what_does_not_divide(mesh)
    check_qk(mesh)
    check_cached(mesh)
    check_refusals(mesh)
    if mesh.size() == 4:
        check_two_axes()
    dist.barrier()
    if dist.get_rank() == 0:
        print("all the same")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

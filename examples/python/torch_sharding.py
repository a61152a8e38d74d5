"""A step of training with the sequence shared out over processes.

    pip install ropewalk torch && torchrun --nproc-per-node=2 torch_sharding.py
"""

import torch
import torch.distributed as dist
from torch.distributed.tensor import (
    DTensor,
    Replicate,
    Shard,
    distribute_tensor,
)

import ropewalk.sharding  # from here on ropewalk.torch takes DTensors
import ropewalk.torch

BATCH, TOKENS, HEADS, WIDTH = 2, 16, 4, 32


def gathered(x):
    """All tokens, in each process."""
    if isinstance(x, DTensor):
        return x.redistribute(placements=[Replicate()])
    return x


def step(x, weight, frequencies, positions):
    """The loss, and the rotated q and k. The same for one process and many."""
    qkv = (x @ weight).unflatten(-1, (3, HEADS, WIDTH))
    q, k, v = (t.squeeze(2).transpose(1, 2) for t in qkv.split(1, 2))
    angles = positions[:, None] * frequencies[None]
    cos, sin = angles.cos()[None, None], angles.sin()[None, None]
    q, k = ropewalk.torch.rotary_qk(q, k, cos, sin)  # no communication
    scores = q @ gathered(k).transpose(-1, -2)
    y = torch.softmax(scores * WIDTH**-0.5, -1) @ gathered(v)
    return y.square().mean(), q, k


dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)  # each process makes the same tensors
x = torch.randn(BATCH, TOKENS, HEADS * WIDTH)
weight = torch.randn(HEADS * WIDTH, 3 * HEADS * WIDTH) / 16
frequencies = 10000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
positions = torch.arange(TOKENS, dtype=torch.float32)

whole = [t.clone().requires_grad_() for t in (x, weight, frequencies)]
loss, *_ = step(*whole, positions)
gradients = torch.autograd.grad(loss, whole)

# Tokens are shared out, and with them their rows of cos and sin. Weights and
# frequencies are in every process.
shards = [distribute_tensor(t, mesh, [placement]).requires_grad_()
          for t, placement in ((x, Shard(1)), (weight, Replicate()),
                               (frequencies, Replicate()))]
sharded_loss, q, k = step(*shards, distribute_tensor(positions, mesh,
                                                     [Shard(0)]))
assert q.placements == k.placements == (Shard(2),)
sharded_gradients = torch.autograd.grad(sharded_loss, shards)

sharded_loss = sharded_loss.full_tensor()
torch.testing.assert_close(sharded_loss, loss)
for got, want in zip(sharded_gradients, gradients, strict=True):
    torch.testing.assert_close(got.full_tensor(), want)
if dist.get_rank() == 0:
    print(f"loss {loss.item():.6f} in one process, "
          f"{sharded_loss.item():.6f} in {mesh.size()}")
dist.barrier()  # else a thread of gloo may still hold a tensor at exit
dist.destroy_process_group()

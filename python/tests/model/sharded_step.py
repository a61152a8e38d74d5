"""Run by torchrun: a step of training a language model, whose queries and keys
are rotated with the sequence shared out, has the bits of one process.

    torchrun --nproc-per-node=2 sharded_step.py FILE

FILE holds the model and the ids of its tokens.
"""

import sys

import torch
import torch.distributed as dist
import transformers
from torch.distributed.tensor import DTensor, Replicate, Shard

import ropewalk.sharding
import ropewalk.torch as rt


def sharded(tensor, mesh, axis):
    return DTensor.from_local(tensor, mesh, [Replicate()], run_check=False
                              ).redistribute(placements=[Shard(axis)])


def step(model, ids):
    model.zero_grad()
    loss = model(ids, labels=ids).loss
    loss.backward()
    return [loss.detach(), *(p.grad.clone() for p in model.parameters())]


def main():
    dist.init_process_group("gloo")
    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    model, ids = torch.load(sys.argv[1], weights_only=False)
    with rt.patch_transformers(model):
        want = step(model, ids)
    calls = 0

    def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
        nonlocal calls
        calls += 1
        q, k = sharded(q, mesh, 2), sharded(k, mesh, 2)
        ys = rt.rotary_qk(q, k, *(
            sharded(t.unsqueeze(unsqueeze_dim), mesh, 2) for t in (cos, sin)))
        assert all(y.placements == (Shard(2),) for y in ys)
        return tuple(y.full_tensor() for y in ys)

    module = transformers.models.llama.modeling_llama
    module.apply_rotary_pos_emb = apply_rotary_pos_emb
    got = step(model, ids)
    assert calls == model.config.num_hidden_layers
    assert len(got) > 200 and all(map(torch.equal, got, want))
    dist.barrier()
    if dist.get_rank() == 0:
        print(f"{len(got)} tensors, all the same")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

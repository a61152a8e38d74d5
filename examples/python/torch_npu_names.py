"""A program written for torch_npu, on a machine without an NPU.

    pip install ropewalk torch && python torch_npu_names.py
"""

import torch

import ropewalk.torch_npu as torch_npu

batch, tokens, heads, width = 1, 8, 4, 64
x = torch.randn(batch, tokens, heads, width).bfloat16()
angles = torch.outer(torch.arange(tokens), 10000.0 ** (
    -torch.arange(0, width, 2) / width)).repeat(1, 2)
cos, sin = angles.cos()[None, :, None], angles.sin()[None, :, None]

y = torch_npu.npu_rotary_mul(x, cos, sin, rotary_mode="half")
assert y.dtype == x.dtype

# vLLM's call: positions and a cache.
cache = torch.cat((angles[:, :32].cos(), angles[:, :32].sin()), -1).bfloat16()
query, key = torch_npu.npu_mrope(
    torch.arange(tokens), x.view(tokens, -1), x.view(tokens, -1)[:, :width],
    cache, width, mrope_section=[0, 0, 0])
assert torch.equal(query.view_as(x), y)

# In place, on part of a head.
z = x.clone()
torch_npu.inplace_partial_rotary_mul(z, cos[..., :32], sin[..., :32],
                                     partial_slice=[32, 64])
assert torch.equal(z[..., :32], x[..., :32])
try:
    torch_npu.npu_mrope(torch.tensor([tokens]), query[:1], key[:1], cache,
                        width)
except IndexError as error:
    print(error)

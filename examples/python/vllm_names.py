"""A program written for vLLM's operator, on a CPU.

    pip install ropewalk torch && python vllm_names.py
"""

import torch

from ropewalk.vllm import rotary_embedding

tokens, q_heads, k_heads, width = 6, 8, 2, 64
angles = torch.outer(torch.arange(32), 10000.0 ** (-torch.arange(0, width, 2)
                                                   / width))
cos_sin_cache = torch.cat((angles.cos(), angles.sin()), -1)

# q, k and v of one projection; q and k are views, and are written to there.
qkv = torch.randn(tokens, (q_heads + 2 * k_heads) * width)
before = qkv.clone()
q, k, v = qkv.split((q_heads * width, k_heads * width, k_heads * width), -1)
rotary_embedding(torch.arange(tokens), q, k, width, cos_sin_cache,
                 is_neox=True)
assert torch.equal(v, before[:, -k_heads * width:])
assert torch.equal(q[0], before[0, :q_heads * width])  # position 0: no turn
heads = q.view(tokens, q_heads, width)
torch.testing.assert_close(
    heads.norm(dim=-1),
    before[:, :q_heads * width].view(heads.shape).norm(dim=-1))

# A position that the cache lacks: an error, and nothing is written.
try:
    rotary_embedding(torch.full((tokens,), 32), q, k, width, cos_sin_cache,
                     is_neox=True)
except IndexError as error:
    print(error)

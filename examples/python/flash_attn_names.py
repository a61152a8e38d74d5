"""A program written for flash-attention: a prompt, then tokens one by one.

    pip install ropewalk torch && python flash_attn_names.py
"""

import torch

from ropewalk.flash_attn import apply_rotary_emb

batch, tokens, heads, width = 2, 6, 4, 64
angles = torch.outer(torch.arange(32), 10000.0 ** (-torch.arange(0, width, 2)
                                                   / width))
cos, sin = angles.cos(), angles.sin()
k = torch.randn(batch, tokens, heads, width, requires_grad=True)

# All at once, with the gradient.
rotated = apply_rotary_emb(k, cos, sin, interleaved=True)
rotated.square().sum().backward()
torch.testing.assert_close(k.grad, 2 * k.detach())  # a rotation keeps the norm

# One by one, as with a KV cache: each sequence is as far as its offset says.
with torch.no_grad():
    for i in range(tokens):
        one = apply_rotary_emb(k[:, i:i + 1], cos, sin, interleaved=True,
                               seqlen_offsets=torch.full((batch,), i))
        assert torch.equal(one[:, 0], rotated[:, i])

    # Packed: sequences of 6 and 4 tokens one after the other, in place.
    packed = torch.cat((k[0], k[1, :4]))
    apply_rotary_emb(packed, cos, sin, interleaved=True, inplace=True,
                     cu_seqlens=torch.tensor([0, 6, 10]), max_seqlen=6)
    assert torch.equal(packed, torch.cat((rotated[0], rotated[1, :4])))

    # Behind the table: an error, and nothing is written.
    try:
        apply_rotary_emb(k, cos, sin, seqlen_offsets=torch.tensor([0, 27]))
    except IndexError as error:
        print(error)

"""A step of training with rotated queries and keys, learned frequencies too.

    pip install ropewalk torch && python torch_training.py
"""

import torch

import ropewalk.torch


class Attention(torch.nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = torch.nn.Linear(width, 3 * width, bias=False)
        size = width // heads
        # Frequencies are parameters here, so cos and sin need gradients.
        self.frequencies = torch.nn.Parameter(
            10000.0 ** (-torch.arange(0, size, 2) / size))

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(x).view(batch, tokens, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # views, without a copy
        angles = torch.outer(torch.arange(tokens), self.frequencies)
        # One value for each pair: tables of half width.
        cos, sin = angles.cos()[None, None], angles.sin()[None, None]
        q, k = ropewalk.torch.rotary_qk(q, k, cos, sin)
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v,
                                                             is_causal=True)
        return y.transpose(1, 2).reshape(batch, tokens, width)


torch.manual_seed(0)
model = Attention()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, target = torch.randn(2, 8, 32, 64)
losses = []
for _ in range(5):
    loss = torch.nn.functional.mse_loss(model(x), target)
    optimizer.zero_grad()
    loss.backward()
    assert model.frequencies.grad.abs().sum() > 0
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0]
print("losses", *(f"{loss:.4f}" for loss in losses))

"""The operators on NumPy arrays: forward, gradients, by position.

    pip install ropewalk && python numpy_rotate.py
"""

import numpy as np

import ropewalk


def tables(positions, width, base=10000.0):
    """cos and sin of full width for pairing half."""
    frequencies = base ** (-np.arange(0, width, 2) / width)
    angles = np.outer(positions, frequencies)
    angles = np.concatenate([angles, angles], axis=-1).astype(np.float32)
    return np.cos(angles), np.sin(angles)


batch, heads, tokens, width = 2, 4, 16, 64
random = np.random.default_rng(0)
x = random.standard_normal((batch, heads, tokens, width)).astype(np.float32)
# One table for all of the batch and all heads: their axes have size 1.
cos, sin = (t[None, None] for t in tables(np.arange(tokens), width))

y = ropewalk.rotate(x, cos, sin)
half = width // 2
rotated = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
assert np.array_equal(y, x * cos + rotated * sin), "the same bits"

# Gradients, of the tables too; the rotation back undoes the rotation.
dy = random.standard_normal(x.shape).astype(np.float32)
dx, dcos, dsin = ropewalk.rotate_backward(dy, cos, sin, x)
assert dcos.shape == cos.shape
assert np.allclose(ropewalk.rotate_backward(y, cos, sin), x, atol=1e-5)

# By position: a cache of cosines and sines, and one position for each token.
all_cos, all_sin = tables(np.arange(100), width)
cache = np.concatenate([all_cos[:, :half], all_sin[:, :half]], axis=-1)
query = x[0].transpose(1, 0, 2)  # (tokens, heads, width), not contiguous
key = query[:, :1]
query, key = ropewalk.rotate_cached(np.arange(tokens), query, key, cache,
                                    head_size=width)
assert np.array_equal(query.transpose(1, 0, 2), y[0])
print(f"ropewalk {ropewalk.__version__}: norm {np.linalg.norm(x):.4f} before, "
      f"{np.linalg.norm(y):.4f} after")

"""Rotary position embedding on CPUs: exact, fast, with gradients.

Functions on NumPy arrays, and on whatever has DLPack. Results have the same
bits for every SIMD target, number of threads, layout, and in place or not. For
PyTorch see `ropewalk.torch`, for the names of torch_npu `ropewalk.torch_npu`.
"""

from ._core import num_threads, set_num_threads
from ._core import version as __version__
from ._numpy import rotate, rotate_backward, rotate_cached
from ._verify import verify

__all__ = [
    "__version__",
    "num_threads",
    "rotate",
    "rotate_backward",
    "rotate_cached",
    "set_num_threads",
    "verify",
]

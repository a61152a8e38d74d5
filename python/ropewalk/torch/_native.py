"""ropewalk._core on torch's tensors and torch's threads."""

import ctypes
import functools
import pathlib
from typing import Any

import torch

from .. import _core

DTYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16",
          torch.float64: "f64", torch.int32: "i32", torch.int64: "i64"}


def described(argument: str, tensor: torch.Tensor,
              address: int = 0) -> _core.View:
    """Layout of a tensor; refuses dtypes that no operator takes."""
    if tensor.dtype not in DTYPES:
        raise TypeError(
            f"{argument}: dtype must be f32, bf16, f16 or f64 (positions: i64 "
            f"or i32), but is {tensor.dtype}")
    return _core.View.at(address, DTYPES[tensor.dtype], tensor.shape,
                         tensor.stride())


def _torch_threads() -> _core.Threads | None:
    """Torch's own threads, where torch offers them (from 2.10 on)."""
    try:
        library = ctypes.CDLL(
            str(pathlib.Path(torch.__file__).parent / "lib/libtorch_cpu.so"))
        addresses = [
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            for name in ("torch_parallel_for", "torch_get_num_threads")]
    except (OSError, AttributeError):
        return None
    assert addresses[0] is not None and addresses[1] is not None
    return _core.Threads.torch(addresses[0], addresses[1])


@functools.cache
def _pool(threads: int) -> _core.Threads:
    return _core.Threads.pool(threads)


def _viewed(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return described("tensor", value, value.data_ptr())
    return value


def portable(function: Any) -> Any:
    """`function` for a torch that lacks one of the two: DLPack's functions for
    borrowing a tensor, and functions to run on its threads."""

    def call(*arguments: Any, **named: Any) -> None:
        if THREADS is None:
            named["threads"] = _pool(torch.get_num_threads())
        function(*map(_viewed, arguments),
                 **{name: _viewed(value) for name, value in named.items()})

    return call


THREADS = _torch_threads()
rotate: Any = _core.rotate
rotate_backward: Any = _core.rotate_backward
rotate_cached: Any = _core.rotate_cached
if THREADS is None or not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
    rotate = portable(rotate)
    rotate_backward = portable(rotate_backward)
    rotate_cached = portable(rotate_cached)

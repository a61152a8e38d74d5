"""The gradients of a rotation from Python, through libopapi.so alone.

    python main.py DIR/lib64/libopapi.so
"""

import ctypes
import sys

ACL_FLOAT = 0
ACL_FORMAT_ND = 2
MODE_INTERLEAVE = 1

lib = ctypes.CDLL(sys.argv[1])
lib.aclCreateTensor.restype = ctypes.c_void_p
lib.aclGetRecentErrMsg.restype = ctypes.c_char_p


def ramp(count, step):
    """Small numbers; `step` makes them differ."""
    return [(i * step % 9 - 4) * 0.25 for i in range(count)]


class Tensor:
    """A descriptor and the memory that it describes."""

    def __init__(self, shape, values):
        self.data = (ctypes.c_float * len(values))(*values)
        dims = (ctypes.c_int64 * len(shape))(*shape)
        rank = ctypes.c_uint64(len(shape))
        self.handle = ctypes.c_void_p(
            lib.aclCreateTensor(
                dims, rank, ACL_FLOAT, None, ctypes.c_int64(0), ACL_FORMAT_ND,
                dims, rank, self.data))

    def __del__(self):
        lib.aclDestroyTensor(self.handle)


def check(status):
    if status != 0:
        sys.exit(f"{status}: {lib.aclGetRecentErrMsg().decode()}")


def main():
    rows = (1, 2, 3, 8)
    table = (1, 2, 1, 8)
    dy = Tensor(rows, ramp(48, 1))
    x = Tensor(rows, ramp(48, 4))
    cos = Tensor(table, ramp(16, 2))
    sin = Tensor(table, ramp(16, 5))
    dx = Tensor(rows, [0] * 48)
    dcos = Tensor(table, [0] * 16)
    dsin = Tensor(table, [0] * 16)
    size = ctypes.c_uint64()
    executor = ctypes.c_void_p()
    check(lib.aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
        dy.handle, cos.handle, sin.handle, x.handle,
        ctypes.c_int64(MODE_INTERLEAVE), dx.handle, dcos.handle, dsin.handle,
        ctypes.byref(size), ctypes.byref(executor)))
    workspace = ctypes.create_string_buffer(size.value) if size.value else None
    check(lib.aclnnRotaryPositionEmbeddingGrad(
        workspace, size, executor, None))
    for name, tensor in (("dx", dx), ("dcos", dcos), ("dsin", dsin)):
        print(name + ":", *(f"{value:.9g}" for value in tensor.data))


if __name__ == "__main__":
    main()

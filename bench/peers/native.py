"""libropewalk by its C API, and the yardsticks of `ropewalk bench`."""

import ctypes
import pathlib

import numpy as np

from cases import aligned, decode, storage

DTYPES = {"f32": 0, "f16": 1, "bf16": 2}
PAIRINGS = {"half": 0, "interleave": 1}


class Tensor(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8)]


class Options(ctypes.Structure):
    _fields_ = [("pairing", ctypes.c_int32), ("has_slice", ctypes.c_int32),
                ("start", ctypes.c_int64), ("end", ctypes.c_int64)]


class RunOptions(ctypes.Structure):
    _fields_ = [("workspace", ctypes.c_void_p),
                ("workspace_size", ctypes.c_size_t),
                ("executor", ctypes.c_void_p),
                ("single_thread", ctypes.c_int32)]


class Library:
    """Both libraries of a build folder."""

    def __init__(self, folder, threads):
        folder = pathlib.Path(folder)
        self.ropewalk = ctypes.CDLL(str(folder / "libropewalk.so"),
                                    ctypes.RTLD_GLOBAL)
        self.bench = ctypes.CDLL(str(folder / "libropewalk_yardstick.so"))
        self.ropewalk.ropewalk_contiguous.restype = Tensor
        self.ropewalk.ropewalk_message.restype = ctypes.c_char_p
        self.ropewalk.ropewalk_version.restype = ctypes.c_char_p
        self.ropewalk.ropewalk_plan_workspace.restype = ctypes.c_size_t
        self.ropewalk.ropewalk_set_threads(ctypes.c_size_t(threads))

    def check(self, code):
        if code != 0:
            raise ValueError(self.ropewalk.ropewalk_message().decode())

    def describe(self, shape, dtype):
        return self.ropewalk.ropewalk_contiguous(
            DTYPES[dtype], len(shape), (ctypes.c_int64 * len(shape))(*shape))


class Yardstick:
    """The copy of a case's bytes, or the triad."""

    def __init__(self, library, case, cache_bytes):
        count = 3 if case.op == "gradients" else 2
        size = case.bytes // count // 64 * 64
        self.buffers = [aligned((size,), np.uint8) for _ in range(count)]
        self.function = (library.bench.ropewalk_bench_triad if count == 3 else
                         library.bench.ropewalk_bench_copy)
        self.arguments = [ctypes.c_void_p(buffer.ctypes.data)
                          for buffer in self.buffers]
        self.arguments += [ctypes.c_size_t(size),
                           ctypes.c_int(case.bytes >= cache_bytes)]

    def run(self, times):
        self.function(*self.arguments, ctypes.c_size_t(times))


class Ropewalk:
    """A plan of the C API, run by ctypes."""
    name = "ropewalk"

    def __init__(self, library):
        self.library = library
        self.version = library.ropewalk.ropewalk_version().decode()

    def prepare(self, data):
        case = data.case
        lib = self.library
        rows = lib.describe(case.shape, case.dtype)
        table = lib.describe(case.table_shape, case.dtype)
        out = {}
        make = lambda shape: aligned(shape, storage(case.dtype))
        if case.op == "forward":
            out["y"] = make(case.shape)
            arrays = [data.x, data.cos, data.sin, out["y"], None, None]
            descs = [rows, table, table, rows, None, None]
            plan_with, run_with = (lib.ropewalk.ropewalk_plan_rotate,
                                   lib.ropewalk.ropewalk_run_rotate)
        else:
            out["dx"] = make(case.shape)
            sums = case.op == "gradients"
            if sums:
                out["dcos"] = make(case.table_shape)
                out["dsin"] = make(case.table_shape)
            arrays = [data.dy, data.cos, data.sin, data.x if sums else None,
                      out["dx"], out.get("dcos"), out.get("dsin")]
            arrays += [None] * 3
            descs = [rows, table, table, rows if sums else None, rows,
                     table if sums else None, table if sums else None]
            descs += [None] * 3
            plan_with, run_with = (lib.ropewalk.ropewalk_plan_backward,
                                   lib.ropewalk.ropewalk_run_backward)
        options = Options(PAIRINGS[case.pairing], 0, 0, 0)
        tensors = (ctypes.POINTER(Tensor) * len(descs))(
            *(None if desc is None else ctypes.pointer(desc)
              for desc in descs))
        plan = ctypes.c_void_p()
        lib.check(plan_with(ctypes.byref(options), tensors,
                            ctypes.byref(plan)))
        size = lib.ropewalk.ropewalk_plan_workspace(plan)
        workspace = aligned((max(size, 1),), np.uint8)
        run_options = RunOptions(workspace.ctypes.data, size, None, 0)
        buffers = (ctypes.c_void_p * len(arrays))(
            *(None if array is None else array.ctypes.data
              for array in arrays))
        by_reference = ctypes.byref(run_options)
        lib.check(run_with(plan, buffers, by_reference))

        def call(keep=(workspace, run_options, data, out)):
            run_with(plan, buffers, by_reference)

        def results():
            return {name: decode(array, case.dtype)
                    for name, array in out.items()}
        return call, results

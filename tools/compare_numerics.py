#!/usr/bin/env python3
"""Prints the table of errors of other implementations for docs/numerics.md.

    tools/compare_numerics.py ERROR_TABLE > table.md

ERROR_TABLE is the program error_table of the tests, whose inputs are used.
Needs numpy, safetensors and torch; onnxruntime and onnx if they are there.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy
import safetensors.torch
import torch

INPUTS = ("random", "wide range", "subnormal", "special")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
          "f64": torch.float64}
# Digits, and the exponent of the smallest subnormal number.
FORMATS = {"f32": (24, -149), "bf16": (8, -133), "f16": (11, -24),
           "f64": (53, -1074)}


def rotate(pairing, x):
    if pairing == "half":
        a, b = x.chunk(2, -1)
        return torch.cat((-b, a), -1)
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def forward(pairing, t):
    return t["x"] * t["cos"] + rotate(pairing, t["x"]) * t["sin"]


def gradients(pairing, t):
    leaves = {name: t[name].detach().clone().requires_grad_()
              for name in ("x", "cos", "sin")}
    forward(pairing, leaves).backward(t["dy"])
    return leaves["x"].grad, torch.cat((leaves["cos"].grad,
                                        leaves["sin"].grad))


def wide(tensor):
    """As numpy's widest float, in which a product of two f32 is exact."""
    return tensor.detach().double().numpy().astype(numpy.longdouble)


def exact(pairing, t):
    """The forward, dx, and dcos and dsin, in the widest float."""
    x, dy, cos, sin = (wide(t[name]) for name in ("x", "dy", "cos", "sin"))

    def turned(v, sign):
        half = v.shape[-1] // 2
        if pairing == "half":
            return sign * numpy.concatenate((-v[..., half:], v[..., :half]), -1)
        return sign * numpy.stack((-v[..., 1::2], v[..., ::2]),
                                  -1).reshape(v.shape)

    return (x * cos + turned(x, 1) * sin, dy * cos + turned(dy * sin, -1),
            numpy.concatenate(((dy * x).sum(0, keepdims=True),
                               (dy * turned(x, 1)).sum(0, keepdims=True))))


def errors(dtype, got, want):
    """Correctly rounded, and the largest error in units of the last place."""
    got = wide(got).ravel()
    want = want.ravel()
    digits, least = FORMATS[dtype]
    rounded = wide(torch.from_numpy(want.astype(numpy.float64)).to(
        DTYPES[dtype]))
    same = (got == rounded) | (numpy.isnan(got) & numpy.isnan(rounded))
    finite = numpy.isfinite(got) & numpy.isfinite(rounded)
    exponent = numpy.frexp(want[finite])[1].astype(int) - digits
    unit = numpy.ldexp(numpy.longdouble(1), numpy.maximum(exponent, least))
    largest = numpy.max(numpy.abs(got[finite] - want[finite]) / unit,
                        initial=0)
    if not numpy.all(same | finite):
        largest = numpy.inf
    text = f"{largest:.2f}" if largest < 100 else f"{largest:.0f}"
    return f"{100 * same.mean():.2f} %, {text}"


def onnx_runtime(dtype, pairing):
    """A function of the tensors, or None where the operator lacks a dtype."""
    import onnx
    import onnxruntime
    kinds = {"f32": onnx.TensorProto.FLOAT, "f16": onnx.TensorProto.FLOAT16,
             "bf16": onnx.TensorProto.BFLOAT16}
    if dtype not in kinds or dtype == "bf16":  # numpy has none
        return None
    names = {"x": (64, 1, 8, 64), "cos": (8, 32), "sin": (8, 32)}
    make = onnx.helper
    node = make.make_node("RotaryEmbedding", ["x", "cos", "sin", "ids"], ["y"],
                          interleaved=int(pairing == "interleave"))
    values = [make.make_tensor_value_info(name, kinds[dtype], shape)
              for name, shape in names.items()]
    values.append(make.make_tensor_value_info("ids", onnx.TensorProto.INT64,
                                              (64, 8)))
    graph = make.make_graph([node], "g", values, [
        make.make_tensor_value_info("y", kinds[dtype], names["x"])])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 23)],
                            ir_version=10)
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"])
    except Exception as error:  # whatever it lacks
        print(f"onnxruntime, {dtype}: {error}", file=sys.stderr)
        return None

    def run(t):
        every = slice(None, 32) if pairing == "half" else slice(None, None, 2)
        feed = {"x": t["x"].numpy().reshape(names["x"]),
                "ids": numpy.tile(numpy.arange(8), (64, 1))}
        for name in ("cos", "sin"):
            feed[name] = numpy.ascontiguousarray(t[name][0, :, every].numpy())
        return torch.from_numpy(session.run(None, feed)[0])

    return run


def both_columns(pairing, t):
    """Tables with one value for both columns of a pair."""
    t = dict(t)
    for name in ("cos", "sin"):
        if pairing == "half":
            t[name] = torch.cat((t[name][..., :32], t[name][..., :32]), -1)
        else:
            t[name] = t[name][..., ::2].repeat_interleave(2, -1)
    return t


def main():
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.argv[1], name], check=True,
                       stdout=subprocess.DEVNULL)
        loaded = {path.stem: safetensors.torch.load_file(path)
                  for path in pathlib.Path(name).iterdir()}
    print("| dtype | implementation |", " | ".join(INPUTS), "|")
    print("|---|---|---|---|---|---|")
    for dtype, kind in DTYPES.items():
        for pairing in ("half", "interleave"):
            rows = {"rotate": [], "dx": [], "dcos, dsin": [], "onnx": []}
            session = onnx_runtime(dtype, pairing)
            for inputs in INPUTS:
                t = {name: value.to(kind) for name, value in
                     loaded[f"{dtype} {inputs}"].items()}
                y, dx, sums = exact(pairing, t)
                rows["rotate"].append(errors(dtype, forward(pairing, t), y))
                got_dx, got_sums = gradients(pairing, t)
                rows["dx"].append(errors(dtype, got_dx, dx))
                rows["dcos, dsin"].append(errors(dtype, got_sums, sums))
                if session is not None:
                    t = both_columns(pairing, t)
                    rows["onnx"].append(errors(dtype, session(t),
                                               exact(pairing, t)[0]))
            for what, cells in rows.items():
                who = "onnxruntime rotate" if what == "onnx" else \
                    f"torch {what}"
                if cells:
                    print(f"| {dtype} | {who} {pairing} |", " | ".join(cells),
                          "|")


if __name__ == "__main__":
    with numpy.errstate(all="ignore"):  # infinities and NaNs are among them
        main()

"""ONNX Runtime, MLX and OpenVINO: forward only."""

import numpy as np

from cases import WIDTH


class OnnxRuntime:
    """The operator RotaryEmbedding, with bound inputs and outputs."""
    name = "ONNX Runtime"

    def __init__(self, threads):
        import onnxruntime
        self.ort = onnxruntime
        self.version = onnxruntime.__version__
        self.threads = threads

    def model(self, case):
        from onnx import TensorProto, helper
        kind = TensorProto.FLOAT if case.dtype == "f32" else TensorProto.FLOAT16
        half = WIDTH // 2
        rows = ((1, case.tokens, case.heads * WIDTH)
                if case.layout == "BSND" else case.shape)
        table = (1, case.tokens, half)
        value = helper.make_tensor_value_info
        node = helper.make_node(
            "RotaryEmbedding", ["x", "cos", "sin"], ["y"],
            interleaved=int(case.pairing == "interleave"),
            num_heads=case.heads)
        graph = helper.make_graph(
            [node], "rotate",
            [value("x", kind, rows), value("cos", kind, table),
             value("sin", kind, table)], [value("y", kind, rows)])
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 23)],
            ir_version=10), rows, table

    def prepare(self, data):
        case = data.case
        if case.op != "forward" or case.dtype == "bf16":
            return None
        model, rows, table = self.model(case)
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        session = self.ort.InferenceSession(
            model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        step = 1 if case.pairing == "half" else 2
        half = lambda array: np.ascontiguousarray(
            array.reshape(case.tokens, WIDTH)[:, ::step][:, :WIDTH // 2]
        ).reshape(table)
        y = np.zeros(rows, data.x.dtype)
        binding = session.io_binding()
        arrays = {"x": data.x.reshape(rows), "cos": half(data.cos),
                  "sin": half(data.sin)}
        values = {name: self.ort.OrtValue.ortvalue_from_numpy(array)
                  for name, array in arrays.items()}
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        out = self.ort.OrtValue.ortvalue_from_numpy(y)
        binding.bind_ortvalue_output("y", out)

        def call(keep=(arrays, values, y)):
            session.run_with_iobinding(binding)

        def results():
            return {"y": out.numpy().reshape(case.shape).astype(np.float64)}
        call()
        return call, results


class Mlx:
    """mlx.fast.rope, which makes its own angles."""
    name = "MLX"

    def __init__(self, threads):
        import mlx.core
        self.mx = mlx.core
        self.version = mlx.core.__version__
        mlx.core.set_default_device(mlx.core.cpu)

    def prepare(self, data):
        case = data.case
        if case.op != "forward":
            return None
        mx = self.mx
        x = mx.array(data.x)
        if case.dtype == "bf16":
            x = x.view(mx.bfloat16)
        mx.eval(x)
        last = [None]

        def call():
            rows = x.transpose(0, 2, 1, 3) if case.layout == "BSND" else x
            last[0] = mx.fast.rope(
                rows, WIDTH, traditional=case.pairing == "interleave",
                base=10000.0, scale=1.0, offset=case.first)
            mx.eval(last[0])

        def results():
            y = np.array(last[0].astype(mx.float32)).astype(np.float64)
            return {"y": y.transpose(0, 2, 1, 3)
                    if case.layout == "BSND" else y}
        call()
        return call, results


class OpenVino:
    """The usual formula, as a graph that OpenVINO may fuse."""
    name = "OpenVINO"

    def __init__(self, threads):
        import openvino
        self.ov = openvino
        self.version = openvino.__version__.split("-")[0]
        self.threads = threads

    def model(self, case):
        from openvino import opset13 as op
        x = op.parameter(case.shape, np.float32)
        cos = op.parameter(case.table_shape, np.float32)
        sin = op.parameter(case.table_shape, np.float32)
        halves = op.variadic_split(x, 3, [WIDTH // 2, WIDTH // 2])
        minus = op.multiply(halves.output(1), np.float32(-1))
        turned = op.concat([minus, halves.output(0)], 3)
        y = op.add(op.multiply(x, cos), op.multiply(turned, sin))
        return self.ov.Model([op.result(y)], [x, cos, sin], "rotate")

    def prepare(self, data):
        case = data.case
        if (case.op, case.dtype, case.pairing) != ("forward", "f32", "half"):
            return None
        compiled = self.ov.Core().compile_model(
            self.model(case), "CPU",
            {"INFERENCE_NUM_THREADS": self.threads,
             "INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()
        y = np.zeros(case.shape, np.float32)
        for i, array in enumerate((data.x, data.cos, data.sin)):
            request.set_input_tensor(i, self.ov.Tensor(array,
                                                       shared_memory=True))
        request.set_output_tensor(0, self.ov.Tensor(y, shared_memory=True))

        def results():
            return {"y": y.astype(np.float64)}
        request.infer()
        return request.infer, results

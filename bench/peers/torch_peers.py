"""PyTorch: eager, and compiled by Inductor in two forms."""

import torch

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def tensor_of(array, dtype):
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if dtype == "bf16" else tensor


# --- the usual formula ---------------------------------------------------------

def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)


def usual(pairing):
    turn = rotate_half if pairing == "half" else rotate_every_two
    return lambda x, cos, sin: x * cos + turn(x) * sin


# --- the two elements of a pair apart ------------------------------------------

def pairs(x, pairing):
    return x.chunk(2, dim=-1) if pairing == "half" else (
        x[..., 0::2], x[..., 1::2])


def joined(first, second, pairing):
    if pairing == "half":
        return torch.cat((first, second), dim=-1)
    return torch.stack((first, second), dim=-1).flatten(-2)


def split(pairing):
    def forward(x, cos, sin):
        (a, b), (c1, c2), (s1, s2) = (
            pairs(each, pairing) for each in (x, cos, sin))
        return joined(a * c1 - b * s1, b * c2 + a * s2, pairing)
    return forward


def backward_dx(pairing):
    def dx(dy, cos, sin):
        (a, b), (c1, c2), (s1, s2) = (
            pairs(each, pairing) for each in (dy, cos, sin))
        return joined(a * c1 + b * s2, b * c2 - a * s1, pairing)
    return dx


def backward_all(pairing, axis):
    dx_of = backward_dx(pairing)

    def gradients(dy, x, cos, sin):
        (g1, g2), (a, b) = (pairs(each.float(), pairing) for each in (dy, x))
        total = lambda terms: terms.sum(axis, keepdim=True)
        dcos = joined(total(g1 * a), total(g2 * b), pairing)
        dsin = joined(-total(g1 * b), total(g2 * a), pairing)
        return dx_of(dy, cos, sin), dcos.to(cos.dtype), dsin.to(cos.dtype)
    return gradients


class Torch:
    version = torch.__version__

    def prepare(self, data):
        case = data.case
        x, cos, sin = (tensor_of(array, case.dtype)
                       for array in (data.x, data.cos, data.sin))
        dy = None if data.dy is None else tensor_of(data.dy, case.dtype)
        function = self.function(case)
        if function is None:
            return None
        with torch.no_grad():
            call, names = self.bind(function, case, x, cos, sin, dy)
        last = [None]

        def timed():
            last[0] = call()

        def results():
            got = last[0] if isinstance(last[0], tuple) else (last[0],)
            return {name: tensor.detach().double().numpy()
                    for name, tensor in zip(names, got)}
        timed()
        return timed, results

    def bind(self, function, case, x, cos, sin, dy):
        if case.op == "forward":
            return self.quiet(lambda: function(x, cos, sin)), ["y"]
        if case.op == "dx":
            return self.quiet(lambda: function(dy, cos, sin)), ["dx"]
        return (self.quiet(lambda: function(dy, x, cos, sin)),
                ["dx", "dcos", "dsin"])

    @staticmethod
    def quiet(call):
        def run():
            with torch.inference_mode():
                return call()
        return run


class Eager(Torch):
    name = "torch eager"

    def function(self, case):
        return usual(case.pairing)

    def bind(self, function, case, x, cos, sin, dy):
        if case.op == "forward":
            return super().bind(function, case, x, cos, sin, dy)
        tables = case.op == "gradients"
        with torch.enable_grad():
            leaves = [x.clone().requires_grad_(),
                      cos.clone().requires_grad_(tables),
                      sin.clone().requires_grad_(tables)]
            y = function(*leaves)
        wanted = leaves if tables else leaves[:1]
        return (lambda: torch.autograd.grad(y, wanted, dy, retain_graph=True),
                ["dx", "dcos", "dsin"])


class RopewalkTorch(Eager):
    """The package ropewalk, as PyTorch's users call it: new results, autograd.
    Forward alone is timed without gradients, as for the others."""
    name = "ropewalk.torch"

    def __init__(self):
        import ropewalk.torch
        self.version = ropewalk.__version__
        self.rotary = ropewalk.torch.rotary

    def function(self, case):
        return lambda x, cos, sin: self.rotary(x, cos, sin,
                                               pairing=case.pairing)


class InductorUsual(Torch):
    """The usual formula; forward only, its backward is the split one's."""
    name = "torch.compile, usual"

    def function(self, case):
        if case.op != "forward":
            return None
        return torch.compile(usual(case.pairing), dynamic=False)


class InductorSplit(Torch):
    """What compiles best; the backward is written by hand."""
    name = "torch.compile, split"

    def function(self, case):
        form = {"forward": lambda: split(case.pairing),
                "dx": lambda: backward_dx(case.pairing),
                "gradients": lambda: backward_all(case.pairing,
                                                  case.head_axis)}[case.op]()
        return torch.compile(form, dynamic=False)

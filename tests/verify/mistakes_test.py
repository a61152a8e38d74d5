#!/usr/bin/env python3
"""Makes each mistake and asks `ropewalk verify` for its name.

usage: mistakes_test.py ROPEWALK ROOT [--every N] [PART_OF_A_NAME]

--every N tries only each Nth result.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

try:
    import numpy as np
    from maker import (PAIRINGS, Cached, Rotation, cut_to, frequencies,
                       gradients, loaded, round_to, spread, stored, turn)
except ImportError:
    sys.exit(77)  # ctest counts this as skipped

from cli_test import PAIRINGS as MODES
from cli_test import check, faults, read, write

DTYPES = ("fp32", "fp16", "bf16")


class Tester:
    def __init__(self, args, folder):
        self.path, self.root = args.ropewalk, pathlib.Path(args.root)
        self.part, self.every, self.folder = args.part, args.every, folder
        self.met = self.tried = 0

    def skips(self, what):
        """Whether to leave out a result."""
        if self.part not in what:
            return True
        self.met += 1
        if self.met % self.every != 0:
            return True
        self.tried += 1
        return False

    def run(self, case, result, *args):
        paths = [os.path.join(self.folder, name + ".safetensors")
                 for name in ("inputs", "result")]
        write(paths[0], case.inputs())
        write(paths[1], result)
        done = subprocess.run(
            [self.path, "verify", *case.args(), "-i", paths[0], "--result",
             paths[1], "--json", *args], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=300)
        return done.returncode, json.loads(done.stdout or "{}"), done.stderr

    def named(self, what, cause, case, values, *args, least=0.99, also=()):
        """The result is wrong, and `cause` is named first, or beside what
        gives the same."""
        what = "%s %s: %s" % (cause, what, " ".join(case.args()))
        if self.skips(what):
            return
        result = values if isinstance(values, dict) else case.result(values)
        code, report, error = self.run(case, result, *args)
        found = report.get("diagnosis", [])
        ids = [entry["cause"] for entry in found]
        fine = (code == 1 and cause in ids and
                all(e["explains"] == found[0]["explains"] for e in found) and
                found[0]["explains"] >= least and
                set(ids) <= {cause, *also})
        check(fine, "%s: exit %d, %s" % (what, code, error or [
            (e["cause"], e.get("detail"), e.get("with"), e["explains"],
             e.get("outputs")) for e in found]))

    def right(self, what, case, values, *args):
        what = "right %s: %s" % (what, " ".join(case.args()))
        if self.skips(what):
            return
        code, report, error = self.run(case, case.result(values), *args)
        check(code == 0 and report["diagnosis"] == [], "%s: exit %d, %s" %
              (what, code, error or report.get("diagnosis")))

    def not_single(self, what, causes, case, values, *args):
        """Two mistakes: both are named, or none."""
        what = "two mistakes %s: %s" % (what, " ".join(case.args()))
        if self.skips(what):
            return
        code, report, error = self.run(case, case.result(values), *args)
        ids = [entry["cause"] for entry in report.get("diagnosis", [])]
        check(code == 1 and ids and
              ("unknown" in ids or set(causes) <= set(ids)),
              "%s: exit %d, %s" % (what, code, error or [
                  (e["cause"], e.get("detail"), e.get("with"), e["explains"])
                  for e in report["diagnosis"]]))




def fma_turn(case, first):
    """The rotation where one of the products of each sum is not rounded."""
    x, cos, sin = (v.astype(np.float64) for v in (case.x, case.cos, case.sin))
    def add(a, b):
        f32 = lambda v: v.astype(np.float32).astype(np.float64)
        return (a + f32(b) if first else f32(a) + b).astype(np.float32)
    return turn(x, cos, sin, case.mode, backward=case.backward, add=add)


def rotations(seed=1):
    """Rotations of every pairing and dtype, by turns in each layout."""
    for m, mode in enumerate(PAIRINGS):
        for d, dtype in enumerate(DTYPES):
            for backward in (False, True):
                turns = m + d + backward
                table = "fp32" if turns % 2 else dtype
                yield Rotation(seed + turns, mode, dtype, table,
                               bnsd=turns % 3 == 1,
                               slice_=(8, 40) if turns % 4 == 3 else None,
                               shape=(2, 24, 5, 48 if turns % 4 == 3 else 32),
                               backward=backward)


def test_right(t):
    for case in rotations():
        y = case.turn()
        t.right("", case, y)
        t.right("by bits", case, y, "--exact")
        exact = turn(case.x.astype(np.float64)[..., case.start:case.end],
                     case.cos.astype(np.float64), case.sin.astype(np.float64),
                     case.mode, backward=case.backward)
        values = case.x.copy()
        values[..., case.start:case.end] = exact
        t.right("from double", case, values)


def test_pairing(t):
    for case in rotations():
        for other in PAIRINGS:
            if other == case.mode:
                continue
            also = (["permuted-output"] if "interleave-half" in
                    (other, case.mode) else [])
            t.named("as " + other, "pairing", case, case.turn(mode=other),
                    also=["table-halves", *also])
            cos, sin = case.tables(case.positions, case.frequency, other)
            t.named("with tables for " + other, "pairing", case,
                    case.turn(cos=cos, sin=sin, mode=other), also=also)


def test_sin(t):
    for case in rotations():
        t.named("", "sin-negated", case, case.turn(sin=-case.sin))
        t.named("", "cos-sin-swapped", case,
                case.turn(cos=case.sin, sin=case.cos))
        if case.mode != "interleave-half":
            t.named("the other direction", "sin-negated", case,
                    case.turn(backward=not case.backward))
    for mode in PAIRINGS:
        for dtype in DTYPES:
            case = Rotation(5, mode, dtype, "fp32", backward=True,
                            random_tables=True)
            t.named("", "partner-sin", case, case.turn(crossed=False))
            t.named("the other direction", "sin-negated", case,
                    case.turn(backward=False))


def test_tables(t):
    for case in rotations():
        for other in ("half", "interleave"):
            if (case.mode == "interleave") == (other == "interleave"):
                continue
            cos, sin = case.tables(case.positions, case.frequency, other)
            t.named(other, "table-halves", case, case.turn(cos=cos, sin=sin))
        if case.table_dtype == "fp32":
            for narrow in ("fp16", "bf16"):
                cos, sin = (round_to(v, narrow) for v in (case.cos, case.sin))
                t.named(narrow, "table-16bit", case,
                        case.turn(cos=cos, sin=sin))


def test_positions(t):
    for case in rotations():
        table = lambda positions: dict(zip(
            ("cos", "sin"), case.tables(positions, case.frequency)))
        for k in (1, -1, 5):
            t.named("by %d" % k, "position-shift", case,
                    case.turn(**table(case.positions + k)), least=0.7)
        t.named("at 9", "position-clamped", case,
                case.turn(**table(np.minimum(case.positions, 9))))
        t.named("by 7", "position-modulo", case,
                case.turn(**table(case.positions % 7)),
                also=["position-reset"])
        starts = np.repeat([0, 6, 15], [6, 9, 9])
        t.named("packed", "position-reset", case,
                case.turn(**table(case.positions - starts)))
        t.named("", "not-rotated", case,
                case.turn(**table(case.positions * 0))
                if case.mode != "interleave-half" else case.x,
                also=["position-clamped", "position-modulo",
                      "position-shift"])
    for dtype in DTYPES:
        case = Rotation(3, "half", dtype, dtype, per_batch=True)
        cos, sin = case.tables(case.positions % case.tokens, case.frequency)
        t.named("by batch", "position-reset", case,
                case.turn(cos=cos, sin=sin), also=["position-modulo"])


def test_rows(t):
    for case in rotations():
        once = round_to(case.turn(), case.dtype)
        t.named("", "rotated-twice", case, case.turn(x=once))
        t.named("", "head-repeated", case, np.broadcast_to(
            np.take(case.turn(), [2], case.heads_axis()), case.x.shape))
        few = case.turn()
        index = [slice(None)] * 4
        index[case.heads_axis()] = [0, 1, 1, 3, 4]
        t.named("one", "head-repeated", case, few[tuple(index)])
        heads, tokens = case.heads, case.tokens
        # The memory of [token, head] read as [head, token], or the reverse.
        flat = np.arange(tokens * heads)
        position = flat // heads if case.bnsd else flat % tokens
        shape = (heads, tokens) if case.bnsd else (tokens, heads)
        cos, sin = (v.squeeze(case.heads_axis())[0] for v in
                    (case.cos, case.sin))
        cos, sin = (v[position].reshape((1,) + shape + (-1,))
                    for v in (cos, sin))
        t.named("by place", "axes-swapped", case, case.turn(cos=cos, sin=sin))
        index = np.broadcast_to(
            np.arange(heads)[:, None] if case.bnsd else np.arange(heads),
            shape)
        cos, sin = (v.squeeze(case.heads_axis())[0][index][None]
                    for v in (case.cos, case.sin))
        t.named("by index", "axes-swapped", case, case.turn(cos=cos, sin=sin))
        t.named("not put back", "axes-swapped", case,
                case.turn().transpose(0, 2, 1, 3).reshape(case.x.shape))
    for dtype in DTYPES:
        for mode in PAIRINGS:
            for backward in (False, True):
                case = Rotation(4, mode, dtype, "fp32", shape=(2, 16, 3, 48),
                                slice_=(4, 36), backward=backward)
                t.named("at 0", "slice", case, case.turn(start=0, end=32))
                t.named("at the end", "slice", case,
                        case.turn(start=16, end=48))
                case = Rotation(4, mode, dtype, "fp32", shape=(2, 16, 3, 32),
                                backward=backward)
                t.named("the first half", "slice", case, case.turn(
                    cos=case.cos[..., :16], sin=case.sin[..., :16], start=0,
                    end=16))


def test_frequencies(t):
    for case in rotations():
        for narrow in ("bf16", "fp16"):
            cos, sin = case.tables(case.positions,
                                   round_to(case.frequency, narrow))
            if case.table_dtype == "fp32" or narrow == "bf16":
                t.named(narrow, "frequency-precision", case,
                        case.turn(cos=cos, sin=sin))
        for base in (500000.0, 1000.0, 12345.0):
            cos, sin = case.tables(case.positions,
                                   frequencies(case.width // 2, base))
            t.named("%g" % base, "frequency-base", case,
                    case.turn(cos=cos, sin=sin))


def test_arithmetic(t):
    for case in rotations():
        if case.dtype != "fp32":
            t.named("", "truncated", case,
                    cut_to(case.turn(), case.dtype))
        for narrow in ("bf16", "fp16"):
            if case.dtype == "fp32" or case.dtype == narrow:
                add = lambda a, b: round_to(
                    round_to(a, narrow) + round_to(b, narrow), narrow)
                t.named(narrow, "intermediates-16bit", case,
                        case.turn(add=add))
        y = case.turn()
        for first in (True, False):
            values = None if case.sliced else fma_turn(case, first)
            # In 16 bits it may not show.
            if values is not None and (round_to(values, case.dtype) !=
                                       round_to(y, case.dtype)).any():
                t.named("first" if first else "second", "fused", case, values,
                        "--exact")
        part = y[..., case.start:case.end]
        apart = np.concatenate([part[..., ::2], part[..., 1::2]], -1)
        y[..., case.start:case.end] = apart
        t.named("apart", "permuted-output", case, y, also=["pairing"])


def test_sums(t):
    for m, mode in enumerate(PAIRINGS):
        for dtype in DTYPES:
            for bnsd in (False, True):
                sums_of(t, Sums(m, mode, dtype, bnsd))


class Sums(Rotation):
    """A backward with x, of which dcos and dsin are the results."""

    def __init__(self, seed, mode, dtype, bnsd, tokens=8, heads=8):
        super().__init__(seed, mode, dtype, dtype, shape=(4, tokens, heads, 16),
                         bnsd=bnsd, backward=True)
        rng = np.random.default_rng(seed + 100)
        self.forward_x = round_to(rng.standard_normal(self.x.shape), dtype)

    def inputs(self):
        return {**super().inputs(), "x": stored(self.forward_x, self.dtype)}

    def terms(self, mode=None):
        return gradients(self.x, self.forward_x, mode or self.mode)

    def sums(self, axes=None, mode=None):
        axes = axes or (0, self.heads_axis())
        return [np.sum(v, axis=axes, keepdims=True) for v in self.terms(mode)]

    def result(self, values):
        return {name: stored(value, self.dtype)
                for name, value in zip(("dcos", "dsin"), values)}


def in_16_bits(terms, axes, narrow):
    terms = np.moveaxis(terms, axes, (0, 1))
    total = np.zeros(terms.shape[2:], np.float32)
    for plane in terms.reshape((-1,) + terms.shape[2:]):
        total = round_to(total + round_to(plane, narrow), narrow)
    return total


def sums_of(t, case):
    heads, tokens = case.heads_axis(), case.tokens_axis()
    t.right("sums", case, case.sums())
    dcos, dsin = case.sums()
    t.named("", "cos-sin-swapped", case, [dsin, dcos])
    t.named("", "sin-negated", case, [dcos, -dsin])
    if case.dtype != "fp32":
        t.named("sums", "truncated", case,
                [cut_to(v, case.dtype) for v in (dcos, dsin)])
    over_tokens = [np.swapaxes(v, heads, tokens)
                   for v in case.sums((0, tokens))]
    t.named("over tokens", "reduced-axes", case, over_tokens)
    t.named("one batch", "reduced-axes", case,
            [v[:1] for v in case.sums((heads,))])
    t.named("all", "reduced-axes", case, [
        np.broadcast_to(v, dcos.shape) for v in case.sums((0, 1, 2))])
    for narrow in ("bf16", "fp16"):
        if case.dtype not in ("fp32", narrow):
            continue
        values = [in_16_bits(v, (0, heads), narrow).reshape(dcos.shape)
                  for v in case.terms()]
        t.named(narrow, "reduced-16bit", case, values)
    other = "interleave" if case.mode == "half" else "half"
    # dcos is the same with each pairing that leaves the order.
    t.named("sums as " + other, "pairing", case,
            [dcos if case.mode != "interleave-half" else case.sums(
                mode=other)[0], case.sums(mode=other)[1]])


def cached_cases(seed=11):
    for style in ("neox", "gptj"):
        for dtype in DTYPES:
            for backward in (False, True):
                yield Cached(seed, style, dtype, backward=backward,
                             rotary=16 if backward else None)


def test_cached(t):
    for case in cached_cases():
        other = "interleave" if case.mode == "half" else "half"
        rows = case.rows_of
        p = case.positions
        t.right("", case, case.both(case.turn))
        t.named("", "pairing", case, case.both(
            lambda x: case.turn(x, mode=other)))
        t.named("", "sin-negated", case, case.both(
            lambda x: case.turn(x, (rows()[0], -rows()[1]))))
        t.named("", "cos-sin-swapped", case, case.both(
            lambda x: case.turn(x, rows()[::-1])))
        t.named("", "table-halves", case, case.both(
            lambda x: case.turn(x, layout=other)))
        for k in (-3, 1, 20):
            t.named("by %d" % k, "position-shift", case, case.both(
                lambda x: case.turn(x, rows(p + k))))
        starts = np.repeat([0, 11, 27], [11, 16, 13])
        t.named("", "position-reset", case, case.both(
            lambda x: case.turn(x, rows(np.arange(40)[None] - starts))))
        t.named("at 20", "position-clamped", case, case.both(
            lambda x: case.turn(x, rows(np.minimum(p, 20)))))
        t.named("by 16", "position-modulo", case, case.both(
            lambda x: case.turn(x, rows(p % 16))), also=["position-reset"])
        t.named("key alone", "not-rotated", case,
                [case.turn(case.query), case.key],
                also=["position-clamped", "position-modulo"])
        t.named("", "rotated-twice", case, case.both(
            lambda x: case.turn(round_to(case.turn(x), case.dtype))))
        t.named("", "head-repeated", case, case.both(
            lambda x: case.turn(x)[:, [0] * x.shape[1]]))
        flat = {n: np.arange(40 * n) % 40 for n in case.heads}
        def by_place(x):
            cos, sin = (spread(v, case.mode)[flat[x.shape[1]]].reshape(
                40, x.shape[1], -1) for v in rows())
            out = x.copy()
            out[..., :case.rotary] = turn(x[..., :case.rotary], cos, sin,
                                          case.mode, backward=case.backward)
            return out
        t.named("", "axes-swapped", case, case.both(by_place))
        if case.rotary < case.head_size:
            t.named("", "slice", case, case.both(
                lambda x: case.turn(x, start=16)))
        for base in (500000.0, 2000.0):
            cache = case.make_cache(frequencies(case.rotary // 2, base))
            t.named("%g" % base, "frequency-base", case, case.both(
                lambda x: case.turn(x, rows(cache=cache))))
        cache = case.make_cache(round_to(case.frequency, "bf16"))
        t.named("", "frequency-precision", case, case.both(
            lambda x: case.turn(x, rows(cache=cache))))
        if case.dtype != "fp32":
            t.named("", "truncated", case, case.both(
                lambda x: cut_to(case.turn(x), case.dtype)))


def test_unsorted(t):
    """Positions in no order, not all of them used."""
    for dtype in DTYPES:
        for style in ("neox", "gptj"):
            case = Cached(5, style, dtype, tokens=50, rows=300)
            case.positions = np.random.default_rng(8).permutation(250)[
                :50][None]
            p, rows = case.positions, case.rows_of
            for what, cause, positions in (
                    ("by -11", "position-shift", (p - 11) % 300),
                    ("by 49", "position-shift", p + 49),
                    ("at 127", "position-clamped", np.minimum(p, 127)),
                    ("by 128", "position-modulo", p % 128)):
                t.named("unsorted " + what, cause, case, case.both(
                    lambda x: case.turn(x, rows(positions))), least=0.8)
            cache = case.make_cache(frequencies(16, 31415.0))
            t.named("unsorted", "frequency-base", case, case.both(
                lambda x: case.turn(x, rows(cache=cache))))


def test_outside(t):
    """Positions that the cache does not hold."""
    for dtype in DTYPES:
        case = Cached(2, "neox", dtype, rows=30)
        p = case.positions
        t.named("outside", "position-clamped", case, case.both(
            lambda x: case.turn(x, case.rows_of(np.minimum(p, 29)))))
        t.named("outside", "position-modulo", case, case.both(
            lambda x: case.turn(x, case.rows_of(p % 30))),
                also=["position-reset"])


def test_sections(t):
    for dtype in DTYPES:
        for style in ("neox", "gptj"):
            for axes in ("segmented", "interleaved"):
                case = Cached(7, style, dtype, sections=[6, 6, 4], axes=axes)
                rows = case.rows_of
                t.right("sections", case, case.both(case.turn))
                other = ("segmented" if axes == "interleaved" else
                         "interleaved")
                t.named("", "axes-layout", case, case.both(
                    lambda x: case.turn(x, rows(
                        section=case.section_of_pair(axes=other)))))
                t.named("rows", "section-order", case, case.both(
                    lambda x: case.turn(x, rows(case.positions[[2, 0, 1]]))))
                if axes == "segmented":
                    t.named("sizes", "section-order", case, case.both(
                        lambda x: case.turn(x, rows(
                            section=case.section_of_pair([4, 6, 6])))))
                    t.named("both", "section-order", case, case.both(
                        lambda x: case.turn(x, rows(
                            case.positions[[2, 1, 0]],
                            case.section_of_pair([4, 6, 6])))))
                t.named("sections", "position-shift", case, case.both(
                    lambda x: case.turn(x, rows(case.positions + 2))))


def test_two(t):
    for case in rotations():
        once = case.turn(sin=-case.sin, cos=case.cos)
        other = "half" if case.mode == "interleave" else "interleave"
        t.not_single("pairing, sin-negated", ("pairing", "sin-negated"), case,
                     case.turn(sin=-case.sin, mode=other))
        cos, sin = case.tables(case.positions + 2, case.frequency)
        t.not_single("position-shift, sin-negated",
                     ("position-shift", "sin-negated"), case,
                     case.turn(cos=cos, sin=-sin))
        if case.dtype != "fp32":
            t.not_single("truncated, sin-negated",
                         ("truncated", "sin-negated"), case,
                         cut_to(once, case.dtype))
            t.not_single("truncated, position-shift",
                         ("truncated", "position-shift"), case,
                         cut_to(case.turn(cos=cos, sin=sin), case.dtype))
        # One mistake in one batch, another in the other.
        mixed = once.copy()
        mixed[0] = case.turn(cos=case.sin, sin=case.cos)[0]
        t.not_single("one each", ("sin-negated", "cos-sin-swapped"), case,
                     mixed)
        rng = np.random.default_rng(9)
        t.not_single("noise", ("none",), case,
                     rng.standard_normal(case.x.shape))
        t.named("in one batch", "sin-negated", case,
                np.concatenate([case.turn()[:1], once[1:]]))


class Given:
    """Tensors of a file in place of random ones."""

    def __init__(self, tensors, mode, dtypes, slice_=None):
        self.mode, self.backward, self.dtypes = mode, False, dtypes
        self.x, self.cos, self.sin = tensors
        self.slice, (self.start, self.end) = slice_, (
            slice_ or (0, self.x.shape[-1]))

    turn = Rotation.turn

    def inputs(self):
        return {name: stored(values, dtype) for name, values, dtype in
                zip(("x", "cos", "sin"), (self.x, self.cos, self.sin),
                    self.dtypes)}

    def result(self, values):
        return {"y": stored(values, self.dtypes[0])}

    def args(self):
        args = ["rotate", "--pairing", self.mode]
        if self.slice:
            args += ["--slice", "%d:%d" % tuple(self.slice)]
        return args


def test_golden(t):
    """Tables that are no cosines, in every shape."""
    for name in ("rotate", "partial"):
        tensors, metadata = read(
            str(t.root / "tests/golden" / (name + ".safetensors")))
        for case in json.loads(metadata["cases"]):
            parts = [tensors[case["case"] + "." + n]
                     for n in ("x", "cos", "sin")]
            wide = parts[1][1][-1] >= 8
            if case.get("data", "normal") != "normal" or not wide:
                continue
            names = {"F32": "fp32", "F16": "fp16", "BF16": "bf16"}
            given = Given([loaded(p) for p in parts], MODES[case["mode"]],
                          [names[p[0]] for p in parts], case.get("slice"))
            t.named("golden", "sin-negated", given,
                    given.turn(sin=-given.sin))
            t.named("golden", "cos-sin-swapped", given,
                    given.turn(cos=given.sin, sin=given.cos))
            t.named("golden", "not-rotated", given, given.x,
                    also=["head-repeated"])


def test_activations(t):
    """Real ones, in every dtype."""
    for name in ("query", "key"):
        tensors = read(str(t.root / "data" / ("smollm2_%s.safetensors" %
                                              name)))[0]
        x, cos, sin = (loaded(tensors[n]) for n in ("x", "cos", "sin"))
        for dtype in DTYPES:
            case = Given([round_to(x, dtype), cos, sin], "half",
                         [dtype, "fp32", "fp32"])
            t.right(name, case, case.turn())
            t.named(name, "pairing", case, case.turn(mode="interleave"))
            t.named(name, "sin-negated", case, case.turn(sin=-sin))
            t.named(name, "table-16bit", case, case.turn(
                cos=round_to(cos, "bf16"), sin=round_to(sin, "bf16")))
            rows = np.arange(128)
            for cause, row in (("position-shift", rows[np.minimum(
                    rows + 1, 127)]), ("position-clamped",
                                       np.minimum(rows, 63)),
                               ("position-modulo", rows % 50),
                               ("position-reset", rows - np.repeat(
                                   [0, 40, 100], [40, 60, 28]))):
                t.named(name, cause, case, case.turn(
                    cos=cos[:, row], sin=sin[:, row]), least=0.98,
                        also=["position-reset"] if "modulo" in cause else [])
            freq = frequencies(32, 500000.0)
            # The tables of the file start at position 0.
            angles = np.arange(128)[:, None] * freq
            t.named(name, "frequency-base", case, case.turn(**{
                n: spread(f(angles), "half")[None, :, None].astype(np.float32)
                for n, f in (("cos", np.cos), ("sin", np.sin))}))
            if dtype != "fp32":
                t.named(name, "truncated", case, cut_to(case.turn(), dtype))
            t.named(name, "head-repeated", case, case.turn()[
                :, :, np.arange(x.shape[2]) // 3 * 3])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ropewalk")
    parser.add_argument("root")
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tester = Tester(args, folder)
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                test(tester)
    print("%d results tried, %d faults" % (tester.tried, len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

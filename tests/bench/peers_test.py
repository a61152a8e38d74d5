#!/usr/bin/env python3
"""How `make bench` judges results: what ropewalk gives is right, what is a
little off is counted, what is not the operator is seen.

usage: peers_test.py FOLDER_OF_LIBRARIES
"""

import dataclasses
import pathlib
import sys
import unittest

try:
    import numpy as np
except ImportError:
    print("NumPy is not there")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/peers"))

import cases  # noqa: E402  pylint: disable=wrong-import-position
import native  # noqa: E402  pylint: disable=wrong-import-position

FOLDER = sys.argv.pop(1)
LIBRARY = native.Library(FOLDER, 2)


def few_tokens(case):
    return dataclasses.replace(case, tokens=min(case.tokens, 5))


class Peers(unittest.TestCase):
    def test_names_differ(self):
        names = [case.name for case in cases.all_cases(quick=False)]
        self.assertEqual(len(names), len(set(names)))

    def test_ropewalk_is_right(self):
        for case in map(few_tokens, cases.all_cases(quick=False)):
            data = cases.Data(case)
            call, results = native.Ropewalk(LIBRARY).prepare(data)
            call()
            with self.subTest(case.name):
                wrong, largest = cases.judge(results(), cases.expected(data),
                                             case)
                self.assertEqual(wrong, 0)
                self.assertLess(largest, 0.01)

    def test_other_results_are_seen(self):
        case = few_tokens(cases.Case())
        data = cases.Data(case)
        want = cases.expected(data)
        exact = {name: value for name, (value, _) in want.items()}
        self.assertEqual(cases.judge(exact, want, case)[0], 0)
        other = {"y": decoded_with(data, sign=-1)}
        wrong, largest = cases.judge(other, want, case)
        self.assertGreater(wrong, 0.5)
        self.assertGreater(largest, 0.5)
        little = {"y": exact["y"] * (1 + 1e-5)}
        wrong, largest = cases.judge(little, want, case)
        self.assertGreater(wrong, 0.5)
        self.assertLess(largest, 0.001)

    def test_bf16_rounds_to_nearest_even(self):
        values = np.array([1 + 2.0 ** -8, 1 + 3 * 2.0 ** -8, 1 + 2.0 ** -7])
        got = cases.decode(cases.encode(values, "bf16"), "bf16")
        self.assertEqual(got.tolist(), [1, 1 + 2.0 ** -6, 1 + 2.0 ** -7])

    def test_yardsticks_move_all(self):
        for op, streaming in (("forward", 0), ("forward", 1),
                              ("gradients", 0), ("gradients", 1)):
            case = dataclasses.replace(few_tokens(cases.Case()), op=op)
            yardstick = native.Yardstick(LIBRARY, case,
                                         0 if streaming else 1 << 60)
            for number, buffer in enumerate(yardstick.buffers[1:]):
                buffer[:] = 5 << number
            yardstick.run(2)
            self.assertTrue((yardstick.buffers[0] ==
                             (5 if op == "forward" else 5 ^ 10)).all())


def decoded_with(data, sign):
    case = data.case
    x, cos, sin = (cases.decode(array, case.dtype)
                   for array in (data.x, data.cos, data.sin))
    return x * cos + sign * cases.turned(x, case.pairing) * sin


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What stands behind `make bench` and the gate on instructions, as far as it
needs nothing but Python."""

import copy
import json
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/peers")]

import instructions  # noqa: E402  pylint: disable=wrong-import-position
import report  # noqa: E402  pylint: disable=wrong-import-position


def spread(median):
    return {"p10": median * 0.9, "median": median, "p90": median * 1.1}


def row(case, peer, threads, ns, fraction, kind="memory", wrong=0.0):
    return {"case": case, "peer": peer, "threads": threads, "kind": kind,
            "ns": spread(ns), "fraction": spread(fraction),
            "wrong_share": wrong}


FOUND = {
    "schema": 1,
    "native": {
        "machine": {"cpu": "A CPU"},
        "build": {"target": "AVX2", "commit": "abc", "compiler": "GCC"},
        "results": [
            {"work": "made", "threads": 1, "ns": spread(5), "goal": {"ns": 9},
             "reached": True},
            {"work": "slow", "threads": 2, "ns": spread(5),
             "fraction": spread(0.5), "goal": {"fraction": 0.9},
             "reached": False}]},
    "peers": {
        "versions": {"ropewalk": "1", "other": "2", "third": "3",
                     "ropewalk.torch": "1"},
        "results": [
            row("a", "ropewalk", 1, 1e6, 0.9), row("a", "other", 1, 3e6, 0.3),
            row("a", "third", 1, 2e6, 0.45, wrong=0.25),
            row("a", "ropewalk.torch", 1, 1.5e6, 0.6),
            row("one", "ropewalk", 1, 700, 0.1, "decode"),
            row("a", "ropewalk", 2, 1e6, 0.95)]}}


class Report(unittest.TestCase):
    def test_table_has_ropewalk_and_the_fastest_peer(self):
        lines = report.table(FOUND).splitlines()
        self.assertEqual(lines[2],
                         "| a | 0.90 | 0.45 (third, 25 % inexact) | 0.95 | - |")
        self.assertEqual(lines[3], "| one | 0.7 µs | - | - | - |")
        self.assertEqual({line.count("|") for line in lines[:4]}, {6})
        self.assertIn("A CPU, AVX2, commit abc, GCC", lines[-1])

    def test_summary_names_what_was_missed(self):
        lines = report.summary(FOUND).splitlines()
        self.assertEqual(lines[0], "1 of 2 goals reached")
        self.assertEqual(len(lines), 2)
        self.assertIn("slow, 2 threads: 0.50", lines[1])

    def test_only_what_is_between_the_marks_is_replaced(self):
        text = "before\n%s\nold\n%s\nafter\n" % (report.BEGIN, report.END)
        once = report.replaced(text, "new")
        self.assertEqual(once, text.replace("old", "new"))
        self.assertEqual(report.replaced(once, "new"), once)
        for wrong in ("no marks", text + text):
            with self.assertRaises(ValueError):
                report.replaced(wrong, "new")

    def test_the_readme_has_the_marks(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        report.replaced(text, "")

    def test_pictures_are_links(self):
        links = report.pictures([pathlib.PurePosixPath("a/by-size.png")])
        self.assertEqual(links, "\n\n![by size](a/by-size.png)")

    def test_figures_are_checked(self):
        report.check(FOUND)
        faults = (lambda f: f.update(schema=2),
                  lambda f: f["native"].pop("machine"),
                  lambda f: f["peers"]["results"][0]["ns"].update(p10=1e9),
                  lambda f: f["peers"]["results"][0].pop("fraction"),
                  lambda f: f["peers"]["results"][0].update(wrong_share=2),
                  lambda f: f["peers"]["versions"].pop("other"),
                  lambda f: f["native"]["results"][0].update(threads=0))
        for number, fault in enumerate(faults):
            found = copy.deepcopy(FOUND)
            fault(found)
            with self.subTest(number), self.assertRaises(ValueError):
                report.check(found)

    def test_committed_figures_are_right(self):
        folder = ROOT / "bench/results"
        for name in os.listdir(folder) if folder.exists() else []:
            if name.endswith(".json"):
                text = (folder / name).read_text(encoding="utf-8")
                report.check(json.loads(text))


class Instructions(unittest.TestCase):
    def test_totals(self):
        self.assertEqual(instructions.total_of("events: Ir\ntotals: 42\n"), 42)
        self.assertEqual(instructions.total_of("summary: 7\ntotals: 7\n"), 7)

    def test_counts_are_of_an_element(self):
        self.assertEqual(instructions.per_element(["10 a b", "4 c"], [15, 8]),
                         {"a b": 1.5, "c": 2.0})
        with self.assertRaises(ValueError):
            instructions.per_element(["10 a b"], [])

    def test_two_per_cent_either_way(self):
        old = {"a": 1.0, "b": 1.0, "c": 1.0, "d, large": 1.0}
        self.assertEqual(instructions.faults(
            {"a": 1.019, "b": 0.981, "c": 1.0}, old), [])
        lines = instructions.faults({"a": 1.03, "b": 0.97, "e": 1.0}, old)
        self.assertEqual([line[0] for line in lines], list("abce"))


if __name__ == "__main__":
    unittest.main()

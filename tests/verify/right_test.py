#!/usr/bin/env python3
"""What `ropewalk verify` says of results that are right.

usage: right_test.py ROPEWALK GOLDEN_FOLDER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

from cli_test import PAIRINGS, check, faults, read, write


class Verify:
    def __init__(self, path):
        self.path = path

    def run(self, operation, *args):
        """Exit code and report; the report is None after a refusal."""
        done = subprocess.run([self.path, "verify", operation, *args, "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=300)
        report = json.loads(done.stdout) if done.stdout else None
        return done.returncode, report, done.stderr

    def right(self, what, operation, *args):
        code, report, error = self.run(operation, *args)
        check(code == 0 and report["ok"] and report["diagnosis"] == [],
              "%s: exit %d, %s" % (what, code, error or json.dumps(report)))
        return report


LIMITS = ([], ["--exact"], ["--reference", "contract"])


def rotations(verify, folder):
    for name in ("rotate", "partial"):
        path = os.path.join(folder, name + ".safetensors")
        for case in json.loads(read(path)[1]["cases"]):
            prefix = case["case"]
            args = ["--pairing", PAIRINGS[case["mode"]], "--prefix", prefix,
                    "-i", path, "--result", path]
            if "slice" in case:
                args += ["--slice", "%d:%d" % tuple(case["slice"])]
            for limit in LIMITS:
                for operation in ("rotate", "backward"):
                    verify.right(prefix, operation, *args, *limit)


def cached(verify, folder, scratch):
    path = os.path.join(folder, "cached.safetensors")
    tensors, metadata = read(path)
    result = os.path.join(scratch, "result.safetensors")
    for case in json.loads(metadata["cases"]):
        prefix = case["case"]
        write(result, {name: tensors["%s.%s_out" % (prefix, name)]
                       for name in ("query", "key")})
        inputs = os.path.join(scratch, "inputs.safetensors")
        write(inputs, {name: tensors["%s.%s" % (prefix, name)] for name in
                       ("query", "key", "cache", "positions")})
        args = ["-i", inputs, "--result", result, "--head-size",
                str(case["head_size"]), "--style",
                "neox" if case["neox"] else "gptj", "--axes", case["axes"]]
        if case["sections"]:
            args += ["--sections", ",".join(map(str, case["sections"]))]
        for limit in LIMITS:
            verify.right(prefix, "cached", *args, *limit)


def main():
    path, folder = sys.argv[1:]
    verify = Verify(path)
    rotations(verify, folder)
    with tempfile.TemporaryDirectory() as scratch:
        cached(verify, folder, scratch)
    print("%d faults" % len(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The program `ropewalk` as a user runs it: golden results, refusals, files.

usage: cli_test.py ROPEWALK GOLDEN_FOLDER
"""

import json
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

PAIRINGS = ["half", "interleave", "quarter", "interleave-half"]
FLOATS = {"F32": (4, 0x7F800000, 0x7FFFFFFF), "F16": (2, 0x7C00, 0x7FFF),
          "BF16": (2, 0x7F80, 0x7FFF)}
FORMATS = {2: "H", 4: "I", 8: "Q"}

faults = []


def check(condition, what):
    if not condition:
        faults.append(what)
        print("fault:", what)


def read(path):
    """Tensors of a safetensors file as name -> (dtype, shape, bytes)."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__", {})
    body = data[8 + size:]
    tensors = {name: (t["dtype"], t["shape"],
                      body[t["data_offsets"][0]:t["data_offsets"][1]])
               for name, t in header.items()}
    return tensors, metadata


def write(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def same(got, want):
    """Equal bits; any NaN equals any other."""
    if got[:2] != want[:2] or len(got[2]) != len(want[2]):
        return False
    if got[2] == want[2]:
        return True
    size, infinity, mask = FLOATS[want[0]]
    form = "<%d%s" % (len(want[2]) // size, FORMATS[size])
    return all(a == b or (a & mask > infinity and b & mask > infinity)
               for a, b in zip(struct.unpack(form, got[2]),
                               struct.unpack(form, want[2])))


class Program:
    def __init__(self, path, folder):
        self.path = path
        self.out = os.path.join(folder, "out.safetensors")

    def run(self, *args, folder=None, stdout=subprocess.PIPE):
        return subprocess.run([self.path, *args], stdout=stdout, cwd=folder,
                              stderr=subprocess.PIPE, text=True, timeout=120)

    def results(self, what, *args):
        done = self.run(*args, "-o", self.out)
        check(done.returncode == 0, "%s: %s" % (what, done.stderr.strip()))
        return read(self.out)[0] if done.returncode == 0 else {}

    def refuses(self, code, pattern, *args):
        done = self.run(*args)
        lines = done.stderr.splitlines()
        check(done.returncode == code and len(lines) == 1 and
              re.search(pattern, done.stderr) is not None,
              "%s: exit %d and %r, not %d and %r" %
              (args, done.returncode, done.stderr, code, pattern))


def golden(program, folder):
    for name in ("rotate", "partial"):
        path = os.path.join(folder, name + ".safetensors")
        tensors, metadata = read(path)
        for case in json.loads(metadata["cases"]):
            prefix = case["case"]
            args = ["--pairing", PAIRINGS[case["mode"]], "--prefix", prefix,
                    "-i", path]
            if "slice" in case:
                args += ["--slice", "%d:%d" % tuple(case["slice"])]
            y = program.results(prefix, "rotate", *args).get("y")
            check(y is not None and same(y, tensors[prefix + ".y"]),
                  prefix + ": y")
            results = program.results(prefix, "backward", *args)
            dx = results.get("dx")
            check(dx is not None and same(dx, tensors[prefix + ".dx"]),
                  prefix + ": dx")
            check("dcos" in results and "dsin" in results,
                  prefix + ": dcos and dsin come with x")
    path = os.path.join(folder, "cached.safetensors")
    tensors, metadata = read(path)
    for case in json.loads(metadata["cases"]):
        prefix = case["case"]
        args = ["cached", "--prefix", prefix, "-i", path, "--head-size",
                str(case["head_size"]), "--style",
                "neox" if case["neox"] else "gptj", "--axes", case["axes"]]
        if case["sections"]:
            args += ["--sections", ",".join(map(str, case["sections"]))]
        results = program.results(prefix, *args)
        for name in ("query", "key"):
            got = results.get(name)
            check(got is not None and same(got, tensors["%s.%s_out" %
                                                        (prefix, name)]),
                  "%s: %s" % (prefix, name))


def floats(shape, values):
    return ("F32", shape, struct.pack("<%df" % len(values), *values))


def report_K8_no_other_rotation_instead(program, good, new):
    """What a command cannot do is refused, and not done by another rotation."""
    files = ["-i", good, "-o", new]
    program.refuses(2, "pairing", "rotate", *files)
    program.refuses(2, "pairing", "backward", *files)
    program.refuses(2, "style", "cached", "--head-size", "4", *files)
    for style in ("half", "quarter", "interleave-half"):
        program.refuses(2, "style", "cached", "--style", style, "--head-size",
                        "4", *files)
    program.refuses(2, "pairing", "cached", "--pairing", "interleave",
                    "--style", "neox", "--head-size", "4", *files)
    program.refuses(2, "slice", "rotate", "--pairing", "quarter", "--slice",
                    "0:2", *files)


def report_H9_rounded_once_or_at_each_step(program, folder):
    """A result of bf16 steps is told from the exact one, which cancels."""
    def numbers(values):
        bits = [struct.unpack("<I", struct.pack("<f", v))[0] for v in values]
        return ("BF16", [1, 2],
                struct.pack("<2H", *(b >> 16 for b in bits)))  # exact

    given = os.path.join(folder, "eager.safetensors")
    write(given, {"x": numbers([2.40625, -2.296875]),
                  "cos": numbers([5.9375] * 2), "sin": numbers([-6.21875] * 2)})
    result = os.path.join(folder, "eager_y.safetensors")
    write(result, {"y": numbers([0.0, -28.5])})  # each product rounded
    args = ["verify", "rotate", "--pairing", "half", "-i", given, "--result",
            result, "--json"]
    done = program.run(*args, "--reference", "eager-bf16", "--ulp", "0")
    check(done.returncode == 0, "eager bf16: %s" % done.stdout)
    done = program.run(*args)
    worst = json.loads(done.stdout)["outputs"]["y"]["worst_errors"][0]
    check(done.returncode == 1 and worst["got"] == 0 and
          worst["want"] == 0.00341796875, "exact: %s" % done.stdout)


def refusals(program, folder):
    good = os.path.join(folder, "good.safetensors")
    write(good, {"x": floats([1, 4], [1, 2, 3, 4]),
                 "cos": floats([1, 4], [0] * 4),
                 "sin": floats([1, 4], [1] * 4)})
    y = program.results("a quarter turn", "rotate", "--pairing", "half", "-i",
                        good).get("y")
    check(y is not None and y == floats([1, 4], [-3, -4, 1, 2]),
          "a quarter turn: y")

    kept = os.path.join(folder, "kept.safetensors")
    new = os.path.join(folder, "new.safetensors")
    with open(kept, "wb") as file:
        file.write(b"as it was")
    wide = os.path.join(folder, "wide.safetensors")
    write(wide, {"x": floats([1, 4], [1, 2, 3, 4]),
                 "cos": floats([1, 8], [0] * 8),
                 "sin": floats([1, 8], [1] * 8)})
    short = os.path.join(folder, "short.safetensors")
    with open(good, "rb") as file, open(short, "wb") as cut:
        cut.write(file.read()[:-3])
    lying = os.path.join(folder, "lying.safetensors")
    with open(lying, "wb") as file:
        file.write(struct.pack("<Q", 1 << 40) + b"{}")
    half = ["rotate", "--pairing", "half"]
    for target in (kept, new):
        program.refuses(1, "cos", *half, "-i", wide, "-o", target)
        program.refuses(1, "short", *half, "-i", short, "-o", target)
        program.refuses(1, "lying", *half, "-i", lying, "-o", target)
        program.refuses(1, "absent", *half, "-i", folder + "/absent", "-o",
                        target)
        program.refuses(2, "slice", *half, "--slice", "3:1", "-i", good, "-o",
                        target)
        program.refuses(1, "dy", "backward", "--pairing", "half", "-i", good,
                        "-o", target)
    with open(kept, "rb") as file:
        check(file.read() == b"as it was", "a refusal keeps the old file")
    check(not os.path.exists(new), "a refusal leaves no file")
    check(not [name for name in os.listdir(folder) if name.startswith(".")],
          "a refusal leaves no hidden file")

    program.refuses(2, "pairing", "rotate", "--pairing", "third", "-i", good,
                    "-o", new)
    program.refuses(2, "target", *half, "--target", "MMX", "-i", good, "-o",
                    new)
    program.refuses(2, "threads", *half, "--threads", "-1", "-i", good, "-o",
                    new)
    for args in ([], ["turn"], ["rotate", "-i", good, "-o", new],
                 [*half, "-o", new], [*half, "-i", good],
                 [*half, "-i", good, "-o", new, "--turns"],
                 [*half, "-i", good, "-o", new, "--slice", "0:2:4"],
                 [*half, "-i", good, "-o", new, "--slice", "a:b"],
                 ["cached", "--style", "neox", "-i", good, "-o", new],
                 ["bench", "--filter", "no such operator"]):
        program.refuses(2, "", *args)
    program.refuses(2, "--output", *half, "-i", good, "-o", folder + "/y.npz")
    program.refuses(1, "no/y", *half, "-i", good, "-o", folder + "/no/y")
    program.refuses(1, "a b", *half, "-i", folder + "/a\nb", "-o", new)
    program.refuses(1, '"p.x"', *half, "--prefix", "p", "-i", good, "-o", new)
    if os.path.exists("/dev/full"):
        program.refuses(1, "/dev/full", *half, "-i", good, "-o", "/dev/full")
        with open("/dev/full", "w") as full:
            done = program.run("info", stdout=full)
        check(done.returncode == 1 and len(done.stderr.splitlines()) == 1,
              "info to a full device")

    report_K8_no_other_rotation_instead(program, good, new)
    report_H9_rounded_once_or_at_each_step(program, folder)

    cache = os.path.join(folder, "cache.safetensors")
    write(cache, {"positions": ("I64", [3], struct.pack("<3q", 0, 3, 4)),
                  "query": floats([3, 2], [1] * 6),
                  "cache": floats([4, 2], [1, 0] * 4)})
    program.refuses(1, r"positions.*\b4\b.*positions\[2\] is 4", "cached",
                    "--style", "neox", "--head-size", "2", "-i", cache, "-o",
                    new)

    check(not os.path.exists(new), "a refusal leaves no file")
    done = program.run(*half, "-i", good, "-o", good)
    check(done.returncode == 0 and read(good)[0]["y"] == y,
          "writing over the input")


def write_npy(path, tensor):
    descr = {"F32": "<f4"}[tensor[0]]
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (
        descr, tuple(tensor[1]))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) +
                   text.encode() + tensor[2])


def helps(program, source, folder):
    """What the --help of each command shows works as it stands there."""
    os.symlink(os.path.join(source, "data"), os.path.join(folder, "data"))
    os.mkdir(os.path.join(folder, "folder"))
    x = floats([1, 4], [1, 2, 3, 4])
    write_npy(os.path.join(folder, "other_x.npy"), x)
    for name, value in (("x", 5), ("cos", 0), ("sin", 1)):
        write_npy(os.path.join(folder, "folder", name + ".npy"),
                  floats([1, 4], [value] * 4))
    for command in ("rotate", "backward", "cached", "info", "bench", "verify"):
        examples = re.findall(r"^ +ropewalk ((?:.*\\\n)*.*)$",
                              program.run(command, "--help").stdout, re.M)
        check(examples, "--help of %s has an example" % command)
        for example in examples:
            args = shlex.split(example)
            done = program.run(*args, folder=folder)
            check(done.returncode == 0 and done.stderr == "",
                  "%s: %s" % (example, done.stderr))
            check("-o" not in args or os.path.getsize(
                os.path.join(folder, args[args.index("-o") + 1])) > 0,
                  "%s: no result" % example)
    with open(os.path.join(folder, "y.npy"), "rb") as file:
        check(file.read().endswith(struct.pack("<4f", -3, -4, 1, 2)),
              "the result of arrays of NumPy")
    half = ["--pairing", "half", "-i", "data/smollm2_key.safetensors", "-o"]
    done = program.run("backward", *half, "gradients/", folder=folder)
    check(done.returncode == 0 and
          sorted(os.listdir(os.path.join(folder, "gradients"))) ==
          ["dcos.npy", "dsin.npy", "dx.npy"], "results in a folder")
    done = program.run("backward", *half, "one.npy", folder=folder)
    check(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and
          not os.path.exists(os.path.join(folder, "one.npy")),
          "several results to one array")


def targets(program, source):
    """The same bits with each target and number of threads."""
    data = os.path.join(source, "data", "smollm2_key.safetensors")
    args = ["backward", "--pairing", "half", "-i", data]
    want = program.results("backward", *args)
    usable = json.loads(program.run("info", "--json").stdout)["targets"]
    for target in usable["usable"]:
        got = program.results(target, *args, "--target", target)
        check(got == want, "the target %s has other bits" % target)
    for threads in ("1", "3"):
        got = program.results(threads, *args, "--threads", threads, "--quiet")
        check(got == want, "%s threads have other bits" % threads)


def words(program):
    for command in ([], ["rotate"], ["backward"], ["cached"], ["info"],
                    ["bench"], ["verify"], ["verify", "rotate"],
                    ["verify", "backward"], ["verify", "cached"]):
        done = program.run(*command, "--help")
        check(done.returncode == 0 and "ropewalk" in done.stdout,
              "--help of %s" % command)
    done = program.run("info", "--json")
    check(done.returncode == 0 and "targets" in json.dumps(
        json.loads(done.stdout)), "info --json")


def bench(program, folder):
    names = program.run("bench", "--list").stdout.splitlines()
    check(len(names) == len(set(names)) > 200, "bench --list")
    path = os.path.join(folder, "bench.json")
    done = program.run("bench", "--quick", "--group", "decode", "--json", path)
    check(done.returncode == 0 and "cached neox f32, decode" in done.stdout,
          "bench: %s" % done.stderr)
    with open(path) as file:
        written = json.load(file)
    check(written["schema"] == 1 and written["machine"]["cpu"] and
          written["build"]["compiler"] and written["build"]["commit"],
          "bench --json says where it ran")
    for row in written["results"]:
        check(row["group"] == "decode" and row["threads"] >= 1 and
              all(row[key]["p10"] <= row[key]["median"] <= row[key]["p90"]
                  for key in ("ns", "yardstick_ns", "fraction")) and
              "fraction" in row["goal"] and "reached" in row, row["work"])
    done = program.run("bench", "--quick", "--group", "plan", "--threads", "1",
                       "--json", "-")
    rows = json.loads(done.stdout)["results"]
    check([row["threads"] for row in rows] == [1] and "ns" in rows[0]["goal"],
          "bench --json -")


def main():
    path, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(path, scratch)
        words(program)
        refusals(program, scratch)
        source = os.path.abspath(os.path.join(folder, "..", ".."))
        with tempfile.TemporaryDirectory() as examples:
            helps(program, source, examples)
        targets(program, source)
        bench(program, scratch)
        golden(program, folder)
    print("%d faults" % len(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Counts the instructions of each work by callgrind, for an element of x.

Unlike seconds, counts repeat exactly. They are compared with those that
bench/instructions.json has for this compiler and target; where it has none they
are only shown. --update writes them there.

usage: instructions.py --program ropewalk-count --compiler "GCC 12.2.0"
                       [--update] TARGET...
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

COMMITTED = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "instructions.json")
TOLERANCE = 0.02
FUNCTION = "ropewalk_counted_run"


def total_of(text):
    """Instructions in one dump of callgrind."""
    found = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
    return int(found.group(1)) if found else None


def per_element(lines, totals):
    """Works and their counts: `lines` as the program prints them."""
    if len(lines) != len(totals):
        raise ValueError("%d works, but %d counts" % (len(lines), len(totals)))
    counts = {}
    for line, total in zip(lines, totals):
        elements, name = line.split(" ", 1)
        counts[name] = round(total / int(elements), 4)
    return counts


def count(program, target):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=" + FUNCTION,
             "--dump-after=" + FUNCTION, "--callgrind-out-file=" + out,
             program, target], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("instructions: %s\n%s" % (target, done.stderr[-2000:]))
        totals = []
        for number in range(1, len(glob.glob(out + ".*")) + 1):
            with open("%s.%d" % (out, number)) as file:
                totals.append(total_of(file.read()))
    return per_element(done.stdout.splitlines(), totals)


def faults(counted, committed):
    """What is not within the tolerance, or not in both, as lines of text."""
    lines = []
    for name in sorted(set(counted) | set(committed)):
        new, old = counted.get(name), committed.get(name)
        if old is None:
            lines.append("%s: %.3f, not in instructions.json" % (name, new))
        elif new is None:
            # Works with ", large" need a cache that they do not fit into.
            if not name.endswith(", large"):
                lines.append("%s: not counted any more" % name)
        elif abs(new - old) > TOLERANCE * old:
            lines.append("%s: %.3f an element, was %.3f (%+.1f %%)" %
                         (name, new, old, 100 * (new / old - 1)))
    return lines


def read():
    if not os.path.exists(COMMITTED):
        return {}
    with open(COMMITTED) as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("targets", nargs="+")
    arguments = parser.parse_args()
    committed = read()
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = list(pool.map(lambda target: count(arguments.program, target),
                               arguments.targets))
    for target, counted in zip(arguments.targets, counts):
        of_target = committed.setdefault(arguments.compiler, {})
        if arguments.update:
            of_target[target] = counted
            print("%s, %s: %d works counted" %
                  (arguments.compiler, target, len(counted)))
        elif target not in of_target:
            print("%s, %s: nothing to compare with" %
                  (arguments.compiler, target))
            for name, value in counted.items():
                print("  %7.3f  %s" % (value, name))
        else:
            lines = faults(counted, of_target[target])
            wrong += len(lines)
            print("%s, %s: %d works, %d differ by more than %.0f %%" %
                  (arguments.compiler, target, len(counted), len(lines),
                   100 * TOLERANCE))
            print("".join("  %s\n" % line for line in lines), end="")
    if arguments.update:
        with open(COMMITTED, "w") as file:
            json.dump(committed, file, indent=1, sort_keys=True)
            file.write("\n")
    if wrong:
        print("If this is meant, `make instructions` takes the new counts.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compiles and runs the examples of the documents, and follows their links.

A fenced block under a line "<!-- run -->" is run: sh by bash in a folder like
the source folder with a build in it, cpp as a program linked with the library.
Both must end with 0.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^<!-- run -->\n+```(\w+)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def documents():
    folders = [ROOT, *(ROOT / name for name in ("docs", "docs/ops"))]
    return sorted(path for folder in folders for path in folder.glob("*.md"))


def broken_links(path):
    for link in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" not in link and not (path.parent / link).exists():
            yield link


def command_of(language, code, folder, args):
    """The shell command that runs a block in `folder`."""
    if language == "sh":
        return "set -euo pipefail\n" + code
    (folder / "example.cc").write_text(code, encoding="utf-8")
    library = args.library.resolve()
    return (f"{args.compiler} -std=c++20 -Wall -Wextra -Werror example.cc "
            f"-o example -I '{ROOT}/include' '{library}' "
            f"-Wl,-rpath,'{library.parent}' -pthread && ./example")


def run(language, code, args):
    """The output of a block that failed, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("data", "tests"):
            (folder / part).symlink_to(ROOT / part)
        (folder / "build").mkdir()
        (folder / "build/bin").symlink_to(args.bin.resolve())
        done = subprocess.run(
            ["bash", "-c", command_of(language, code, folder, args)],
            cwd=folder, text=True, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=pathlib.Path, required=True,
                        help="folder of the program ropewalk")
    parser.add_argument("--library", type=pathlib.Path, required=True,
                        help="libropewalk.so")
    parser.add_argument("--compiler", default="c++")
    args = parser.parse_args()
    wrong = blocks = 0
    for path in documents():
        name = path.relative_to(ROOT)
        for link in broken_links(path):
            wrong += 1
            print(f"{name}: no such file: {link}")
        text = path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            blocks += 1
            output = run(block.group(1), block.group(2), args)
            if output is not None:
                wrong += 1
                line = text.count("\n", 0, block.start()) + 1
                print(f"{name}:{line}: this example failed:\n{output}")
    print(f"check_docs: {blocks} examples run, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

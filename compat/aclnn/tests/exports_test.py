#!/usr/bin/env python3
"""The library exports exactly the functions that its headers declare.

    exports_test.py INCLUDE_DIR LIBRARY NM
"""

import pathlib
import re
import subprocess
import sys


def declared(include):
    """Names of functions: a word before a bracket, after the export macro."""
    names = set()
    for path in pathlib.Path(include).rglob("*.h"):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        text = re.sub(r"^#.*$", "", text, flags=re.M)
        for match in re.finditer(
                r"\b(?:ACL_FUNC_VISIBILITY|ACLNN_API)\b[^;(]*?(\w+)\s*\(",
                text):
            names.add(match.group(1))
    return names


def exported(library, nm):
    output = subprocess.run([nm, "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines()}


def main():
    include, library, nm = sys.argv[1:]
    want = declared(include)
    have = exported(library, nm)
    assert len(want) > 100, sorted(want)
    missing = sorted(want - have)
    extra = sorted(have - want)
    if missing or extra:
        sys.exit(f"not exported: {missing}\nnot declared: {extra}")
    print(f"{len(want)} functions, and no other symbol")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compiles each public header alone as C++11, C++20 and C99.

    headers_test.py INCLUDE_DIR CXX CC
"""

import pathlib
import subprocess
import sys

FLAGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def main():
    include, cxx, cc = sys.argv[1:]
    headers = [str(path) for path in pathlib.Path(include).rglob("*.h")]
    assert len(headers) > 20, headers
    for compiler, language, standard in (
        (cxx, "c++", "c++11"),
        (cxx, "c++", "c++20"),
        (cc, "c", "c99"),
    ):
        print(f"{len(headers)} headers as {standard}")
        subprocess.run(
            [compiler, *FLAGS, f"-std={standard}", "-I", include, "-x",
             language, *headers],
            check=True)


if __name__ == "__main__":
    main()

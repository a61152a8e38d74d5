#!/usr/bin/env python3
"""A part of a document is what a program prints.

    tools/check_made.py NAME PROGRAM DOCUMENT [--write]

The part stands between <!-- NAME: ... --> and <!-- end of NAME -->. With
--write it is replaced.
"""

import pathlib
import re
import subprocess
import sys


def main():
    name, program, path = sys.argv[1:4]
    made = subprocess.run([program], check=True, capture_output=True,
                          text=True).stdout
    document = pathlib.Path(path)
    text = document.read_text(encoding="utf-8")
    part = re.search(f"(?s)(<!-- {name}:[^\n]*-->\n)(.*?)(<!-- end of {name} "
                     "-->\n)", text)
    if part is None:
        sys.exit(f"{path}: has no part {name}")
    if sys.argv[4:] == ["--write"]:
        document.write_text(text[:part.start()] + part[1] + "\n" + made +
                            "\n" + part[3] + text[part.end():],
                            encoding="utf-8")
    elif part[2].strip() != made.strip():
        sys.exit(f"{path}: the part {name} is out of date; run\n"
                 f"  {sys.argv[0]} {name} {program} {path} --write\n"
                 f"It should be:\n{made}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The table in docs/aclnn.md is the one that the checks use.

    docs_test.py PRINT_RULES DOCUMENT [--write]
"""

import pathlib
import subprocess
import sys

BEGIN = "<!-- rules: made by compat/aclnn/tests/docs_test.py --write -->\n"
END = "<!-- end of rules -->\n"


def main():
    program, name = sys.argv[1:3]
    table = subprocess.run([program], check=True, capture_output=True,
                           text=True).stdout
    document = pathlib.Path(name)
    text = document.read_text()
    begin = text.index(BEGIN) + len(BEGIN)
    end = text.index(END)
    if sys.argv[3:] == ["--write"]:
        document.write_text(text[:begin] + "\n" + table + "\n" + text[end:])
    elif text[begin:end].strip() != table.strip():
        sys.exit(f"{name}: the table of rules is out of date; run\n"
                 f"  {sys.argv[0]} {program} {name} --write")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes docs/reports.md: which report is checked by which test.

list.json has the reports. The names of tests begin with the numbers of what
they check: TEST(Report, B3_B4_TheTailIsCopied), def report_K8_no_default().
Rows of `ropewalk bench` name theirs as "report": {.report = "O8"}.
With --check nothing is written, and it fails if the page is not current, or if
a report has neither a test nor a reason in list.json, or has both.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reports.md"

CXX = re.compile(r"TEST(?:_F)?\(\s*(\w*Report\w*),\s*(\w+?)\)")
PYTHON = re.compile(r"def ((?:test_)?report)_(\w+)\(")
BENCH = re.compile(r"\.report = \"([\w ]+)\"")
NUMBER = re.compile(r"[A-P]\d+")

GROUPS = {
    "A": "Pairings", "B": "Partial widths and slices",
    "C": "Several axes of positions", "D": "Positions",
    "E": "Strides, views, in place", "F": "Shapes and broadcast",
    "G": "Large tensors", "H": "Numbers and dtypes", "I": "Gradients",
    "J": "Same results in every run", "K": "Frameworks",
    "L": "Packed sequences", "M": "Scaled frequencies",
    "N": "Tables that are kept", "O": "Speed", "P": "Use, messages, documents",
}

HEAD = """# Reports of users, and where they are checked

What users of RoPE kernels reported in public, and the tests of this repository that fail if it
happens here. Numbers are ours. `tests/reports/list_reports.py` makes this page of the names of
the tests, and a test checks that it is current.

"""


def found():
    """Number of a report -> the tests that name it, in order."""
    tests = {}

    def add(name, where):
        for part in name.split("_"):
            if not NUMBER.fullmatch(part):
                break
            tests.setdefault(part, []).append(where)

    for room in ("tests", "compat", "python", "bench"):
        for path in sorted((ROOT / room).rglob("*")):
            if path.suffix not in (".cc", ".h", ".py") or path == \
                    pathlib.Path(__file__).resolve():
                continue
            text = path.read_text(encoding="utf-8")
            file = path.relative_to(ROOT).as_posix()
            for _, name in CXX.findall(text):
                add(name, (file, name))
            for kind, name in PYTHON.findall(text):
                add(name, (file, f"{kind}_{name}"))
            for names in BENCH.findall(text):
                add(names.replace(" ", "_"), ("bench/works.cc",
                                              "ropewalk bench"))
    return tests


def cell(text):
    return re.sub(r"([|<>])", r"\\\1", text)


def page(reports, tests):
    lines = [HEAD]
    group = None
    for report in reports:
        if report["id"][0] != group:
            group = report["id"][0]
            lines.append(f"\n## {group}. {GROUPS[group]}\n\n"
                         "| | report | checked by |\n|---|---|---|\n")
        links = ", ".join(f"[{i + 1}]({url})"
                          for i, url in enumerate(report["refs"]))
        where = dict.fromkeys(tests.get(report["id"], []))
        by = "<br>".join(f"[{name}](../{file})" for file, name in where)
        if "test" in report:
            by = f"the test `{report['test']}`"
        if not by:
            by = "not yet: " + report["pending"]
        what = cell(report["what"]) + (f" {links}" if links else "")
        lines.append(f"| {report['id']} | {what} | {by} |\n")
    return "".join(lines).replace("\n\n\n", "\n\n")


def main():
    reports = json.loads((pathlib.Path(__file__).parent / "list.json")
                         .read_text(encoding="utf-8"))
    tests = found()
    known = {report["id"] for report in reports}
    faults = [f"{name}: is in no list" for name in tests if name not in known]
    for report in reports:
        checked = report["id"] in tests or "test" in report
        if checked == ("pending" in report):
            faults.append(f"{report['id']}: needs a test, or a reason in "
                          "list.json, and not both")
    if not faults:
        text = page(reports, tests)
        if "--check" not in sys.argv:
            PAGE.write_text(text, encoding="utf-8")
        elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            faults.append("docs/reports.md is not current: run "
                          "tests/reports/list_reports.py")
    for fault in faults:
        print(fault)
    left = sum("pending" in report for report in reports)
    print(f"{len(reports)} reports, {len(reports) - left} checked")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

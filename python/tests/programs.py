"""Runs examples: programs, and the code in documents."""

import re
import subprocess
import sys

import golden

EXAMPLES = golden.ROOT / "examples/python"


def run(*arguments):
    return subprocess.run([sys.executable, "-W", "error", *arguments],
                          text=True, check=False, capture_output=True,
                          cwd=golden.ROOT)


def blocks_of(document, language):
    text = (golden.ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def check_document(document):
    blocks = blocks_of(document, "python")
    assert blocks
    for code in blocks:
        done = run("-c", code)
        assert done.returncode == 0, done.stderr

"""The programs of examples/python, and the example of README.md."""

import importlib.util
import re
import subprocess
import sys

import golden
import pytest

EXAMPLES = golden.ROOT / "examples/python"
NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None,
                                 reason="torch is not installed")


def run(*arguments):
    return subprocess.run([sys.executable, "-W", "error", *arguments],
                          text=True, check=False, capture_output=True,
                          cwd=golden.ROOT)


@pytest.mark.parametrize("name", (
    "numpy_rotate.py",
    pytest.param("torch_training.py", marks=NEEDS_TORCH),
    *(pytest.param(f"{name}_names.py", marks=NEEDS_TORCH)
      for name in ("torch_npu", "flash_attn", "vllm"))))
def test_example(name):
    done = run(EXAMPLES / name)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_check_dump():
    file = golden.ROOT / "data/smollm2_query.safetensors"
    done = run(EXAMPLES / "check_dump.py", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("100.00%") == 2
    done = run(EXAMPLES / "check_dump.py", "--pairing", "interleave", file)
    assert done.returncode == 1 and not done.stderr


def blocks_of(document, language):
    text = (golden.ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@NEEDS_TORCH
@pytest.mark.parametrize("document", ("README.md", "docs/python.md",
                                      "docs/dropin.md"))
def test_documents(document):
    blocks = blocks_of(document, "python")
    assert blocks
    for code in blocks:
        done = run("-c", code)
        assert done.returncode == 0, done.stderr


@NEEDS_TORCH
def test_command_of_the_readme():
    command, = (block for block in blocks_of("README.md", "sh")
                if block.startswith("python -c"))
    done = subprocess.run(
        ["bash", "-c", command.replace("python", sys.executable, 1)],
        text=True, check=False, capture_output=True)
    assert done.returncode == 0 and "[1, 8, 16, 64]" in done.stdout, done


def test_importing_needs_no_torch():
    done = run("-c", "import sys, ropewalk; assert 'torch' not in sys.modules")
    assert done.returncode == 0, done.stderr

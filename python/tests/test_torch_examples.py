"""The examples that need torch."""

import subprocess
import sys

import pytest
from programs import EXAMPLES, blocks_of, check_document, run


@pytest.mark.parametrize("name", ("training", "npu_names"))
def test_torch(name):
    done = run(EXAMPLES / f"torch_{name}.py")
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("name", ("flash_attn", "vllm"))
def test_names(name):
    done = run(EXAMPLES / f"{name}_names.py")
    assert done.returncode == 0 and done.stdout, done.stderr


@pytest.mark.parametrize("document", ("docs/python.md", "docs/dropin.md"))
def test_documents(document):
    check_document(document)


def test_command_of_the_readme():
    command, = (block for block in blocks_of("README.md", "sh")
                if block.startswith("python -c"))
    done = subprocess.run(
        ["bash", "-c", command.replace("python", sys.executable, 1)],
        text=True, check=False, capture_output=True)
    assert done.returncode == 0 and "[1, 8, 16, 64]" in done.stdout, done

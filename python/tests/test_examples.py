"""The examples that need NumPy only."""

import golden
from programs import EXAMPLES, check_document, run


def test_numpy():
    done = run(EXAMPLES / "numpy_rotate.py")
    assert done.returncode == 0 and done.stdout, done.stderr


def test_check_dump():
    file = golden.ROOT / "data/smollm2_query.safetensors"
    done = run(EXAMPLES / "check_dump.py", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("100.00%") == 2
    done = run(EXAMPLES / "check_dump.py", "--pairing", "interleave", file)
    assert done.returncode == 1 and not done.stderr


def test_readme():
    check_document("README.md")


def test_importing_needs_no_torch():
    done = run("-c", "import sys, ropewalk; assert 'torch' not in sys.modules")
    assert done.returncode == 0, done.stderr

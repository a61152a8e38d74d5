"""ropewalk.sharding, in several processes of this machine."""

import os
import subprocess
import sys

import golden
import pytest


def torchrun(processes, program):
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone",
         f"--nproc-per-node={processes}", "python/tests/process.py", program],
        text=True, check=False, capture_output=True, cwd=golden.ROOT,
        timeout=300, env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("processes", (2, 4))
def test_sharded_is_whole(processes):
    assert "all the same" in torchrun(processes, "python/tests/sharded.py")


@pytest.mark.parametrize("processes", (2, 4))
def test_example(processes):
    output = torchrun(processes, "examples/python/torch_sharding.py")
    assert "in one process" in output

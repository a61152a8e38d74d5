#!/usr/bin/env python3
"""Installs torch by pip as it is set up, and says before what that downloads.

Run by the Python that torch is for. With --cpu-only it installs nothing and
ends with 1 if all that pip has is a build for GPUs, which is many times larger.
"""

import argparse
import json
import os
import subprocess
import sys
import urllib.parse
import urllib.request

TORCH = "torch==2.13.0"


def plan():
    """pip's report of what it would install."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet",
         "--disable-pip-version-check", "--report", "-", TORCH],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None, done.stderr
    return json.loads(done.stdout)["install"], ""


def size(url):
    """Bytes behind the address, or 0 if nobody says."""
    parts = urllib.parse.urlsplit(url)
    try:
        if parts.scheme == "file":
            return os.path.getsize(urllib.request.url2pathname(parts.path))
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.headers.get("Content-Length", 0))
    except (OSError, ValueError):
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu-only", action="store_true")
    args = parser.parse_args()
    packages, why = plan()
    if packages is None:
        print(f"torch_wheel: pip cannot install {TORCH}:\n{why}",
              file=sys.stderr)
        return 1
    names = [package["metadata"]["name"].lower() for package in packages]
    for_gpus = any(name.startswith(("nvidia", "triton", "pytorch-triton"))
                   for name in names)
    if for_gpus and args.cpu_only:
        return 1
    total = sum(size(package["download_info"]["url"]) for package in packages)
    print(f"torch_wheel: {TORCH} and what it needs, {len(packages)} packages, "
          f"{total / 2**20:.0f} MiB"
          + (", built for GPUs, too" if for_gpus else ", for CPUs"), flush=True)
    return subprocess.run([sys.executable, "-m", "pip", "install", "--quiet",
                           "--disable-pip-version-check", TORCH],
                          check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

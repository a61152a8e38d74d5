"""Checks tensors dumped by another implementation against ropewalk.

    pip install ropewalk ml_dtypes safetensors && python check_dump.py FILE

FILE is a .safetensors file with x, cos, sin and y, and perhaps dy and dx, as
the program `ropewalk` reads and writes them.
"""

import argparse
import sys

import ml_dtypes  # noqa: F401, so that NumPy knows bfloat16
import numpy as np
from safetensors.numpy import load_file

import ropewalk


def compare(name, theirs, ours):
    """True if they are equal but for the rounding of their dtype."""
    allowed = {2: 2.0**-7, 4: 2.0**-22, 8: 2.0**-50}[ours.dtype.itemsize]
    theirs, ours = theirs.astype(np.float64), ours.astype(np.float64)
    error = np.abs(theirs - ours)
    worst = np.unravel_index(error.argmax(), error.shape)
    equal = np.mean(theirs == ours)
    print(f"{name}: {equal:.2%} of {ours.size} numbers are equal; the largest "
          f"difference is {error.max():.3g}, at {tuple(map(int, worst))}")
    return bool(error.max() <= allowed * np.abs(ours).max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--pairing", default="half")
    args = parser.parse_args()
    t = load_file(args.file)
    good = compare("y", t["y"], ropewalk.rotate(
        t["x"], t["cos"], t["sin"], pairing=args.pairing))
    if "dy" in t and "dx" in t:
        good &= compare("dx", t["dx"], ropewalk.rotate_backward(
            t["dy"], t["cos"], t["sin"], pairing=args.pairing))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

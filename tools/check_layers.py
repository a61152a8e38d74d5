#!/usr/bin/env python3
"""Checks what each room (folder) of the source tree includes.

The table is the rule: a room may include its own headers, the C++ standard
library, and what stands beside its name here. Tests may include anything.
"""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Headers of the system, which only rooms at the edge need.
POSIX = ["*.h", "sys/*.h", "linux/*.h"]
PROGRAM = ["ropewalk/*", "io/*", "bench/*", "CLI/*", "fmt/*", "nlohmann/*"]

# A name is a folder, or a file without its suffix.
ROOMS = {
    # The public headers: nothing but C++.
    "include/ropewalk": ["ropewalk/*"],
    "include/ropewalk.h": ["stddef.h", "stdint.h", "ropewalk/export.h"],
    # Values. No SIMD, no threads.
    "src/core": ["ropewalk/status.h", "ropewalk/tensor.h", "ropewalk/ops.h",
                 "ropewalk/version.h", "fcntl.h", "unistd.h"],
    # Meaning: checks, and which rotation it is. Sees no kernel, no thread.
    "src/ops": ["ropewalk/*", "core/*", "plan/problem.h", "plan/plan.h",
                "plan/lower.h", "plan/impl.h"],
    # Geometry. Reaches kernels through one door, knows no operator's rules.
    "src/plan": ["core/*", "kernels/row_kernel.h", "targets/allowed.h",
                 "ropewalk/*"],
    # Arithmetic. All that is compiled for each SIMD target.
    "src/kernels": ["core/dtype.h", "core/pairing.h", "core/float16.h",
                    "hwy/*", "ropewalk/ops.h", "ropewalk/tensor.h"],
    "src/exec": ["ropewalk/executor.h", "ropewalk/status.h",
                 "hwy/contrib/thread_pool/*"] + POSIX,
    "src/targets": ["ropewalk/targets.h", "ropewalk/status.h",
                    "hwy/targets.h", "hwy/highway.h"],
    # Judges results from elsewhere: a client of the public interface and of
    # the plain reference. No SIMD, no threads of its own.
    "src/verify": ["ropewalk/*", "core/*", "kernels/reference.h"],
    # The C API: a client that lives in the library.
    "src/capi": ["ropewalk.h", "ropewalk/*"],
    # The clients: the public interface, like any stranger.
    "io": ["ropewalk/*", "nlohmann/*"] + POSIX,
    # What cli, demo and bench share. Only the copy, the yardstick of speed,
    # is written with SIMD.
    "bench": PROGRAM + POSIX,
    "bench/copy": ["ropewalk/executor.h", "hwy/*"],
    "cli": PROGRAM + POSIX,
    "demo": PROGRAM + POSIX,
    "python": ["ropewalk/*", "nanobind/*", "nanobind/stl/*"],
    "compat/aclnn": ["ropewalk/*", "acl/*", "aclnn/*", "aclnnop/*"] + POSIX,
}

# What a room must not use though the table above would let it through.
BANNED = {
    "src/kernels": ["iostream", "thread", "mutex", "stdexcept"],
    "src/core": ["thread", "mutex", "iostream"],
    "src/ops": ["thread", "mutex", "iostream"],
    "src/plan": ["iostream"],
    "src/verify": ["thread", "mutex", "iostream"],
    "include/ropewalk": ["iostream"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def room_of(path):
    """The room in which `path` (relative to the root) lies, or None."""
    if path.name.endswith("_test.cc") or "tests" in path.parts:
        return None
    for room in sorted(ROOMS, key=len, reverse=True):
        if path.is_relative_to(room) or path.with_suffix("") == \
                pathlib.Path(room):
            return room
    return None


def is_own(room, path, name):
    """Whether the header `name` lies in the room that includes it."""
    folder = pathlib.Path(room)
    places = [ROOT / path.parent, ROOT, ROOT / "src", ROOT / "include",
              ROOT / folder, ROOT / folder / "include", ROOT / folder / "src"]
    for place in places:
        if (place / name).is_file():
            return room_of((place / name).relative_to(ROOT)) == room
    return False


def allowed(room, path, name):
    if any(fnmatch.fnmatchcase(name, ban) for ban in BANNED.get(room, [])):
        return False
    if "/" not in name and "." not in name:  # the C++ standard library
        return True
    if is_own(room, path, name):
        return True
    # "*" must not reach over a slash, or "*.h" would be every header.
    return any(fnmatch.fnmatchcase(name, rule)
               and (rule.endswith("/*") or name.count("/") == rule.count("/"))
               for rule in ROOMS[room])


def main():
    wrong = files = 0
    for path in sorted(ROOT.rglob("*")):
        if path.suffix not in (".h", ".cc", ".c", ".inc"):
            continue
        path = path.relative_to(ROOT)
        room = room_of(path)
        if room is None:
            continue
        files += 1
        text = (ROOT / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            found = INCLUDE.match(line)
            if found and not allowed(room, path, found.group(1)):
                wrong += 1
                print(f"{path}:{number}: {room} may not include "
                      f"{found.group(1)}")
    if wrong:
        print(f"{wrong} includes against the table in tools/check_layers.py")
    else:
        print(f"check_layers: {files} files, all includes allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

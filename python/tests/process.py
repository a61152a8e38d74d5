"""Runs a program as one of several processes: process.py PROGRAM [ARGUMENT]...

Such a program has done all and closed its process group, and yet may be ended
by std::terminate: DTensor's caches keep gloo's threads (torch 2.13), and one
that lets go of a tensor while Python ends finds no interpreter. So what follows
the program's last line is left out; an exception in it counts as ever.
"""

import os
import runpy
import sys

del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
sys.stdout.flush()
os._exit(0)

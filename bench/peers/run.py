#!/usr/bin/env python3
"""Measures ropewalk and its peers, and writes what was found.

  bench/results/MACHINE.json   all figures
  bench/results/*.png          pictures
  README.md                    table and pictures between two marks;
                               with --no-readme it is left alone

--from FILE only makes table and pictures, from figures that are there.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import report

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Memory is used again and not given back, else page faults of new results are
# what is seen of eager PyTorch; pages are ordinary ones, as ropewalk's are.
ENVIRONMENT = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(256 << 20),
    "NUMPY_MADVISE_HUGEPAGE": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


def slug(machine):
    """A file's name for a machine: "amd-epyc-2-cpus"."""
    text = "%s %d cpus" % (machine["cpu"], machine["cpus"])
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def native(build, quick):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "native.json")
        command = [str(build / "bin/ropewalk"), "bench", "--json", path]
        subprocess.run(command + ["--quick"] * quick, check=True,
                       stdout=subprocess.DEVNULL)
        with open(path) as file:
            return json.load(file)


def show(bar, line):
    if line.startswith("#"):
        bar.write(line[2:])
        return
    word, case = line.split(" ", 1)
    bar.set_description("%-7s %-38s" % (word, case))
    bar.update(0.5)


def with_peers(build, threads, cache_bytes, seconds, quick):
    from tqdm import tqdm
    import cases
    environment = dict(os.environ, **ENVIRONMENT,
                       OMP_NUM_THREADS=str(threads),
                       TORCHINDUCTOR_CACHE_DIR=str(build / "inductor"))
    command = [sys.executable, str(HERE / "worker.py"),
               "--library", str(build / "lib"), "--threads", str(threads),
               "--cache-bytes", str(cache_bytes), "--seconds", str(seconds)]
    with tempfile.TemporaryFile("w+") as out, subprocess.Popen(
            command + ["--quick"] * quick, stdout=out, env=environment,
            stderr=subprocess.PIPE, text=True) as worker:
        steps = len(cases.all_cases(quick))
        log = []
        with tqdm(total=steps, unit="case", dynamic_ncols=True,
                  bar_format="{desc} {bar} {n:.0f}/{total}") as bar:
            for line in worker.stderr:
                log.append(line)
                if re.match(r"(# |prepare |measure )", line):
                    show(bar, line.rstrip())
        if worker.wait() != 0:
            sys.exit("".join(log[-30:]))
        out.seek(0)
        return json.load(out)


def measure(build, quick):
    start = time.monotonic()
    print("ropewalk against a copy", flush=True)
    found = {"schema": 1, "native": native(build, quick)}
    seconds = time.monotonic() - start
    cache = found["native"]["machine"]["cache_bytes"]
    last_level = cache["l3"] or cache["l2"]
    peers = {"versions": {}, "results": []}
    for threads in sorted({row["threads"] for row in found["native"]["results"]}):
        print("with peers, %d threads (peers compile before they are measured)"
              % threads, flush=True)
        part = with_peers(build, threads, last_level, 25 if quick else 150,
                          quick)
        peers["versions"].update(part["versions"])
        peers["results"] += part["results"]
        seconds += part["seconds"]
    found["peers"] = peers
    found["seconds"] = round(seconds, 1)
    return found


def text_of(found):
    """JSON with four digits a number and a row a line."""
    def shorter(value):
        if isinstance(value, float):
            return float("%.4g" % value)
        if isinstance(value, dict):
            return {key: shorter(each) for key, each in value.items()}
        if isinstance(value, list):
            return [shorter(each) for each in value]
        return value
    text = json.dumps(shorter(found), separators=(",", ":"))
    return re.sub(r'([\[,])(?={"(?:work|case)")', r"\1\n", text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--out", type=pathlib.Path,
                        default=ROOT / "bench/results")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    parser.add_argument("--no-readme", action="store_true")
    arguments = parser.parse_args()
    if arguments.source:
        found = json.loads(arguments.source.read_text(encoding="utf-8"))
    else:
        found = measure(arguments.build.resolve(), arguments.quick)
    report.check(found)
    arguments.out = arguments.out.resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / (slug(found["native"]["machine"]) + ".json")
    if arguments.source is None:
        path.write_text(text_of(found), encoding="utf-8")
        print("measured for %d s: %s" % (found["seconds"], path))
    print(report.summary(found))
    import pictures
    drawn = pictures.draw(found, arguments.out)
    for picture in drawn:
        print("drawn: %s" % picture)
    if not arguments.no_readme:
        links = [picture.relative_to(ROOT) for picture in drawn]
        report.into_readme(ROOT / "README.md",
                           report.table(found) + report.pictures(links))


if __name__ == "__main__":
    main()

"""Measures all cases with all peers on a number of threads, by turns.

Started by run.py, in a process of its own for each number of threads, as most
peers fix theirs at start. Writes JSON to standard output, and a line for each
step to standard error.
"""

import argparse
import json
import random
import statistics
import sys
import time

import cases
import native

PAUSE = 0.004  # peers' idle threads spin for a while after a call
SAMPLE_SECONDS = 0.003
MAX_CALLS = 20000
WRONG = 0.05  # an error of this part of the terms is no rounding


def say(text):
    print(text, file=sys.stderr, flush=True)


def peers_of(library, threads):
    """All that can be imported. Torch first: it sets the threads of OpenMP."""
    found = [native.Ropewalk(library)]
    try:
        import torch
        import torch_peers
        torch.set_num_threads(threads)
        found += [torch_peers.Eager(), torch_peers.InductorUsual(),
                  torch_peers.InductorSplit()]
        found.append(torch_peers.RopewalkTorch())
    except ImportError as error:
        say("# left out: torch, or ropewalk.torch: %s" % error)
    import other_peers
    for kind in (other_peers.OnnxRuntime, other_peers.Mlx,
                 other_peers.OpenVino):
        try:
            found.append(kind(threads))
        except ImportError as error:
            say("# left out: %s: %s" % (kind.name, error))
    return found


class Contender:
    """A peer that is ready to run a case."""

    def __init__(self, peer, prepared, wrong, largest):
        self.peer, self.call = peer, prepared[0]
        self.prepared = prepared  # it owns the memory
        self.wrong, self.largest = wrong, largest
        self.calls = calls_per_sample(self.sample)
        self.ns, self.fractions, self.copy_ns = [], [], []

    def sample(self, calls):
        call = self.call
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        return (time.perf_counter_ns() - start) / calls


def calls_per_sample(sample):
    sample(1)
    ns = max(sample(1), 100)
    return int(min(max(SAMPLE_SECONDS * 1e9 / ns, 1), MAX_CALLS))


def ready(peers, data):
    """Those that do the case, and do it right."""
    want = cases.expected(data)
    contenders = []
    for peer in peers:
        try:
            prepared = peer.prepare(data)
        except Exception as error:  # pylint: disable=broad-except
            lines = str(error).strip().splitlines() or [repr(error)]
            say("# %s, %s: %s" % (data.case.name, peer.name, lines[0]))
            continue
        if prepared is None:
            continue
        wrong, largest = cases.judge(prepared[1](), want, data.case)
        if largest > WRONG:
            say("# %s, %s: wrong, by %.2g of the terms: not timed" %
                (data.case.name, peer.name, largest))
            continue
        contenders.append(Contender(peer, prepared, wrong, largest))
    return contenders


def measure(contenders, yardstick, rounds, seconds):
    """Rounds in any order. Each sample follows a copy, and each copy a call of
    the peer that is not counted, so that both find the caches alike."""
    def copy(times):
        start = time.perf_counter_ns()
        yardstick.run(times)
        return (time.perf_counter_ns() - start) / times
    copies = calls_per_sample(copy)
    start = time.monotonic()
    for done in range(rounds):
        if done >= 3 and time.monotonic() - start > seconds:
            break
        for one in random.sample(contenders, len(contenders)):
            time.sleep(PAUSE)
            one.sample(1)
            one.copy_ns.append(copy(copies))
            one.ns.append(one.sample(one.calls))
            one.fractions.append(one.copy_ns[-1] / one.ns[-1])


def quantiles(values):
    ordered = sorted(values)
    at = lambda q: ordered[round(q * (len(ordered) - 1))]
    return {"p10": at(0.1), "median": statistics.median(ordered),
            "p90": at(0.9)}


def row_of(case, threads, one):
    copy_ns = statistics.median(one.copy_ns)
    return {"case": case.name, "op": case.op, "kind": case.kind,
            "threads": threads, "peer": one.peer.name,
            "ns": quantiles(one.ns), "fraction": quantiles(one.fractions),
            "bytes": case.bytes, "copy_gb_per_s": case.bytes / copy_ns,
            "rounds": len(one.ns), "wrong_share": one.wrong,
            "largest_error": one.largest}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--cache-bytes", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    library = native.Library(arguments.library, arguments.threads)
    peers = peers_of(library, arguments.threads)
    chosen = cases.all_cases(arguments.quick)
    rows = []
    measured = 0.0
    for case in chosen:
        say("prepare %s" % case.name)
        data = cases.Data(case)
        yardstick = native.Yardstick(library, case, arguments.cache_bytes)
        contenders = ready(peers, data)
        say("measure %s" % case.name)
        start = time.monotonic()
        measure(contenders, yardstick, 5 if arguments.quick else 15,
                arguments.seconds / len(chosen))
        measured += time.monotonic() - start
        rows += [row_of(case, arguments.threads, one) for one in contenders]
    json.dump({"versions": {peer.name: peer.version for peer in peers},
               "seconds": round(measured, 1), "results": rows}, sys.stdout)


if __name__ == "__main__":
    main()

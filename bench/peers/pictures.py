"""Pictures of the figures: fractions, sizes, threads, decode."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import report  # noqa: E402

# Okabe and Ito's colours, which the colour-blind can tell apart, each with a
# mark of its own.
LOOKS = {
    "ropewalk": ("#D55E00", "o"),
    "ropewalk.torch": ("#D55E00", "*"),
    "torch.compile, split": ("#0072B2", "s"),
    "torch.compile, usual": ("#56B4E9", "D"),
    "torch eager": ("#000000", "x"),
    "ONNX Runtime": ("#009E73", "^"),
    "OpenVINO": ("#CC79A7", "v"),
    "MLX": ("#E69F00", "P"),
}
WIDTH = 6.4  # inches: a phone's width at a size that can be read
plt.rcParams.update({
    "font.size": 13, "axes.titlesize": 13, "legend.fontsize": 11.5,
    "axes.spines.top": False, "axes.spines.right": False,
    "savefig.dpi": 150, "savefig.bbox": "tight"})


def save(figure, folder, name):
    path = folder / (name + ".png")
    figure.savefig(path)
    plt.close(figure)
    return path


def subtitle(found):
    native = found["native"]
    return "%s, %s, %s pages" % (native["machine"]["cpu"],
                                 native["build"]["target"],
                                 "4 KiB" if native["pages"] == "small"
                                 else "huge")


def words(case):
    return case.replace("rotate ", "").replace(", in cache", ", 1 MiB")


def legend_above(figure, axes, columns=2):
    handles = {}
    for axis in figure.axes:
        handles.update(zip(*reversed(axis.get_legend_handles_labels())))
    axes.legend(handles.values(), handles.keys(), ncols=columns,
                loc="lower left", bbox_to_anchor=(-0.5, 1.0),
                frameon=False, handletextpad=0.3, columnspacing=1.2)


def fractions(found, threads, folder):
    cases = {case: rows for case, rows in
             report.by_case(found, threads).items()
             if next(iter(rows.values()))["kind"] != "decode"}
    figure, axes = plt.subplots(figsize=(WIDTH, 1.6 + 0.5 * len(cases)))
    for row, peers in enumerate(cases.values()):
        axes.axhline(row + 0.5, color="0.85", zorder=0, linewidth=1)
        for place, (name, (colour, mark)) in enumerate(LOOKS.items()):
            if name not in peers:
                continue
            fraction = peers[name]["fraction"]
            at = row + 0.1 * (place - len(LOOKS) // 2)  # apart from others
            axes.plot([fraction["p10"], fraction["p90"]], [at, at],
                      color=colour, alpha=0.6, linewidth=1.5)
            axes.plot(fraction["median"], at, mark, color=colour,
                      markersize=9 if name == "ropewalk" else 7,
                      label=name, linestyle="none")
    axes.axvline(1, color="0.3", linestyle="--", linewidth=1)
    axes.set_yticks(range(len(cases)), [words(case) for case in cases])
    axes.set_ylim(len(cases) - 0.5, -0.5)
    axes.set_xlim(0, 1.3)
    axes.set_xlabel("fraction of a copy's speed, %d thread%s (line: p10 to "
                    "p90)\n%s" % (
        threads, "" if threads == 1 else "s", subtitle(found)))
    legend_above(figure, axes)
    return save(figure, folder, "fraction-%d-thread%s" % (
        threads, "" if threads == 1 else "s"))


def size_text(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return "%g %s" % (size, unit)
        size /= 1024
    return "%g TiB" % size


def sizes(found, folder):
    native = found["native"]
    rows = [row for row in native["results"] if row["group"] == "sizes"]
    if not rows:
        return None
    threads = max(row["threads"] for row in rows)
    figure, axes = plt.subplots(figsize=(WIDTH, 4.6))
    lines = (("f32", 1, "#D55E00", "o"), ("f32", threads, "#D55E00", "s"),
             ("bf16", 1, "#0072B2", "^"), ("bf16", threads, "#0072B2", "D"))
    for dtype, count, colour, mark in dict.fromkeys(lines):
        points = sorted((size_of(row), row["gb_per_s"]) for row in rows
                        if row["threads"] == count and
                        " %s " % dtype in row["work"])
        axes.plot(*zip(*points), color=colour, marker=mark,
                  linestyle="-" if count == 1 else "--",
                  label="%s, %d thread%s" % (dtype, count,
                                             "" if count == 1 else "s"))
    for count in dict.fromkeys((1, threads)):
        points = sorted((size_of(row), row["yardstick_gb_per_s"])
                        for row in rows if row["threads"] == count and
                        " f32 " in row["work"])
        axes.plot(*zip(*points), color="0.55", marker=".",
                  linestyle="-" if count == 1 else "--",
                  label="copy, %d thread%s" % (count,
                                               "" if count == 1 else "s"))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = [1 << shift for shift in range(14, 31, 4)]
    axes.set_xticks(ticks, [size_text(tick) for tick in ticks])
    axes.set_yticks([10, 20, 50, 100, 200, 500], [10, 20, 50, 100, 200, 500])
    axes.minorticks_off()
    top = axes.get_ylim()[1]
    for name, size in native["machine"]["cache_bytes"].items():
        # x and y fit together into a cache of twice the size of x.
        if size:
            axes.axvline(size / 2, color="0.6", linewidth=1, linestyle=":")
            axes.text(size / 2, top, name[:2].upper(), ha="center",
                      va="bottom", color="0.35")
    axes.set_xlabel("size of x (rotate half, BSND); x and y fill a cache at\n"
                    "the dotted lines. %s" % subtitle(found))
    axes.set_ylabel("read and written, GB/s")
    axes.legend(ncols=2, frameon=False, loc="lower left",
                bbox_to_anchor=(-0.05, 1.08))
    return save(figure, folder, "size")


def size_of(row):
    """Bytes of x, from the shape in the work's row."""
    dims = [int(text) for text in row["shape"].split("x")]
    count = 1
    for dim in dims:
        count *= dim
    return count * (4 if " f32 " in row["work"] else 2)


SCALED = ("rotate half f32 BSND, batch 4", "rotate half f32 BNSD, batch 4",
          "rotate half bf16 BSND, batch 4",
          "backward dx+dcos+dsin half f32 BSND, tables BSD, batch 4",
          "backward dx+dcos+dsin half bf16 BSND, tables BSD, batch 4")


def scaling(found, folder):
    """Speed by threads: as many times that of one thread as the copy's?"""
    rows = {(row["work"], row["threads"]): row
            for row in found["native"]["results"]}
    counts = sorted({threads for _, threads in rows})
    works = [work for work in SCALED if (work, counts[0]) in rows]
    if len(counts) < 2 or not works:
        return None
    figure, axes = plt.subplots(figsize=(WIDTH, 1.6 + 0.55 * len(works)))
    for line, work in enumerate(works):
        one, many = rows[work, counts[0]], rows[work, counts[-1]]
        axes.axhline(line, color="0.9", zorder=0)
        for key, colour, mark, label in (
                ("yardstick_gb_per_s", "0.45", "|", "copy or triad"),
                ("gb_per_s", "#D55E00", "o", "ropewalk")):
            axes.plot(many[key] / one[key], line, mark, color=colour,
                      markersize=11, markeredgewidth=2.5, linestyle="none",
                      label=label if line == 0 else None)
    short = lambda work: work.replace("rotate ", "").replace(
        "backward ", "").replace(", tables BSD", "").replace(", batch 4", "")
    axes.set_yticks(range(len(works)), [short(work) for work in works])
    axes.set_ylim(len(works) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("speed on %d threads / speed on one, 4 x 2048 tokens\n%s"
                    % (counts[-1], subtitle(found)))
    axes.legend(ncols=2, frameon=False, loc="lower left",
                bbox_to_anchor=(0, 1.0))
    return save(figure, folder, "threads")


def decode(found, folder):
    cases = {case: rows for case, rows in report.by_case(found, 1).items()
             if next(iter(rows.values()))["kind"] == "decode"}
    if not cases:
        return None
    names = [name for name in LOOKS
             if any(name in rows for rows in cases.values())]
    figure, axes = plt.subplots(figsize=(WIDTH, 1.4 + 0.75 * len(names)))
    height = 0.8 / len(cases)
    looks = (("#D55E00", ""), ("#0072B2", "//"), ("#009E73", ".."))
    for part, (case, rows) in enumerate(cases.items()):
        colour, hatch = looks[part % len(looks)]
        for line, name in enumerate(names):
            if name not in rows:
                continue
            time = rows[name]["ns"]["median"] / 1e3
            at = line + (part - (len(cases) - 1) / 2) * height
            axes.barh(at, time, height * 0.92, color=colour, hatch=hatch,
                      edgecolor="white",
                      label=case.split()[2] if name == "ropewalk" else None)
            axes.text(time * 1.06, at, "%.1f" % time, va="center",
                      fontsize=11)
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("µs for a call from Python, 1 token, 40 heads x 128,\n"
                    "1 thread. %s" % subtitle(found))
    axes.legend(ncols=2, frameon=False, loc="lower left",
                bbox_to_anchor=(0, 1.0))
    return save(figure, folder, "decode")


def draw(found, folder):
    drawn = [fractions(found, threads, folder)
             for threads in report.thread_counts(found)]
    drawn += [sizes(found, folder), scaling(found, folder),
              decode(found, folder)]
    return [picture for picture in drawn if picture]

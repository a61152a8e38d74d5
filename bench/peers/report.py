"""From figures to the README's table. Needs nothing but Python."""

BEGIN = "<!-- bench: begin, made by `make bench` -->"
END = "<!-- bench: end -->"

QUANTILES = ("p10", "median", "p90")


def check(found):
    """Raises ValueError where figures are not as they should be."""
    def need(condition, what):
        if not condition:
            raise ValueError("results: %s" % what)
    need(found.get("schema") == 1, "schema must be 1")
    native, peers = found["native"], found["peers"]
    for key in ("machine", "build", "results"):
        need(key in native, "native.%s is missing" % key)
    rows = ([("native " + row["work"], row) for row in native["results"]] +
            [("%s, %s" % (row["case"], row["peer"]), row)
             for row in peers["results"]])
    for name, row in rows:
        need(row["threads"] >= 1, "%s: threads" % name)
        for key in ("ns", "fraction"):
            if key not in row:
                need(key == "fraction" and name.startswith("native"),
                     "%s: %s is missing" % (name, key))
                continue
            values = [row[key][q] for q in QUANTILES]
            need(values == sorted(values) and values[0] > 0,
                 "%s: %s must ascend, but is %s" % (name, key, values))
    for row in peers["results"]:
        need(0 <= row["wrong_share"] <= 1, "%s: wrong_share" % row["case"])
        need(row["peer"] in peers["versions"], "%s: version" % row["peer"])


def by_case(found, threads):
    """case -> peer -> row, in the order in which they were measured."""
    cases = {}
    for row in found["peers"]["results"]:
        if row["threads"] == threads:
            cases.setdefault(row["case"], {})[row["peer"]] = row
    return cases


def thread_counts(found):
    return sorted({row["threads"] for row in found["peers"]["results"]})


def best_peer(rows):
    """The fastest that is not ropewalk, nor its package, or None."""
    others = [row for name, row in rows.items()
              if not name.startswith("ropewalk")]
    return min(others, key=lambda row: row["ns"]["median"], default=None)


def time_text(ns):
    return "%.1f µs" % (ns / 1e3) if ns < 1e6 else "%.2f ms" % (ns / 1e6)


def cell(row):
    """The fraction of a copy; for one token the time of a call."""
    if row is None:
        return "-"
    if row["kind"] == "decode":
        return time_text(row["ns"]["median"])
    return "%.2f" % row["fraction"]["median"]


def peer_cell(row):
    if row is None:
        return "-"
    wrong = row["wrong_share"]
    note = "" if wrong < 0.001 else ", %.0f %% inexact" % (100 * wrong)
    return "%s (%s%s)" % (cell(row), row["peer"], note)


def table(found):
    """Markdown: each case, ropewalk and the best peer, for each number of
    threads."""
    counts = thread_counts(found)
    parts = {count: by_case(found, count) for count in counts}
    head = ["work"]
    for count in counts:
        of = "%d thread%s" % (count, "" if count == 1 else "s")
        head += ["ropewalk, " + of, "best peer, " + of]
    lines = ["| %s |" % " | ".join(head), "|" + "---|" * len(head)]
    for case in parts[counts[0]]:
        cells = [case]
        for count in counts:
            rows = parts[count].get(case, {})
            cells += [cell(rows.get("ropewalk")), peer_cell(best_peer(rows))]
        lines.append("| %s |" % " | ".join(cells))
    native = found["native"]
    versions = ", ".join("%s %s" % item for item in
                         found["peers"]["versions"].items())
    lines += ["", "%s, %s, commit %s, %s; %s." % (
        native["machine"]["cpu"], native["build"]["target"],
        native["build"]["commit"], native["build"]["compiler"], versions)]
    return "\n".join(lines)


def pictures(paths):
    """Markdown of the pictures; their names say what they show."""
    return "".join("\n\n![%s](%s)" % (path.stem.replace("-", " "), path)
                   for path in paths)


def summary(found):
    """Goals of ropewalk's own list that were reached, and those missed."""
    rows = [row for row in found["native"]["results"] if "goal" in row]
    missed = [row for row in rows if not row["reached"]]
    lines = ["%d of %d goals reached" % (len(rows) - len(missed), len(rows))]
    for row in missed:
        of = row["fraction"]["median"] if "fraction" in row else 0
        lines.append("  missed: %s, %d threads: %.2f, %s" % (
            row["work"], row["threads"], of, row["goal"]))
    return "\n".join(lines)


def replaced(text, content):
    """`text` with what is between the marks replaced."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError("the marks of the table must stand there once")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return "%s%s\n%s\n%s%s" % (before, BEGIN, content, END, after)


def into_readme(path, content):
    text = path.read_text(encoding="utf-8")
    path.write_text(replaced(text, content), encoding="utf-8")

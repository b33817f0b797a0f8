#!/usr/bin/env python3
"""Writes gnuplot programs and their data for benchmarks/plot.

FOLDER is where they go, a NAME.gnuplot and a NAME.dat each. The FILEs are what comch-modes.sh and
beside-storage.sh write with --json. A chart needs all its rows: ends with 1 if no file has them.
"""
import argparse
import json
import pathlib
import re

COLOURS = {"busy": "#1f77b4", "adaptive": "#2ca02c", "event": "#d62728"}
PEER_COLOURS = ("#2ca02c", "#1f77b4", "#7f7f7f", "#d62728", "#9467bd")
HEAD = """set terminal svg size 760,420 dynamic noenhanced background "white" font "sans,13"
set border 3
set tics nomirror
set grid ytics lc rgb "#dddddd"
set key outside top center horizontal
set title {title}
"""


def class_of(figures):
    """The class with most rounds among figures: near, far, or none; mixed only if there is no other."""
    rounds = {}
    for one in figures:
        for name, found in one["classes"].items():
            rounds[name] = rounds.get(name, 0) + found["rounds"]
    return max(rounds, key=lambda name: (name != "mixed", rounds[name]))


def median(figures, name):
    one = figures["classes"].get(name)
    return one["median"] if one else None


def quoted(text):
    """A text without what means something to gnuplot, as its string in single quotes."""
    return "'" + re.sub(r"[^\w .,%<>=/()-]", "?", text) + "'"


def title(text, name):
    line = {"": "", "near": ", cores near", "far": ", cores far", "mixed": ", cores changing"}[name]
    return HEAD.format(title=quoted(text + line))


def data(header, rows):
    lines = ["# " + "\t".join(header)]
    lines += ["\t".join("?" if cell is None else str(cell) for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def by_mode(cases, prefix):
    """The figures of busy, adaptive and event, of a row that each way of waiting has."""
    busy = cases[f"{prefix}_adaptive"]["peers"]["busy"]
    return [busy, *(cases[f"{prefix}_{mode}"]["ours"] for mode in ("adaptive", "event"))]


def in_class(rows, divisor):
    """The class of some rows, and their medians in it."""
    name = class_of([one for row in rows for one in row if one])
    values = [[one and median(one, name) for one in row] for row in rows]
    return name, [[value and value / divisor for value in row] for row in values]


def rate_by_window(cases):
    windows = sorted(
        int(found[1]) for case in cases if (found := re.fullmatch(r"one_way_32_window_(\d+)_adaptive", case))
    )
    if not windows:
        return None
    name, values = in_class([by_mode(cases, f"one_way_32_window_{window}") for window in windows], 1e6)
    rows = [[window, *row] for window, row in zip(windows, values)]
    program = title("32 B messages one way, by window", name)
    program += """set logscale x 2
set xlabel "posted buffers"
set ylabel "million messages per second"
set yrange [0:*]
set datafile missing "?"
plot """
    program += ", ".join(
        f'"rate-by-window.dat" using 1:{i} title "{mode}" with linespoints pt 7 lw 2 lc rgb "{colour}"'
        for i, (mode, colour) in enumerate(COLOURS.items(), 2)
    )
    return program + "\n", data(("window", *COLOURS), rows)


def round_trip(cases):
    keys = ("p50", "p99", "p999")
    if any(f"round_trip_64_{key}_adaptive" not in cases for key in keys):
        return None
    name, values = in_class([by_mode(cases, f"round_trip_64_{key}") for key in keys], 1e3)
    rows = [[label, *row] for label, row in zip(("p50", "p99", "p99.9"), values)]
    program = title("64 B there and back", name)
    program += """set logscale y
set ylabel "microseconds"
set style data histograms
set style fill solid
set boxwidth 0.8
set datafile missing "?"
plot """
    program += ", ".join(
        f'"round-trip.dat" using {i}:xtic(1) title "{mode}" lc rgb "{colour}"'
        for i, (mode, colour) in enumerate(COLOURS.items(), 2)
    )
    return program + "\n", data(("percentile", *COLOURS), rows)


def storage_by_depth(cases):
    groups = (
        ("read, 1 deep", "random_read_4k_depth1"),
        ("read, 32 deep", "random_read_4k"),
        ("write, 1 deep", "random_write_4k_depth1"),
        ("write, 32 deep", "random_write_4k"),
    )
    if any(case not in cases for _, case in groups):
        return None
    peers = list(dict.fromkeys(peer for _, case in groups for peer in cases[case]["peers"]))
    name, values = in_class(
        [[cases[case]["ours"], *(cases[case]["peers"].get(peer) for peer in peers)] for _, case in groups],
        1e3,
    )
    rows = [[f'"{label}"', *row] for (label, _), row in zip(groups, values)]
    program = title("4 KiB at random", name)
    program += """set ylabel "thousand operations per second"
set yrange [0:*]
set style data histograms
set style fill solid
set boxwidth 0.9
set datafile missing "?"
plot """
    program += ", ".join(
        f'"storage-by-depth.dat" using {i}:xtic(1) title {quoted(who)} lc rgb "{colour}"'
        for i, (who, colour) in enumerate(zip(("softdpu", *peers), PEER_COLOURS), 2)
    )
    return program + "\n", data(("load", "softdpu", *(quoted(peer) for peer in peers)), rows)


CHARTS = {
    "rate-by-window": rate_by_window,
    "round-trip": round_trip,
    "storage-by-depth": storage_by_depth,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    cases = {}
    for file in given.files:
        cases |= json.loads(file.read_text(encoding="utf-8"))["cases"]
    drawn = 0
    for name, chart in CHARTS.items():
        written = chart(cases)
        if written:
            program, table = written
            (given.folder / f"{name}.gnuplot").write_text(program, encoding="utf-8")
            (given.folder / f"{name}.dat").write_text(table, encoding="utf-8")
            drawn += 1
    if not drawn:
        raise SystemExit("plot: no chart can be drawn: reason=no file has all its rows")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compares the figures of two builds: a table, and whether each row is within the spread.

Figures with cache lines near and far have rows of their own; those with changing ones count in none.

FOLDER has a folder "before" and a folder "after" with the files of each round, SCRIPT-ROUND.json, as
benchmarks/jmh (JMH's own form) or the other scripts (--json) write them. A row is within the spread
if the median after is not worse than the worst value before, or if the values of two equal builds
would have ranks as bad too often: by chance, one table of equal builds in twenty has a worse row. A
row whose number of values cannot show that has too few. Rows with lines near or far need as many
rounds of each build as summary.py needs: one value has no spread. Ends with 0 if all rows that can
be compared are within the spread, and there are such; with 1 otherwise.
"""
import argparse
import functools
import json
import math
import pathlib
import statistics
import sys

sys.dont_write_bytecode = True  # it would be left in the tree

import summary  # noqa: E402

LESS_IS_BETTER = summary.LESS_IS_BETTER | {"ns/op", "us/op", "ms/op", "s/op"}
MORE_IS_BETTER = {"op/s", "GB/s", "messages/s", "ops/s", "ops/ms", "ops/us", "ops/ns"}

# What cannot be told apart. The allocations of the JVM and of JMH, less than this much per second, are
# shared out among the operations, so that those of a slow one look large.
HARNESS_BYTES_PER_SECOND = 500_000
LEAST_BYTES = 0.01
SECONDS = {"ns/op": 1e-9, "us/op": 1e-6, "ms/op": 1e-3, "s/op": 1.0}


def rows_of(found):
    """Row, unit, value and resolution of each figure of ours in a file."""
    if isinstance(found, list):
        for run in found:
            name = ".".join(run["benchmark"].rsplit(".", 2)[1:])
            params = run.get("params") or {}
            name += "".join(f" {key}={params[key]}" for key in sorted(params))
            score = run["primaryMetric"]
            yield name, score["scoreUnit"], score["score"], 0
            seconds = score["score"] * SECONDS.get(score["scoreUnit"], 0)
            allocated = run.get("secondaryMetrics", {}).get("gc.alloc.rate.norm")
            if allocated:
                resolution = max(LEAST_BYTES, seconds * HARNESS_BYTES_PER_SECOND)
                yield f"{name} allocated", allocated["scoreUnit"], allocated["score"], resolution
        return
    for case, figures in found["cases"].items():
        for name, ours in (figures["ours"] or {"classes": {}})["classes"].items():
            if name != "mixed":
                resolution = LEAST_BYTES if figures["unit"] == "B/op" else 0
                yield f"{case} {name}".rstrip(), figures["unit"], ours["median"], resolution


def read(folder):
    """Value and resolution of each script, row and unit, in the order of the rounds."""
    values = {}
    for file in sorted(folder.glob("*.json")):
        script = file.stem.rpartition("-")[0]
        for row, unit, value, resolution in rows_of(json.loads(file.read_text(encoding="utf-8"))):
            if unit not in LESS_IS_BETTER | MORE_IS_BETTER:
                raise SystemExit(f"compare: unit is not known: unit={unit}, row={row}, file={file}")
            values.setdefault((script, row, unit), []).append((value, resolution))
    return values


# Of one table of two equal builds: the probability that a row is called worse.
FALSE_ALARM = 0.05


def is_within(before, after, unit):
    """Whether the median after is not worse than the worst value before."""
    median = statistics.median(value for value, _ in after)
    worst = (max if unit in LESS_IS_BETTER else min)(value for value, _ in before)
    resolution = max(resolution for _, resolution in before)
    return median <= worst + resolution if unit in LESS_IS_BETTER else median >= worst


@functools.cache
def arrangements(before, after, worse):
    """Orders of so many values of two builds in which so many pairs have the worse value after."""
    if not before or not after:
        return int(worse == 0)
    if worse < 0:
        return 0
    return arrangements(before - 1, after, worse - after) + arrangements(before, after - 1, worse)


def chance(before, after, unit):
    """Probability of ranks as bad as these, or worse, of two equal builds (Mann and Whitney)."""
    resolution = max(resolution for _, resolution in before)
    worse = 0
    for old, _ in before:
        for new, _ in after:
            loss = new - old if unit in LESS_IS_BETTER else old - new
            worse += 0.5 if abs(loss) <= resolution else loss > 0
    pairs = len(before) * len(after)
    as_bad = sum(arrangements(len(before), len(after), n) for n in range(math.floor(worse), pairs + 1))
    return as_bad / math.comb(len(before) + len(after), len(before))


def not_compared(before, after, row):
    """Why a row cannot be compared; None if it can."""
    least = summary.LEAST_PAIRS.get(row.rpartition(" ")[2], 1)
    for name, fewest in ("missing", 1), ("too few", least):
        for side, values in ("before", before), ("after", after):
            if len(values) < fewest:
                return f"{name} {side}"
    return None


def verdict(before, after, unit, limit):
    """The verdict of a row that can be compared, by the limit of its chance."""
    if is_within(before, after, unit):
        return "within the spread"
    if 1 / math.comb(len(before) + len(after), len(before)) > limit:
        return "too few values"
    return "WORSE" if chance(before, after, unit) <= limit else "within the spread"


def compared(folder):
    """Script, row, unit, values before and after, and the verdict of each row."""
    before, after = read(folder / "before"), read(folder / "after")
    rows = [(*key, before.get(key, []), after.get(key, [])) for key in {**before, **after}]
    reasons = [not_compared(*values, row) for _, row, _, *values in rows]
    limit = FALSE_ALARM / max(1, reasons.count(None))
    for (*key, unit, old, new), reason in zip(rows, reasons):
        yield *key, unit, old, new, reason or verdict(old, new, unit, limit)


def cells(values):
    if not values:
        return ["n/a", "", ""]
    return [summary.number(of(value for value, _ in values)) for of in (statistics.median, min, max)]


def table(rows):
    lines = [("script", "row", "unit", "before", "min", "max", "after", "min", "max", "")]
    for script, row, unit, before, after, said in rows:
        lines.append((script, row, unit, *cells(before), *cells(after), said))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if 3 <= i <= 8 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--suspect",
        action="store_true",
        help="print only script and row of those with a median worse than the worst value before",
    )
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    rows = list(compared(given.folder))
    if given.suspect:
        for script, row, unit, before, after, _ in rows:
            if not (not_compared(before, after, row) or is_within(before, after, unit)):
                print(script, row)
        return
    print(table(rows))
    verdicts = [row[-1] for row in rows]
    within, worse = verdicts.count("within the spread"), verdicts.count("WORSE")
    others = len(rows) - within - worse
    print(f"\ncompare: rows={len(rows)}, within the spread={within}, worse={worse}, not compared={others}")
    raise SystemExit(0 if within and not worse else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Sums up the figures of a run: a table for people, or JSON.

FIGURES has a line a figure: round, case, unit, who, value, with tabs between them. Each peer gets
the ratio of ours to it: the median of ours by the best of the peer's. A goal is such a ratio
(`10x`: at least, or at most where less is better), or a bound of ours (`<=150`, the peer is then
`ours`). Nothing fails where a goal is missed: figures are read by people.
"""
import argparse
import json
import statistics

LESS_IS_BETTER = {"ns", "us", "cores", "B/op"}


def read(path):
    """The cases: unit, and the values of each who."""
    cases = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            _, case, unit, who, value = line.rstrip("\n").split("\t")
            found = cases.setdefault(case, {"unit": unit, "values": {}})
            if found["unit"] != unit:
                raise SystemExit(f"summary: two units: case={case}, units={found['unit']}, {unit}")
            found["values"].setdefault(who, []).append(float(value))
    return cases


def figure(values):
    return {
        "min": min(values),
        "median": statistics.median(values),
        "max": max(values),
        "rounds": len(values),
    }


def against_peer(ours, peer, theirs, unit, goal):
    less = unit in LESS_IS_BETTER
    best = theirs["min"] if less else theirs["max"]
    ratio = ours["median"] / best if best else None
    verdict = {"peer": peer, "ratio": ratio, "goal": None, "met": None}
    if goal is not None:
        verdict["goal"] = ("at most " if less else "at least ") + goal
        if ratio is not None:
            wanted = float(goal.rstrip("x"))
            verdict["met"] = ratio <= wanted if less else ratio >= wanted
    return verdict


def against_bound(ours, goal):
    met = None if ours is None else ours["median"] <= float(goal.removeprefix("<="))
    return {"peer": None, "ratio": None, "goal": goal, "met": met}


def summed_up(cases, goals):
    """The case by name: unit, ours, peers, against. What was not measured is null."""
    result = {}
    for case, found in cases.items():
        figures = {who: figure(values) for who, values in found["values"].items()}
        ours = figures.pop("ours", None)
        against = [
            against_peer(ours, peer, theirs, found["unit"], goals.get((case, peer)))
            for peer, theirs in figures.items()
            if ours is not None
        ]
        result[case] = {"unit": found["unit"], "ours": ours, "peers": figures, "against": against}
    for (case, peer), goal in goals.items():
        entry = result.setdefault(case, {"unit": None, "ours": None, "peers": {}, "against": []})
        if peer == "ours":
            entry["against"].append(against_bound(entry["ours"], goal))
        elif all(verdict["peer"] != peer for verdict in entry["against"]):
            entry["against"].append({"peer": peer, "ratio": None, "goal": goal, "met": None})
    return result


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def row(case, unit, who, one, verdict):
    values = [number(one[key]) for key in ("median", "min", "max")] if one else ["n/a", "", ""]
    ratio, goal, met = (verdict.get(key) for key in ("ratio", "goal", "met"))
    said = "" if goal is None else {None: "n/a", True: "met", False: "MISSED"}[met]
    return (case, unit or "", who, *values, number(ratio) if ratio else "", goal or "", said)


def table(cases):
    rows = [("case", "unit", "who", "median", "min", "max", "ours by its best", "goal", "")]
    for case, found in cases.items():
        verdicts = {verdict["peer"] or "ours": verdict for verdict in found["against"]}
        figures = {"ours": found["ours"]} if found["ours"] else {}
        figures.update(found["peers"])
        for who in [*figures, *(who for who in verdicts if who not in figures)]:
            rows.append(row(case, found["unit"], who, figures.get(who), verdicts.get(who, {})))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for cells in rows:
        padded = (
            cell.rjust(width) if 3 <= i <= 6 else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        )
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--form", choices=("table", "json"), required=True)
    parser.add_argument("--note", required=True)
    parser.add_argument("--machine", required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("figures")
    parser.add_argument("goals", nargs="*", metavar="CASE PEER GOAL")
    given = parser.parse_args()
    if len(given.goals) % 3:
        parser.error("a goal is a case, a peer and what is wanted")
    thirds = given.goals[0::3], given.goals[1::3], given.goals[2::3]
    goals = {(case, peer): goal for case, peer, goal in zip(*thirds)}
    cases = summed_up(read(given.figures), goals)
    if given.form == "json":
        keys = ("machine", "note", "rounds", "seconds")
        print(json.dumps({**{key: getattr(given, key) for key in keys}, "cases": cases}, indent=2))
    else:
        print(table(cases))
        print(f"\nrounds: {given.rounds}, of {given.seconds} s a measurement. {given.note}")
        print(f"machine: {given.machine}")


if __name__ == "__main__":
    main()

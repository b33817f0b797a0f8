#!/usr/bin/env python3
"""Sums up the figures of a run: a table for people, or JSON.

FIGURES has a line per figure: round, case, unit, who, value, and the round trip of a cache line
between the processors before and after it in ns (- if they are not two), with tabs between them.

A figure is near if both round trips took at most 200 ns, far if both took at least 300 ns, else
mixed. The ratio of ours to a peer's is the median of the ratios of the rounds in which both are of
the same class, near and far apart, each with at least three such rounds. Figures without a round
trip need one. A goal is such a ratio (`10x`: at least, or at most where less is better), or a bound
of ours (`<=150`, the peer is then `ours`). Nothing fails where a goal is missed: figures are read by
people. With --enough it prints nothing, and ends with 3 if some goal has too few rounds in each class.

Below the table is a line per goal: medians, and the ratio in the class with the most rounds. If none has
enough of them it is that of all rounds in which both were measured, `any`. What is not installed is given by
--absent: its goals tell that, and need no rounds.
"""
import argparse
import json
import statistics

LESS_IS_BETTER = {"ns", "us", "cores", "B/op", "bytes", "bytes/connection"}
NEAR_NS = 200
FAR_NS = 300
LEAST_PAIRS = {"near": 3, "far": 3, "": 1}
CLASSES = (*LEAST_PAIRS, "mixed")
NOT_ENOUGH = 3


def class_of(before, after):
    """The class of a figure: near, far or mixed; empty if no round trips were measured."""
    if "-" in (before, after):
        return ""
    lines = float(before), float(after)
    if max(lines) <= NEAR_NS:
        return "near"
    return "far" if min(lines) >= FAR_NS else "mixed"


def read(path):
    """The cases: unit, and the values of each who, by class and round."""
    cases = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            of_round, case, unit, who, value, before, after = line.rstrip("\n").split("\t")
            found = cases.setdefault(case, {"unit": unit, "values": {}})
            if found["unit"] != unit:
                raise SystemExit(f"summary: two units: case={case}, units={found['unit']}, {unit}")
            classes = found["values"].setdefault(who, {})
            rounds = classes.setdefault(class_of(before, after), {})
            if of_round in rounds:
                raise SystemExit(f"summary: two figures: case={case}, who={who}, round={of_round}")
            rounds[of_round] = float(value)
    return cases


def figure(values):
    return {
        "min": min(values),
        "median": statistics.median(values),
        "max": max(values),
        "rounds": len(values),
    }


def figures(classes):
    """All values of one who, and those of each class."""
    everything = [value for rounds in classes.values() for value in rounds.values()]
    by_class = {name: figure(classes[name].values()) for name in CLASSES if name in classes}
    return {**figure(everything), "classes": by_class}


def against_peer(ours, peer, theirs, unit, goal):
    """The verdict of each class in which a ratio is possible."""
    less = unit in LESS_IS_BETTER
    for name, least in LEAST_PAIRS.items():
        if name not in theirs or name not in ours:
            continue
        rounds = ours[name].keys() & theirs[name].keys()
        ratios = [ours[name][i] / theirs[name][i] for i in rounds if theirs[name][i]]
        ratio = statistics.median(ratios) if len(ratios) >= least else None
        verdict = {"peer": peer, "class": name, "pairs": len(ratios), "ratio": ratio}
        verdict |= {"goal": None, "met": None}
        if goal is not None:
            verdict["goal"] = ("at most " if less else "at least ") + goal
            if ratio is not None:
                wanted = float(goal.rstrip("x"))
                verdict["met"] = ratio <= wanted if less else ratio >= wanted
        yield verdict


def not_measured(peer, goal):
    return {"peer": peer, "class": "", "pairs": 0, "ratio": None, "goal": goal, "met": None}


def against_bound(ours, goal):
    """The verdict of each class of ours, or that there is none."""
    if ours is None:
        yield not_measured(None, goal)
        return
    for name, one in ours["classes"].items():
        met = one["median"] <= float(goal.removeprefix("<="))
        yield not_measured(None, goal) | {"class": name, "met": met}


def summed_up(cases, goals):
    """The case by name: unit, ours, peers, against. What was not measured is null."""
    result = {}
    for case, found in cases.items():
        values = found["values"]
        against = [
            verdict
            for peer, theirs in values.items()
            if peer != "ours"
            for verdict in against_peer(
                values.get("ours", {}), peer, theirs, found["unit"], goals.get((case, peer))
            )
        ]
        peers = {who: figures(classes) for who, classes in values.items()}
        ours = peers.pop("ours", None)
        result[case] = {"unit": found["unit"], "ours": ours, "peers": peers, "against": against}
    for (case, peer), goal in goals.items():
        entry = result.setdefault(case, {"unit": None, "ours": None, "peers": {}, "against": []})
        if peer == "ours":
            entry["against"].extend(against_bound(entry["ours"], goal))
        elif all(verdict["peer"] != peer for verdict in entry["against"]):
            entry["against"].append(not_measured(peer, goal))
    return result


def is_enough(cases, goals, absent):
    """Whether each goal that is a ratio has one."""
    return all(
        any(verdict["peer"] == peer and verdict["ratio"] is not None for verdict in cases[case]["against"])
        for case, peer in goals
        if peer != "ours" and peer not in absent
    )


def pairs_of(ours, theirs):
    """The class of most rounds in which both were measured, or `any`, and the values of these rounds."""
    found = "any", []
    for name, least in LEAST_PAIRS.items():
        pairs = pairs_in(ours.get(name, {}), theirs.get(name, {}))
        if len(pairs) >= max(least, len(found[1]) + 1):
            found = name, pairs
    return found if found[1] else ("any", pairs_in(all_rounds(ours), all_rounds(theirs)))


def all_rounds(classes):
    return {i: value for rounds in classes.values() for i, value in rounds.items()}


def pairs_in(ours, theirs):
    return [(ours[i], theirs[i]) for i in ours.keys() & theirs.keys() if theirs[i]]


def goal_row(case, peer, goal, found, absent):
    """The line of a goal."""
    unit, values = found.get("unit", ""), found.get("values", {})
    ours = values.get("ours", {})
    own = all_rounds(ours).values()
    if peer == "ours":
        if not own:
            return (case, unit, "n/a", "", "", "", "", "0", goal, "not measured")
        median = statistics.median(own)
        said = "met" if median <= float(goal.removeprefix("<=")) else "MISSED"
        return (case, unit, number(median), "", "", "", "", str(len(own)), goal, said)
    less = unit in LESS_IS_BETTER
    wanted = ("at most " if less else "at least ") + goal
    name, pairs = pairs_of(ours, values.get(peer, {}))
    if not pairs:
        shown = number(statistics.median(own)) if own else "n/a"
        said = "not measured" + (f": {absent[peer]}" if peer in absent else "")
        return (case, unit, shown, peer, "n/a", "n/a", "", "0", wanted, said)
    ratio = statistics.median(mine / other for mine, other in pairs)
    limit = float(goal.rstrip("x"))
    said = "met" if (ratio <= limit if less else ratio >= limit) else "MISSED"
    medians = [number(statistics.median(side)) for side in zip(*pairs)]
    return (case, unit, medians[0], peer, medians[1], number(ratio), name, str(len(pairs)), wanted, said)


def goal_lines(raw, goals, absent):
    """A line per goal, below a head; empty without goals."""
    if not goals:
        return ""
    rows = [("case", "unit", "ours", "peer", "theirs", "ours by it", "line", "rounds", "goal", "")]
    rows += [goal_row(case, peer, goal, raw.get(case, {}), absent) for (case, peer), goal in goals.items()]
    return aligned(rows, {2, 4, 5, 7}) + "\n"


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def row(case, unit, who, name, one, verdict):
    values = [number(one[key]) for key in ("rounds", "median", "min", "max")] if one else ["", "n/a", "", ""]
    ratio, goal, met = (verdict.get(key) for key in ("ratio", "goal", "met"))
    said = "" if goal is None else {None: "n/a", True: "met", False: "MISSED"}[met]
    shown = number(ratio) if ratio else "n/a" if verdict and verdict["peer"] else ""
    return (case, unit or "", who, name, *values, shown, goal or "", said)


def rows_of(case, found):
    verdicts = {(verdict["peer"] or "ours", verdict["class"]): verdict for verdict in found["against"]}
    shown = {"ours": found["ours"]} if found["ours"] else {}
    for who, all_of_it in (shown | found["peers"]).items():
        for name, one in all_of_it["classes"].items():
            yield row(case, found["unit"], who, name, one, verdicts.pop((who, name), {}))
    for (who, name), verdict in verdicts.items():
        yield row(case, found["unit"], who, name, None, verdict)


def table(cases):
    rows = [("case", "unit", "who", "line", "rounds", "median", "min", "max", "ours by it", "goal", "")]
    rows += [row for case, found in cases.items() for row in rows_of(case, found)]
    return aligned(rows, range(4, 9))


def aligned(rows, numbers):
    """Lines of equal columns, those of numbers to the right; the last column is as wide as it is."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for cells in rows:
        padded = (
            cell.rjust(width) if i in numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths))
        )
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--form", choices=("table", "json"), default="table")
    parser.add_argument("--enough", action="store_true", help="only check the number of rounds")
    parser.add_argument("--absent", nargs=2, action="append", default=[], metavar=("PEER", "REASON"))
    parser.add_argument("--note")
    parser.add_argument("--machine")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("figures")
    parser.add_argument("goals", nargs="*", metavar="CASE PEER GOAL")
    given = parser.parse_args()
    if len(given.goals) % 3:
        parser.error("a goal is a case, a peer and what is wanted")
    thirds = given.goals[0::3], given.goals[1::3], given.goals[2::3]
    goals = {(case, peer): goal for case, peer, goal in zip(*thirds)}
    absent = dict(given.absent)
    raw = read(given.figures)
    cases = summed_up(raw, goals)
    if given.enough:
        raise SystemExit(0 if is_enough(cases, goals, absent) else NOT_ENOUGH)
    if given.form == "json":
        keys = ("machine", "note", "rounds", "seconds")
        print(json.dumps({**{key: getattr(given, key) for key in keys}, "cases": cases}, indent=2))
    else:
        print(f"{table(cases)}\n\n{goal_lines(raw, goals, absent)}")
        print(f"rounds: {given.rounds}, of {given.seconds} s a measurement. {given.note}")
        print(f"machine: {given.machine}")


if __name__ == "__main__":
    main()

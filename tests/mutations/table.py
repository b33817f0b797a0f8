"""Reads what PIT has found in packages, and what is excused; prints the table of bin/mutate.

Arguments: the file of packages, the file of excuses, the folder of PIT's reports, names of packages.
Ends with 0, 1 or 2, as bin/mutate says.
"""

import collections
import fnmatch
import os
import sys
import xml.etree.ElementTree as ElementTree

GOAL = 0.85
FIELDS = 6


def rows(path, fields):
    """Lines of tab-separated fields; those that begin with # are comments."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                row = line.rstrip("\n").split("\t")
                if len(row) != fields or not all(row):
                    raise ValueError(
                        f"line malformed: file={path}, line={number}, fields={len(row)}, expected={fields}"
                    )
                yield row


def mutants(path):
    """Of each mutant: its key, whether it was detected, whether by a time limit, number of tests, line."""
    for one in ElementTree.parse(path).getroot():
        text = {child.tag: child.text or "" for child in one}
        key = (
            text["mutatedClass"],
            text["mutatedMethod"] + text["methodDescription"],
            text["mutator"].rsplit(".", 1)[-1],
            text["description"],
        )
        detected = one.get("detected") == "true"
        timed_out = detected and one.get("status") == "TIMED_OUT"
        yield key, detected, timed_out, int(one.get("numberOfTestsRun")), text["lineNumber"]


def is_of(name, globs):
    return any(fnmatch.fnmatchcase(name, glob) for glob in globs.split(","))


def main(packages, excuses, folder, names):
    classes = {row[0]: row[2] for row in rows(packages, 4)}
    excused = {}
    for row in rows(excuses, FIELDS):
        key = tuple(row[:4])
        if key in excused:
            raise ValueError(f"excused twice: {' '.join(key)}")
        if not any(is_of(key[0], globs) for globs in classes.values()):
            raise ValueError(f"excused in no package: {' '.join(key)}")
        excused[key] = int(row[4])
    failed = False
    print(
        f"{'package':<24} {'generated':>9} {'detected':>8} {'timed out':>9} {'excused':>8} {'surviving':>9}"
        f" {'score':>7}"
    )
    for name in names:
        found = list(mutants(os.path.join(folder, name + ".xml")))
        if not any(tests for _, _, _, tests, _ in found):
            raise ValueError(f"no test has run: package={name}")
        lines = collections.defaultdict(list)
        for key, detected, _, _, line in found:
            if not detected:
                lines[key].append(line)
        excuses_used = 0
        for key, count in excused.items():
            if is_of(key[0], classes[name]):
                if count > len(lines[key]):
                    failed = True
                    print(
                        f"excused, but not surviving: {' '.join(key)}, excused={count}, surviving={len(lines[key])}",
                        file=sys.stderr,
                    )
                excuses_used += min(count, len(lines[key]))
        detected = sum(one[1] for one in found)
        timed_out = sum(one[2] for one in found)
        surviving = len(found) - detected - excuses_used
        score = detected / max(1, len(found) - excuses_used)
        failed |= score < GOAL
        print(
            f"{name:<24} {len(found):>9} {detected:>8} {timed_out:>9} {excuses_used:>8} {surviving:>9}"
            f" {100 * score:>6.1f}%"
            + ("" if score >= GOAL else f"  below {100 * GOAL:.0f} %")
        )
        with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
            for key, where in sorted(lines.items()):
                left = len(where) - excused.get(key, 0)
                if left > 0:
                    file.write("\t".join((*key, str(len(where)), "lines " + " ".join(where))) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
    except (ValueError, OSError, ElementTree.ParseError) as error:
        print(f"mutate: {error}", file=sys.stderr)
        sys.exit(2)

#!/usr/bin/env python3
"""Tests of summary.py: python3 benchmarks/summary_test.py"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).with_name("summary.py")


def run(form, figures, *goals):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.writelines("\t".join(map(str, line)) + "\n" for line in figures)
        file.flush()
        command = [sys.executable, SUMMARY, *form, "--note", "a note", "--machine", "a machine"]
        command += ["--rounds", "2", "--seconds", "3", file.name, *goals]
        return subprocess.run(command, capture_output=True, text=True)


def summary(form, figures, *goals):
    return summary_of(["--form", form], figures, *goals)


def summary_of(form, figures, *goals):
    done = run(form, figures, *goals)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def rates(*values_by_who, unit="op/s", lines=("-", "-")):
    """A figure per who and value; the values of each who are of rounds 1, 2, ..."""
    rounds = {}
    figures = []
    for who, value in values_by_who:
        rounds[who] = rounds.get(who, 0) + 1
        figures.append((rounds[who], "reads", unit, who, value, *lines))
    return figures


NEAR = (120, 200)
FAR = (300, 550)
MIXED = (120, 550)


class SummaryTest(unittest.TestCase):
    def case(self, figures, *goals):
        return json.loads(summary("json", figures, *goals))["cases"]["reads"]

    def test_tells_what_the_figures_are(self):
        found = json.loads(summary("json", rates(("ours", 3))))
        self.assertEqual(found.pop("cases").keys(), {"reads"})
        wanted = {"machine": "a machine", "note": "a note", "rounds": 2, "seconds": 3}
        self.assertEqual(found, wanted)

    def test_compares_the_figures_of_each_round(self):
        figures = rates(("ours", 10), ("ours", 30), ("ours", 20), ("a", 2), ("a", 10), ("b", 40))
        found = self.case(figures, "reads", "a", "4x")
        ours = {"min": 10, "median": 20, "max": 30, "rounds": 3}
        self.assertEqual(found["ours"], ours | {"classes": {"": ours}})
        a, b = found["against"]
        wanted = {"peer": "a", "class": "", "pairs": 2, "ratio": 4, "goal": "at least 4x", "met": True}
        self.assertEqual(a, wanted)
        self.assertEqual((b["ratio"], b["goal"], b["met"]), (0.25, None, None))

    def test_wants_a_small_ratio_where_less_is_better(self):
        figures = rates(("ours", 300), ("a", 100), unit="ns")
        (a,) = self.case(figures, "reads", "a", "2x")["against"]
        self.assertEqual((a["ratio"], a["goal"], a["met"]), (3, "at most 2x", False))

    def test_keeps_near_and_far_apart(self):
        figures = [
            *rates(*[("ours", 50), ("a", 100)] * 3, lines=NEAR),
            *((4 + i, "reads", "op/s", who, value, *FAR) for i in range(3) for who, value in (("ours", 5), ("a", 1))),
        ]
        near, far = self.case(figures, "reads", "a", "1x")["against"]
        self.assertEqual((near["class"], near["pairs"], near["ratio"], near["met"]), ("near", 3, 0.5, False))
        self.assertEqual((far["class"], far["pairs"], far["ratio"], far["met"]), ("far", 3, 5, True))

    def test_pairs_figures_of_the_same_round_and_class_only(self):
        figures = [*rates(("ours", 50), lines=NEAR), *rates(("a", 100), lines=FAR)]
        figures += [(2, "reads", "op/s", "ours", 50, *NEAR), (3, "reads", "op/s", "a", 50, *NEAR)]
        figures += [(4, "reads", "op/s", who, 50, *MIXED) for who in ("ours", "a")]
        near, *others = self.case(figures, "reads", "a", "1x")["against"]
        self.assertEqual((near["class"], near["pairs"], near["ratio"], near["met"]), ("near", 0, None, None))
        self.assertTrue(all(verdict["ratio"] is None for verdict in others))

    def test_gives_no_ratio_of_two_pairs(self):
        figures = rates(*[("ours", 50), ("a", 100)] * 2, lines=NEAR)
        (near,) = self.case(figures, "reads", "a", "1x")["against"]
        self.assertEqual((near["pairs"], near["ratio"], near["met"]), (2, None, None))
        self.assertRegex(summary("table", figures, "reads", "a", "1x"),
                         r"(?m)^reads +op/s +a +near +2 +100 +100 +100 +n/a +at least 1x +n/a$")

    def test_classes_by_both_round_trips(self):
        for lines, name in (NEAR, "near"), (FAR, "far"), (MIXED, "mixed"), ((250, 250), "mixed"), \
                ((201, 120), "mixed"), ((299, 550), "mixed"):
            ours = self.case(rates(("ours", 1), lines=lines))["ours"]
            self.assertEqual(list(ours["classes"]), [name], lines)

    def test_says_whether_the_rounds_are_enough(self):
        goal = "reads", "a", "1x"
        for figures, wanted in (
            (rates(*[("ours", 50), ("a", 100)] * 2, lines=NEAR), 3),
            (rates(*[("ours", 50), ("a", 100)] * 3, lines=MIXED), 3),
            (rates(*[("ours", 50), ("a", 100)] * 3, lines=NEAR), 0),
            (rates(("ours", 50), ("a", 100)), 0),
            (rates(("ours", 50)), 3),
        ):
            done = run(["--enough"], figures, *goal)
            self.assertEqual((done.returncode, done.stdout), (wanted, ""), figures)

    def test_refuses_two_figures_of_a_round(self):
        done = run(["--form", "json"], rates(("ours", 1)) * 2)
        self.assertEqual(done.returncode, 1)
        self.assertIn("two figures: case=reads, who=ours, round=1", done.stderr)

    def test_keeps_peers_apart_whatever_they_are_called(self):
        found = self.case(rates(("ours", 1), ("against", 2), ("unit", 4)))
        self.assertEqual(found["peers"].keys(), {"against", "unit"})
        self.assertEqual([verdict["ratio"] for verdict in found["against"]], [0.5, 0.25])

    def test_checks_a_bound_of_ours(self):
        (bound,) = self.case(rates(("ours", 149), unit="us"), "reads", "ours", "<=150")["against"]
        self.assertEqual((bound["peer"], bound["goal"], bound["met"]), (None, "<=150", True))

    def test_checks_a_bound_in_each_class(self):
        figures = [*rates(("ours", 100), unit="us", lines=NEAR), (2, "reads", "us", "ours", 200, *FAR)]
        shown = summary("table", figures, "reads", "ours", "<=150")
        self.assertRegex(shown, r"(?m)^reads +us +ours +near +1 +100 +100 +100 +<=150 +met$")
        self.assertRegex(shown, r"(?m)^reads +us +ours +far +1 +200 +200 +200 +<=150 +MISSED$")

    def test_says_of_what_was_not_measured_that_it_was_not(self):
        figures = rates(("a", 5))
        goals = "reads", "a", "2x", "writes", "ours", "<=1"
        found = json.loads(summary("json", figures, *goals))["cases"]
        self.assertIsNone(found["reads"]["against"][0]["met"])
        self.assertIsNone(found["writes"]["ours"])
        self.assertRegex(summary("table", figures, *goals), r"(?m)^writes +ours +n/a +<=1 +n/a$")

    def test_shows_units_and_verdicts_in_the_table(self):
        shown = summary("table", rates(("ours", 20000), ("a", 4)), "reads", "a", "9999x")
        self.assertRegex(shown, r"(?m)^reads +op/s +ours +1 +20,000 +20,000 +20,000$")
        self.assertRegex(shown, r"(?m)^reads +op/s +a +1 +4 +4 +4 +5,000 +at least 9999x +MISSED$")
        self.assertRegex(shown, r"(?m)^rounds: 2, of 3 s a measurement. a note\nmachine: a machine$")

    def goal_lines(self, figures, *goals, absent=()):
        form = ["--form", "table", *(word for one in absent for word in ("--absent", *one))]
        shown = summary_of(form, figures, *goals)
        return [re.sub(" +", " ", line) for line in shown.split("\n\n")[1].splitlines()[1:]]

    def test_tells_each_goal_in_a_line(self):
        figures = rates(*[("ours", 50), ("a", 100), ("b", 25)] * 3, lines=NEAR)
        goals = "reads", "a", "1x", "reads", "b", "1x", "reads", "ours", "<=49"
        self.assertEqual(self.goal_lines(figures, *goals), [
            "reads op/s 50 a 100 0.5 near 3 at least 1x MISSED",
            "reads op/s 50 b 25 2 near 3 at least 1x met",
            "reads op/s 50 3 <=49 MISSED",
        ])

    def test_tells_a_goal_by_all_rounds_where_no_class_has_enough(self):
        figures = [*rates(("ours", 50), ("ours", 60), lines=NEAR), *rates(("a", 100), ("a", 100), lines=MIXED)]
        wanted = "reads op/s 55 a 100 0.55 any 2 at least 1x MISSED"
        self.assertEqual(self.goal_lines(figures, "reads", "a", "1x"), [wanted])

    def test_tells_a_goal_by_the_class_with_most_rounds(self):
        far = ((4 + i, "reads", "op/s", who, value, *FAR) for i in range(4) for who, value in (("ours", 5), ("a", 1)))
        figures = [*rates(*[("ours", 50), ("a", 100)] * 3, lines=NEAR), *far]
        wanted = "reads op/s 5 a 1 5 far 4 at least 1x met"
        self.assertEqual(self.goal_lines(figures, "reads", "a", "1x"), [wanted])

    def test_tells_what_to_install(self):
        goals = "reads", "a", "1x", "reads", "ours", "<=49", "writes", "ours", "<=1"
        absent = [("a", "no program a: apt-get install a")]
        self.assertEqual(self.goal_lines(rates(("ours", 9)), *goals, absent=absent), [
            "reads op/s 9 a n/a n/a 0 at least 1x not measured: no program a: apt-get install a",
            "reads op/s 9 1 <=49 met",
            "writes n/a 0 <=1 not measured",
        ])
        done = run(["--enough", "--absent", *absent[0]], rates(("ours", 9)), *goals)
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests of summary.py: python3 benchmarks/summary_test.py"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).with_name("summary.py")


def summary(form, figures, *goals):
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.writelines("\t".join(map(str, line)) + "\n" for line in figures)
        file.flush()
        command = [sys.executable, SUMMARY, "--form", form, "--note", "a note", "--machine", "a machine"]
        command += ["--rounds", "2", "--seconds", "3", file.name, *goals]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def rates(*values_by_who, unit="op/s"):
    return [(1, "reads", unit, who, value) for who, value in values_by_who]


class SummaryTest(unittest.TestCase):
    def case(self, figures, *goals):
        return json.loads(summary("json", figures, *goals))["cases"]["reads"]

    def test_tells_what_the_figures_are(self):
        found = json.loads(summary("json", rates(("ours", 3))))
        self.assertEqual(found.pop("cases").keys(), {"reads"})
        wanted = {"machine": "a machine", "note": "a note", "rounds": 2, "seconds": 3}
        self.assertEqual(found, wanted)

    def test_compares_median_of_ours_with_best_of_each_peer(self):
        figures = rates(("ours", 10), ("ours", 30), ("ours", 20), ("a", 4), ("a", 5), ("b", 40))
        found = self.case(figures, "reads", "a", "4x")
        self.assertEqual(found["ours"], {"min": 10, "median": 20, "max": 30, "rounds": 3})
        a, b = found["against"]
        self.assertEqual(a, {"peer": "a", "ratio": 4, "goal": "at least 4x", "met": True})
        self.assertEqual(b, {"peer": "b", "ratio": 0.5, "goal": None, "met": None})

    def test_takes_the_lowest_for_the_best_where_less_is_better(self):
        figures = rates(("ours", 300), ("a", 100), ("a", 200), unit="ns")
        (a,) = self.case(figures, "reads", "a", "2x")["against"]
        self.assertEqual(a, {"peer": "a", "ratio": 3, "goal": "at most 2x", "met": False})

    def test_keeps_peers_apart_whatever_they_are_called(self):
        found = self.case(rates(("ours", 1), ("against", 2), ("unit", 4)))
        self.assertEqual(found["peers"].keys(), {"against", "unit"})
        self.assertEqual([verdict["ratio"] for verdict in found["against"]], [0.5, 0.25])

    def test_checks_a_bound_of_ours(self):
        (bound,) = self.case(rates(("ours", 149), unit="us"), "reads", "ours", "<=150")["against"]
        self.assertEqual(bound, {"peer": None, "ratio": None, "goal": "<=150", "met": True})

    def test_says_of_what_was_not_measured_that_it_was_not(self):
        figures = rates(("a", 5))
        goals = "reads", "a", "2x", "writes", "ours", "<=1"
        found = json.loads(summary("json", figures, *goals))["cases"]
        self.assertIsNone(found["reads"]["against"][0]["met"])
        self.assertIsNone(found["writes"]["ours"])
        self.assertRegex(summary("table", figures, *goals), r"(?m)^writes +ours +n/a +<=1 +n/a$")

    def test_shows_units_and_verdicts_in_the_table(self):
        shown = summary("table", rates(("ours", 20000), ("a", 4)), "reads", "a", "9999x")
        self.assertRegex(shown, r"(?m)^reads +op/s +ours +20,000 +20,000 +20,000$")
        self.assertRegex(shown, r"(?m)^reads +op/s +a +4 +4 +4 +5,000 +at least 9999x +MISSED$")
        self.assertRegex(shown, r"(?m)^rounds: 2, of 3 s a measurement. a note\nmachine: a machine$")


if __name__ == "__main__":
    unittest.main()

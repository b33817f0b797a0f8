#!/usr/bin/env python3
"""Tests of compare.py: python3 benchmarks/compare_test.py"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # it would be left in the tree

import compare  # noqa: E402

COMPARE = pathlib.Path(__file__).with_name("compare.py")
TABLES = 500


def cases(unit, value, case="reads", name=""):
    ours = {"min": value, "median": value, "max": value, "rounds": 1}
    ours["classes"] = {name: ours.copy()}
    return {"cases": {case: {"unit": unit, "ours": ours, "peers": {}, "against": []}}}


def jmh(unit, score, allocated=None, **params):
    run = {
        "benchmark": "io.softdpu.benchmarks.RingBenchmark.message",
        "primaryMetric": {"score": score, "scoreUnit": unit},
        "secondaryMetrics": {},
    }
    if params:
        run["params"] = params
    if allocated is not None:
        run["secondaryMetrics"]["gc.alloc.rate.norm"] = {"score": allocated, "scoreUnit": "B/op"}
    return [run]


class CompareTest(unittest.TestCase):
    def compare(self, before, after, *options, script="beside-x"):
        with tempfile.TemporaryDirectory() as name:
            for side, rounds in ("before", before), ("after", after):
                folder = pathlib.Path(name, side)
                folder.mkdir()
                for i, found in enumerate(rounds, 1):
                    (folder / f"{script}-{i}.json").write_text(json.dumps(found), encoding="utf-8")
            command = [sys.executable, COMPARE, *options, name]
            done = subprocess.run(command, capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

    def verdict(self, unit, before, after):
        status, shown, _ = self.compare([cases(unit, v) for v in before], [cases(unit, v) for v in after])
        said = "within the spread" if status == 0 else "WORSE"
        self.assertRegex(shown, rf"(?m)^beside-x +reads .*  {said}$")
        return said

    def test_accepts_a_median_as_bad_as_the_worst_before(self):
        self.assertEqual(self.verdict("op/s", [10, 30, 20], [5, 10, 40]), "within the spread")
        self.assertEqual(self.verdict("ns", [10, 30, 20], [50, 30, 1]), "within the spread")

    def test_refuses_a_median_worse_than_the_worst_before(self):
        for unit in "op/s", "ops/s", "GB/s", "messages/s":
            self.assertEqual(self.verdict(unit, 3 * [10, 30, 20], [*8 * [9], 40]), "WORSE")
        for unit in "ns", "us", "ns/op", "us/op", "cores", "B/op":
            self.assertEqual(self.verdict(unit, 3 * [10, 30, 20], [*8 * [31], 1]), "WORSE")

    def test_accepts_ranks_that_equal_builds_have_too(self):
        self.assertEqual(self.verdict("ns", [10, 20, 30], [31, 32, 1]), "within the spread")
        self.assertEqual(self.verdict("ops/s", [10, 20, 30], [9, 8, 40]), "within the spread")

    def test_refuses_the_rarer_ranks_the_more_rows_there_are(self):
        before, after = range(1, 6), range(6, 11)  # 1 of 252 orders
        for others, said in (11, "WORSE"), (12, "too few values"):
            rounds = [
                [{"cases": {f"{i}": case for i, case in enumerate(
                    [cases("ns", value)["cases"]["reads"]] + others * [cases("ns", 1)["cases"]["reads"]])}}
                    for value in values]
                for values in (before, after)
            ]
            status, shown, _ = self.compare(*rounds)
            self.assertEqual(status, said == "WORSE")
            self.assertRegex(shown, rf"(?m)^beside-x +0 .*  {said}$")
            self.assertEqual(self.compare(*rounds, "--suspect")[1], "beside-x 0\n")

    def test_calls_few_tables_of_equal_builds_worse(self):
        values = random.Random(1)
        worse = 0
        for _ in range(TABLES):
            rows = [[[(values.random(), 0) for _ in range(10)] for _ in range(2)] for _ in range(20)]
            worse += any(compare.verdict(*row, "ns", compare.FALSE_ALARM / 20) == "WORSE" for row in rows)
        self.assertLess(worse, 2 * compare.FALSE_ALARM * TABLES)

    def test_accepts_a_median_better_than_the_best_before(self):
        self.assertEqual(self.verdict("op/s", [1, 3, 2], [4, 4, 4]), "within the spread")
        self.assertEqual(self.verdict("cores", [1, 3, 2], [0.5, 0.5, 0.5]), "within the spread")

    def test_shows_median_minimum_and_maximum_of_both(self):
        _, shown, _ = self.compare([cases("ns", v) for v in (3, 1, 8)], [cases("ns", v) for v in (4, 2, 6)])
        self.assertRegex(shown, r"(?m)^beside-x +reads +ns +3 +1 +8 +4 +2 +6 +within the spread$")

    def test_reads_what_jmh_writes(self):
        status, shown, _ = self.compare(
            3 * [jmh("ns/op", 5, 0.0)], 6 * [jmh("ns/op", 6, 0.02)], script="jmh")
        self.assertEqual(status, 1)
        self.assertRegex(shown, r"(?m)^jmh +RingBenchmark.message +ns/op .*WORSE$")
        self.assertRegex(shown, r"(?m)^jmh +RingBenchmark.message allocated +B/op .*WORSE$")

    def test_takes_no_notice_of_bytes_that_cannot_be_told_apart(self):
        status, shown, _ = self.compare(9 * [jmh("ns/op", 5, 0.0001)], 9 * [jmh("ns/op", 5, 0.0002)], script="jmh")
        self.assertEqual(status, 0, shown)

    def test_keeps_parameters_apart(self):
        status, shown, _ = self.compare(
            [jmh("ns/op", 5, size="64")], [jmh("ns/op", 9, size="4096")], script="jmh")
        self.assertEqual(status, 1, "nothing was compared")
        self.assertRegex(shown, r"(?m)^jmh +RingBenchmark.message size=64 .* n/a +missing after$")
        self.assertRegex(shown, r"(?m)^jmh +RingBenchmark.message size=4096 .* n/a .* missing before$")

    def test_counts_a_missing_row_neither_way(self):
        both = [cases("ns", 1)]
        status, shown, _ = self.compare(both, [*both, cases("ns", 9, "writes")])
        self.assertEqual(status, 0)
        self.assertIn("rows=2, within the spread=1, worse=0, not compared=1", shown)

    def test_compares_near_with_near_and_nothing_with_changing_lines(self):
        before = 3 * [cases("ns", 1, name="near")] + [cases("ns", 9, name="far"), cases("ns", 9, name="mixed")]
        after = 6 * [cases("ns", 2, name="near")] + [cases("ns", 5, name="mixed")]
        status, shown, _ = self.compare(before, after)
        self.assertEqual(status, 1)
        self.assertRegex(shown, r"(?m)^beside-x +reads near +ns +1 .*WORSE$")
        self.assertRegex(shown, r"(?m)^beside-x +reads far .*missing after$")
        self.assertNotIn("mixed", shown)

    def test_needs_three_rounds_of_lines_near_or_far(self):
        many, few = [3 * [cases("ns", 1, name="near")], 2 * [cases("ns", 9, name="near")]]
        status, shown, _ = self.compare(many, few)
        self.assertEqual(status, 1, "nothing was compared")
        self.assertRegex(shown, r"(?m)^beside-x +reads near .*too few after$")
        self.assertRegex(self.compare(few, many)[1], r"(?m)^beside-x +reads near .*too few before$")
        self.assertEqual(self.compare(few, many, "--suspect")[1], "")

    def test_names_the_rows_to_be_measured_again(self):
        status, shown, _ = self.compare([cases("ns", 1)], [cases("ns", 2)], "--suspect")
        self.assertEqual((status, shown), (0, "beside-x reads\n"))

    def test_refuses_a_unit_of_which_it_does_not_know_the_better_end(self):
        status, _, said = self.compare([cases("apples", 1)], [cases("apples", 2)])
        self.assertEqual(status, 1)
        self.assertIn("unit is not known: unit=apples, row=reads", said)


if __name__ == "__main__":
    unittest.main()

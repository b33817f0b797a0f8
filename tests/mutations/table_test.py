"""Tests of table.py: python3 tests/mutations/table_test.py"""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import table  # noqa: E402

PACKAGES = "# comment\na.wire\ta\tx.a.wire.*\tx.a.*\nb\tb\tx.b.One\tx.b.*\n"


def mutant(name, detected, tests=3, line=7, description="changed it", status="?"):
    return f"""<mutation detected="{str(detected).lower()}" status="{status}" numberOfTestsRun="{tests}">
        <mutatedClass>{name}</mutatedClass><mutatedMethod>m</mutatedMethod>
        <methodDescription>(I)V</methodDescription><lineNumber>{line}</lineNumber>
        <mutator>org.pitest.mutators.MathMutator</mutator><description>{description}</description></mutation>"""


class TableTest(unittest.TestCase):
    def run_table(self, mutants, excused="", names=("b",), package="b"):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("packages", PACKAGES), ("excused", excused)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            with open(os.path.join(folder, package + ".xml"), "w", encoding="utf-8") as file:
                file.write(f"<mutations>{''.join(mutants)}</mutations>")
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = table.main(
                    os.path.join(folder, "packages"), os.path.join(folder, "excused"), folder, names
                )
            with open(os.path.join(folder, package + ".txt"), encoding="utf-8") as file:
                survivors = file.read()
            return status, out.getvalue().splitlines()[-1].split(), err.getvalue(), survivors

    def test_counts_and_passes_at_the_goal(self):
        found = [mutant("x.b.One", True)] * 17 + [mutant("x.b.One", False, line=n) for n in (4, 5, 6)]
        status, row, _, survivors = self.run_table(found)
        self.assertEqual((status, row), (0, ["b", "20", "17", "0", "0", "3", "85.0%"]))
        self.assertEqual(survivors, "x.b.One\tm(I)V\tMathMutator\tchanged it\t3\tlines 4 5 6\n")

    def test_counts_time_outs_among_the_detected_and_beside_them(self):
        found = [mutant("x.b.One", True, status="KILLED"), mutant("x.b.One", True, status="TIMED_OUT")]
        status, row, _, _ = self.run_table(found)
        self.assertEqual((status, row), (0, ["b", "2", "2", "1", "0", "0", "100.0%"]))

    def test_fails_below_the_goal(self):
        found = [mutant("x.b.One", True)] * 5 + [mutant("x.b.One", False)]
        status, row, _, _ = self.run_table(found)
        self.assertEqual((status, row[:7]), (1, ["b", "6", "5", "0", "0", "1", "83.3%"]))

    def test_leaves_out_what_is_excused(self):
        found = [mutant("x.b.One", True)] * 5 + [mutant("x.b.One", False)]
        excused = "x.b.One\tm(I)V\tMathMutator\tchanged it\t1\tno effect\n"
        status, row, _, survivors = self.run_table(found, excused)
        self.assertEqual((status, row, survivors), (0, ["b", "6", "5", "0", "1", "0", "100.0%"], ""))

    def test_fails_where_an_excuse_is_for_none_that_survives(self):
        excused = "x.b.One\tm(I)V\tMathMutator\tchanged it\t2\tno effect\n"
        found = [mutant("x.b.One", True)] * 9 + [mutant("x.b.One", False)]
        status, _, err, _ = self.run_table(found, excused)
        self.assertEqual(status, 1)
        self.assertIn("excused=2, surviving=1", err)

    def test_refuses_what_was_not_measured_or_cannot_be_excused(self):
        with self.assertRaisesRegex(ValueError, "no test has run: package=b"):
            self.run_table([mutant("x.b.One", False, tests=0)])
        with self.assertRaisesRegex(ValueError, "excused in no package: x.c.Two"):
            self.run_table([mutant("x.b.One", True)], "x.c.Two\tm()V\tM\td\t1\twhy\n")
        with self.assertRaisesRegex(ValueError, "line=1, fields=2, expected=6"):
            self.run_table([mutant("x.b.One", True)], "x.b.One\tm()V\n")


if __name__ == "__main__":
    unittest.main()

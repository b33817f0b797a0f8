#!/usr/bin/env python3
"""Tests of plot.py: python3 benchmarks/plot_test.py"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PLOT = pathlib.Path(__file__).with_name("plot.py")


def figures(rounds=3, **medians):
    classes = {name: {"median": value, "rounds": rounds} for name, value in medians.items()}
    return {"classes": classes}


def row(ours, **peers):
    return {"ours": ours, "peers": peers}


def rates(window):
    return {
        f"one_way_32_window_{window}_adaptive": row(figures(near=8e6), busy=figures(near=9e6)),
        f"one_way_32_window_{window}_event": row(figures(far=1e6), busy=figures(near=9e6)),
    }


class PlotTest(unittest.TestCase):
    def plot(self, *files):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            paths = []
            for i, cases in enumerate(files):
                paths.append(folder / f"{i}.json")
                paths[-1].write_text(json.dumps({"cases": cases}), encoding="utf-8")
            done = subprocess.run([sys.executable, PLOT, name, *paths], capture_output=True, text=True)
            written = {path.name: path.read_text() for path in folder.iterdir() if path.suffix != ".json"}
            return done.returncode, written, done.stderr

    def test_draws_rates_in_the_order_of_windows_and_leaves_out_other_classes(self):
        status, written, _ = self.plot(rates(256) | rates(16))
        self.assertEqual((status, sorted(written)), (0, ["rate-by-window.dat", "rate-by-window.gnuplot"]))
        wanted = "# window\tbusy\tadaptive\tevent\n16\t9.0\t8.0\t?\n256\t9.0\t8.0\t?\n"
        self.assertEqual(written["rate-by-window.dat"], wanted)
        self.assertIn("cores near", written["rate-by-window.gnuplot"])

    def test_shows_the_class_with_most_rounds(self):
        ours = {"classes": {"near": {"median": 1000, "rounds": 1}, "far": {"median": 2000, "rounds": 4}}}
        cases = {}
        for key in "p50", "p99", "p999":
            for mode in "adaptive", "event":
                cases[f"round_trip_64_{key}_{mode}"] = row(ours, busy=figures(far=500))
        _, written, _ = self.plot(cases)
        self.assertIn("\np99\t0.5\t2.0\t2.0\n", written["round-trip.dat"])
        self.assertIn("cores far", written["round-trip.gnuplot"])

    def test_shows_changing_lines_only_where_there_is_nothing_else(self):
        cases = rates(16)
        for row_of in cases.values():
            row_of["ours"]["classes"]["mixed"] = {"median": 5e6, "rounds": 99}
        _, written, _ = self.plot(cases)
        self.assertIn("cores near", written["rate-by-window.gnuplot"])

    def test_gives_gnuplot_no_text_of_a_file_that_it_would_run(self):
        names = "random_read_4k_depth1", "random_read_4k", "random_write_4k_depth1", "random_write_4k"
        hostile = "x`id`'\"$(id)\n"
        cases = {name: {"ours": figures(near=2e5), "peers": {hostile: figures(near=1e5)}} for name in names}
        _, written, _ = self.plot(cases)
        self.assertIn("title 'x?id????(id)?'", written["storage-by-depth.gnuplot"])

    def test_draws_storage_beside_each_peer(self):
        names = "random_read_4k_depth1", "random_read_4k", "random_write_4k_depth1", "random_write_4k"
        cases = {name: row(figures(near=2e5), nbdkit=figures(near=1e5)) for name in names}
        cases["random_read_4k"]["peers"]["C memcpy"] = figures(near=4e5)
        _, written, _ = self.plot(rates(16), cases)
        lines = written["storage-by-depth.dat"].splitlines()
        self.assertEqual(lines[1], '"read, 1 deep"\t200.0\t100.0\t?')
        self.assertEqual(lines[2], '"read, 32 deep"\t200.0\t100.0\t400.0')

    def test_refuses_files_without_rows_of_a_chart(self):
        status, written, said = self.plot({"other": row(figures(near=1))})
        self.assertEqual((status, written), (1, {}))
        self.assertIn("no chart can be drawn", said)


if __name__ == "__main__":
    unittest.main()

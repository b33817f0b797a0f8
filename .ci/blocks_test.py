#!/usr/bin/env python3
"""Tests of .ci/blocks: python3 .ci/blocks_test.py"""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

BLOCKS = pathlib.Path(__file__).with_name("blocks")
loader = importlib.machinery.SourceFileLoader("blocks", str(BLOCKS))
sys.dont_write_bytecode = True
blocks = importlib.util.module_from_spec(importlib.util.spec_from_loader("blocks", loader))
sys.modules["blocks"] = blocks
loader.exec_module(blocks)


class BlocksTest(unittest.TestCase):
    def run_page(self, text, *options):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as page:
            page.write(textwrap.dedent(text))
            page.flush()
            return subprocess.run(
                [sys.executable, BLOCKS, *options, page.name], capture_output=True, text=True, timeout=60, check=False)

    def test_runs_only_command_blocks_in_order(self):
        run = self.run_page("""\
            ```
            not a command
            ```
            ```sh
            echo one
            ```
            ```java
            int two;
            ```
            ```sh
            echo three
            ```
            """)
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertEqual(["one", "three"], [line for line in run.stdout.splitlines() if line in ("one", "three")])
        self.assertIn("blocks: 2 passed", run.stdout)

    def test_ends_at_the_first_failure_with_its_place(self):
        run = self.run_page("text\n\n```sh\nfalse\necho after\n```\n```sh\necho next\n```\n")
        self.assertEqual(1, run.returncode)
        self.assertRegex(run.stderr, r"blocks: block failed: place=.*\.md:3, exit=1")
        self.assertNotIn("\nafter", run.stdout)
        self.assertNotIn("\nnext", run.stdout)

    def test_commands_have_no_input(self):
        run = self.run_page("```sh\ncat\necho end\n```\n")
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn("\nend\n", run.stdout)

    def test_blocks_of_a_group_run_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder:
            # Each waits for the other: one after the other they would not end.
            run = self.run_page(f"""\
                ```sh group=two until=ready:
                mkfifo {folder}/a {folder}/b
                echo ready: now
                echo to >{folder}/a
                cat {folder}/b
                ```
                and

                ```sh group=two
                cat {folder}/a
                echo fro >{folder}/b
                ```
                """)
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn("1| fro\n", run.stdout)
        self.assertIn("2| to\n", run.stdout)

    def test_failure_in_a_group_ends_the_others(self):
        for first, second in ("exit 3", "sleep 600"), ("sleep 600", "exit 3"):
            with self.subTest(first):
                run = self.run_page(f"""\
                    ```sh group=two until=ready
                    echo ready
                    {first}
                    ```
                    ```sh group=two
                    {second}
                    ```
                    """)
                self.assertEqual(1, run.returncode)
                self.assertIn("exit=3", run.stderr)

    def test_block_that_ends_without_its_text_fails(self):
        run = self.run_page("```sh group=g until=ready\necho other\n```\n```sh group=g\necho next\n```\n")
        self.assertEqual(1, run.returncode)
        self.assertIn("ended without the text", run.stderr)
        self.assertNotIn("| next", run.stdout)

    def test_ends_processes_that_a_block_has_left(self):
        with tempfile.TemporaryDirectory() as folder:
            # The process holds the FIFO open for writing; the read below ends when it does.
            os.mkfifo(f"{folder}/held")
            reader = os.open(f"{folder}/held", os.O_RDONLY | os.O_NONBLOCK)
            try:
                run = self.run_page(f"```sh\nsleep 600 3>{folder}/held >/dev/null 2>&1 &\n```\n")
                os.set_blocking(reader, True)
                self.assertEqual(b"", os.read(reader, 1))
            finally:
                os.close(reader)
        self.assertEqual(0, run.returncode, run.stderr)

    def test_signals_a_group_only_while_its_number_cannot_be_reused(self):
        """A zombie keeps its number; after it was reaped, another group could have it."""
        killpg, signalled = os.killpg, []

        def checked_killpg(group, how):
            os.waitid(os.P_PID, group, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # ChildProcessError if it was reaped
            signalled.append(group)
            killpg(group, how)

        for script, timeout, failure in (
                ("true", 60, None), ("exit 3", 60, "exit=3"), ("kill -9 $$", 60, "signal=9"),
                ("sleep 600", 0, "no end within 0 s: places=page:1")):
            with self.subTest(script), \
                    unittest.mock.patch.object(blocks.os, "killpg", checked_killpg), \
                    unittest.mock.patch.object(blocks, "TIMEOUT_SECONDS", timeout), \
                    contextlib.redirect_stdout(io.StringIO()):
                signalled.clear()
                group = [blocks.Block("page", 1, script + "\n")]
                if failure is None:
                    blocks.run(group)
                else:
                    with self.assertRaisesRegex(blocks.BlocksError, failure):
                        blocks.run(group)
                self.assertTrue(signalled)
                with self.assertRaises(ChildProcessError):
                    os.waitid(os.P_PID, signalled[0], os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def test_refuses_pages_that_it_could_misread(self):
        for text, reason in (
                ("```bash\nls\n```\n", "expected=sh"),
                ("```sh\nls\n", "not closed"),
                ("```sh gruop=a\nls\n```\n", "option of a block"),
                ("```sh until=a\nls\n```\n", "until without a group"),
                ("```sh group=a\nls\n```\n```sh\nls\n```\n```sh group=a\nls\n```\n", "do not follow"),
                ("no block\n", "no command block")):
            with self.subTest(reason):
                run = self.run_page(text)
                self.assertEqual(1, run.returncode)
                self.assertIn(reason, run.stderr)
                self.assertNotIn("--", run.stdout)

    def test_lists_blocks_without_running_them(self):
        run = self.run_page("```sh\nexit 1\n```\n", "--list")
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn("exit 1", run.stdout)


if __name__ == "__main__":
    unittest.main()

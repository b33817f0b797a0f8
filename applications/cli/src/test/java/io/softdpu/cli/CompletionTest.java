package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the completion script, in bash. */
@StartsProcesses
class CompletionTest {
    @TempDir Path folder;

    private Path script;

    @BeforeEach
    void writeScript() throws Exception {
        script = Files.writeString(folder.resolve("completion"), printed("bash"));
    }

    private static String printed(String shell) {
        StringWriter out = new StringWriter();
        assertThat(SoftDpu.commandLine().setOut(new PrintWriter(out)).execute("completion", shell))
                .isZero();
        return out.toString();
    }

    /** The completions of a line whose last word is incomplete. */
    private List<String> completionsOf(String line) throws Exception {
        String words = "'" + String.join("' '", line.split(" ", -1)) + "'";
        return bash(
                "source \"$1\"; COMP_LINE='"
                        + line
                        + "'; COMP_WORDS=("
                        + words
                        + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _complete_softdpu 2>/dev/null;"
                        + " printf '%s\\n' \"${COMPREPLY[@]}\"");
    }

    private List<String> bash(String command) throws Exception {
        Path output = folder.resolve("output");
        Process bash =
                new ProcessBuilder("bash", "--norc", "-c", command, "bash", script.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        try {
            assertThat(bash.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            bash.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(output);
        assertThat(bash.exitValue()).as(String.join("\n", lines)).isZero();
        return lines;
    }

    @Test
    void shouldBeAScriptThatBashCanParse() throws Exception {
        assertThat(bash("bash -n \"$1\"")).isEmpty();
        assertThat(bash("source \"$1\"; complete -p softdpu"))
                .singleElement()
                .asString()
                .contains("_complete_softdpu");
    }

    @ParameterizedTest
    @CsvSource({
        "softdpu de, demo",
        "softdpu storage z, zero-copy",
        "softdpu sample pe-po, pe-polling",
        "softdpu demo --js, --json",
        "softdpu devices --side d, dpu",
        "softdpu caps --device pf1, pf1vf0",
        "softdpu caps -d pf, pf0",
        "softdpu caps --library sy, sync-event",
        "softdpu storage target --device t, t0",
        "softdpu storage initiator -d pf0v, pf0vf1",
        "softdpu sample sha --device p, p1",
        "softdpu sample rdma-send -d t, t0",
        "softdpu demo --log-level tr, trace",
        "softdpu perf comch rate --wait b, busy",
        "softdpu perf rdma latency --op fe, fetch-add",
        "softdpu sample rdma-sync-event-req, rdma-sync-event-requester",
        "softdpu sample rdma-send --use, --use-rdma-cm",
        "softdpu storage initiator --execution-strategy read_o, read_only_data_validity_test"
    })
    void shouldCompleteCommandsOptionsAndValues(String line, String word) throws Exception {
        assertThat(completionsOf(line)).contains(word);
    }

    @Test
    void shouldNotCompleteWhatHelpHides() throws Exception {
        assertThat(completionsOf("softdpu perf com")).containsExactly("comch");
        assertThat(completionsOf("softdpu perf rd")).containsExactly("rdma");
        assertThat(completionsOf("softdpu storage initiator --exit"))
                .doesNotContain("--exit-with-parent");
        assertThat(printed("bash"))
                .doesNotContain("exit-with-parent")
                .doesNotContain("parent-folder");
    }

    @Test
    void shouldBeTheSameScriptForZsh() {
        assertThat(printed("zsh")).isEqualTo(printed("bash")).contains("bashcompinit");
    }
}

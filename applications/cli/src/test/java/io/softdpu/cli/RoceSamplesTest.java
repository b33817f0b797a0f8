package io.softdpu.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The RDMA samples over UDP, between processes that have no fabric folder in common. */
class RoceSamplesTest {
    private static final String TEXT = "text=Hi DOCA RDMA!";
    private static final String IMMEDIATE = "immediate=0x12345678, " + TEXT;

    /** Requester or sender by responder or receiver. */
    private static final Map<String, String> PAIRS =
            Map.of(
                    "rdma-read-responder", "rdma-read-requester",
                    "rdma-write-responder", "rdma-write-requester",
                    "rdma-write-immediate-responder", "rdma-write-immediate-requester",
                    "rdma-receive", "rdma-send",
                    "rdma-receive-immediate", "rdma-send-immediate",
                    "rdma-sync-event-responder", "rdma-sync-event-requester");

    /** Last line of each that prints what the peer has moved. */
    private static final Map<String, String> RESULTS =
            Map.of(
                    "rdma-read-requester", "read: bytes=13, " + TEXT,
                    "rdma-write-responder", "written by the peer: bytes=13, " + TEXT,
                    "rdma-write-immediate-responder", "written by the peer: bytes=13, " + IMMEDIATE,
                    "rdma-receive", "received: bytes=13, " + TEXT,
                    "rdma-receive-immediate", "received: bytes=13, " + IMMEDIATE,
                    "rdma-sync-event-responder", "completed by the peer: value=0xffffffffffffffff",
                    "rdma-sync-event-requester", "signalled by the peer: value=0xd0cb");

    @TempDir Path folder;

    /** A topology with addresses that no other JVM of tests and no program uses. */
    private Path card;

    private int runs;

    @BeforeEach
    void makeTheCard() throws IOException {
        String builtin = String.join("\n", Run.ofWords("topology --json").outputLines());
        String own =
                builtin.replace("\"127.3.0.1\"", '"' + RdmaParty.DPU + '"')
                        .replace("\"127.11.0.1\"", '"' + RdmaParty.TARGET + '"');
        assertThat(own).contains(RdmaParty.DPU, RdmaParty.TARGET);
        card = Files.writeString(folder.resolve("card.json"), own);
    }

    private JavaCommand inFolderOf(String side, JavaCommand command, String seed)
            throws IOException {
        Path fabric = Files.createDirectories(folder.resolve(side));
        JavaCommand there =
                command.withEnvironment("SOFTDPU_FABRIC", fabric.toString())
                        .withEnvironment("SOFTDPU_TOPOLOGY", card.toString());
        return seed.isEmpty() ? there : there.withEnvironment("SOFTDPU_SANITIZE", seed);
    }

    /** Words of a sample; each of a pair names the files that its peer writes. */
    private String words(String name, boolean isFirst, boolean byAddress) {
        List<String> words =
                new ArrayList<>(List.of("sample", name, "--provider", "roce", "--timeout"));
        words.add(Long.toString(Patience.SECONDS));
        String files = folder.resolve("run" + runs).toString();
        if (!byAddress) {
            words.addAll(List.of("-ld", files + (isFirst ? "a" : "b")));
            words.addAll(List.of("-re", files + (isFirst ? "b" : "a")));
        } else {
            words.add("--use-rdma-cm");
            if (!isFirst) {
                words.addAll(List.of("--address", RdmaParty.DPU));
            }
        }
        if (name.endsWith("responder") || name.endsWith("requester")) {
            words.addAll(List.of("-m", files + "m"));
        }
        return String.join(" ", words);
    }

    @Smoke
    @Test
    void shouldReadWithoutAFabricFolderInCommon(Processes processes) throws IOException {
        List<ChildProcess> both = new ArrayList<>();
        for (String name : List.of("rdma-read-responder", "rdma-read-requester")) {
            String[] words = words(name, both.isEmpty(), false).split(" ");
            both.add(
                    processes.start(
                            inFolderOf(
                                    name,
                                    JavaCommand.ofClass(SoftDpu.class).withArguments(words),
                                    "")));
        }
        for (ChildProcess each : both) {
            assertThat(each.awaitExit()).as("%s", each.errorLines()).isZero();
        }
        assertThat(both.getLast().outputLines()).contains("read: bytes=13, " + TEXT);
    }

    @StartsProcesses
    @ParameterizedTest
    @CsvSource({"false, ''", "true, ''", "false, 1", "true, 1"})
    void shouldPrintWhatThePeerHasMoved(boolean byAddress, String seed, Processes processes)
            throws IOException {
        ChildProcess first = processes.start(inFolderOf("first", CommandsOfInput.command(), seed));
        ChildProcess second =
                processes.start(inFolderOf("second", CommandsOfInput.command(), seed));
        for (Map.Entry<String, String> pair : PAIRS.entrySet()) {
            runs++;
            String ofFirst = words(pair.getKey(), true, byAddress);
            String ofSecond = words(pair.getValue(), false, byAddress);
            enter(first, ofFirst);
            if (byAddress) {
                first.awaitLine("^listening for " + pair.getValue() + ": ");
            }
            enter(second, ofSecond);
            assertEndsWell(second, ofSecond);
            if (pair.getKey().equals("rdma-write-responder")) {
                first.awaitLine("^press Enter when ");
                enter(first, "");
            }
            assertEndsWell(first, ofFirst);
        }
        for (ChildProcess each : List.of(first, second)) {
            each.standardInput().close();
            assertThat(each.awaitExit()).as("%s", each.errorLines()).isZero();
            assertThat(each.errorLines()).as("reports of the sanitizer among them").isEmpty();
        }
        List<String> lines = new ArrayList<>(first.outputLines());
        lines.addAll(second.outputLines());
        assertThat(lines).containsAll(RESULTS.values());
    }

    private static void enter(ChildProcess process, String line) throws IOException {
        process.standardInput().write((line + "\n").getBytes(UTF_8));
        process.standardInput().flush();
    }

    private static void assertEndsWell(ChildProcess process, String words) throws IOException {
        String end = process.awaitLine("^" + CommandsOfInput.EXIT + ".* " + words + "$");
        if (!end.startsWith(CommandsOfInput.EXIT + "0 ")) {
            process.standardInput().close();
            process.awaitExit(); // then all lines of its error are there
        }
        assertThat(end)
                .as("%s, %s", process.outputLines(), process.errorLines())
                .isEqualTo(CommandsOfInput.EXIT + "0 " + words);
    }
}

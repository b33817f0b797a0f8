package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the command that explains captures, with packets of the Linux driver. */
class PacketsCommandTest {
    @TempDir Path folder;

    private static byte[] capture(String name) throws IOException {
        try (InputStream input = PacketsCommandTest.class.getResourceAsStream(name)) {
            return Objects.requireNonNull(input, name).readAllBytes();
        }
    }

    private String file(byte[] bytes) throws IOException {
        return Files.write(folder.resolve("a.pcap"), bytes).toString();
    }

    @Test
    void shouldPrintALinePerPacketAndASummary() throws IOException {
        Run run = Run.of("packets", file(capture("v4-mix.pcap")));
        assertThat(run.errorLines()).isEmpty();
        assertThat(run.exit()).isZero();
        assertThat(run.outputLines().subList(0, 22))
                .allMatch(line -> line.matches(" +[0-9]+ +[0-9]+\\.[0-9]{6}  10\\.78\\.0\\..*"))
                .noneMatch(line -> line.contains("icrc") || line.contains("retransmission"));
        assertThat(run.outputLines().get(0))
                .matches(
                        " +1 +0\\.000000  10\\.78\\.0\\.1:[0-9]+ > 10\\.78\\.0\\.2  SEND_FIRST +"
                                + " queuePair=0x0000[0-9a-f]{2}, psn=0x000100, bytes=1024");
        assertThat(run.outputLines())
                .anyMatch(line -> line.matches(".*READ_REQUEST.* lengthBytes=3000, key=0x.*"))
                .anyMatch(line -> line.matches(".*FETCH_ADD .*, add=0x.*"))
                .anyMatch(line -> line.matches(".*SEND_LAST_IMMEDIATE.*immediate=0xcafe1234.*"))
                .anyMatch(line -> line.matches(".*ACKNOWLEDGE .* syndrome=ACK, msn=1"));
        assertThat(run.outputLines().subList(22, run.outputLines().size()))
                .hasSize(2)
                .first()
                .asString()
                .startsWith("connection: a=10.78.0.1, aQueuePair=0x")
                .contains("packets=22", "retransmissions=0, duplicates=0, gaps=0, naks=0");
        assertThat(run.outputLines().getLast())
                .isEqualTo(
                        "summary: packets=22, badIcrc=0, malformed=0, connectionMessages=0,"
                                + " otherFrames=0");
    }

    @Test
    void shouldNameThePacketWhosePayloadWasChanged() throws IOException {
        byte[] bytes = capture("v4-mix.pcap");
        bytes[24 + 16 + 14 + 28 + 12 + 100] ^= 1;
        Run all = Run.of("packets", file(bytes));
        assertThat(all.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(all.outputLines()).hasSizeGreaterThan(22);
        Run run = Run.of("packets", "--errors", file(bytes));
        assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(run.errorLines()).isEmpty();
        assertThat(run.outputLines()).hasSize(3);
        assertThat(run.outputLines().getFirst()).matches(" +1 .*SEND_FIRST.*, icrc=bad");
        assertThat(run.outputLines().getLast())
                .startsWith("summary: packets=22, badIcrc=1, malformed=0");
    }

    @Test
    void shouldSayWhyAPacketIsMalformed() throws IOException {
        byte[] bytes = capture("v4-mix.pcap");
        bytes[24 + 16 + 14 + 28 + 1] |= 1; // version
        Run run = Run.of("packets", "--errors", file(bytes));
        assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(run.outputLines().getFirst()).matches(" +1 .*MALFORMED, malformed=version");
        assertThat(run.outputLines().getLast()).contains("badIcrc=0, malformed=1");
    }

    @Test
    void shouldPrintConnectionMessagesWithPortsAndAddresses() throws IOException {
        Run run = Run.of("packets", file(capture("v6-rping-rdmacm.pcap")));
        assertThat(run.exit()).isZero();
        assertThat(run.outputLines())
                .anyMatch(line ->
                        line.matches(
                                ".* \\[fd77::[23]]:[0-9]+ > fd77::[23] .*, REQ: localId=0x.*,"
                                        + " source=fd77::[23], sourcePort=[0-9]+,"
                                        + " destination=fd77::[23], port=7174"));
        for (String name : List.of("REP", "RTU", "DREQ", "DREP")) {
            assertThat(run.outputLines())
                    .anyMatch(line ->
                            line.matches(
                                    ".* \\[fd77::[23]]:[0-9]+ > fd77::[23] .*, "
                                            + name
                                            + ": localId=0x[0-9a-f]{8}, remoteId=0x.*"));
        }
        assertThat(run.outputLines().getLast()).contains("connectionMessages=5");
    }

    @Test
    void shouldNoteRepeats() throws IOException {
        Run run = Run.of("packets", "--errors", file(capture("v4-nak-rnr.pcap")));
        assertThat(run.exit()).as("a note is no error of a packet").isZero();
        assertThat(run.outputLines())
                .hasSize(5 + 2)
                .first()
                .asString()
                .matches(".*SEND_ONLY.*, retransmission");
        assertThat(run.outputLines().get(5)).contains("retransmissions=5", "rnrNaks=5");
        Run whole = Run.of("packets", file(capture("v4-nak-rnr.pcap")));
        assertThat(whole.outputLines())
                .filteredOn(line -> line.contains("syndrome=RNR NAK, timerCode=12"))
                .hasSize(5);
    }

    @Test
    void shouldPrintAndWriteTheResultsAsJson() throws IOException {
        String capture = file(capture("v4-nak-rnr.pcap"));
        Run run = Run.of("packets", "--json", "-", capture);
        assertThat(run.exit()).isZero();
        JsonNode root = new ObjectMapper().readTree(String.join("\n", run.outputLines()));
        assertThat(root.get("packets").asInt()).isEqualTo(12);
        assertThat(root.get("bad_icrc").asInt()).isZero();
        assertThat(root.at("/connections/0/a").asText()).isEqualTo("10.78.0.1");
        assertThat(root.at("/connections/0/rnr_naks").asInt()).isEqualTo(5);
        assertThat(root.at("/noted_packets")).hasSize(5);
        assertThat(root.at("/noted_packets/0/text").asText()).endsWith("retransmission");

        Path json = folder.resolve("a.json");
        Run beside = Run.of("packets", "--errors", "--json", json.toString(), capture);
        assertThat(beside.outputLines()).hasSize(7);
        assertThat(new ObjectMapper().readTree(Files.readString(json))).isEqualTo(root);
    }

    @Test
    void shouldReadStandardInput() throws IOException {
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(capture("v4-mix.pcap")));
        try {
            Run run = Run.of("packets", "-");
            assertThat(run.exit()).isZero();
            assertThat(run.outputLines().getLast()).contains("packets=22, badIcrc=0");
        } finally {
            System.setIn(before);
        }
    }

    @Test
    void shouldPrintWhatIsBeforeACut() throws IOException {
        byte[] whole = capture("v4-mix.pcap");
        Run run = Run.of("packets", file(Arrays.copyOf(whole, whole.length - 1)));
        assertThat(run.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(run.outputLines()).hasSize(21 + 2);
        assertThat(run.outputLines().getLast()).startsWith("summary: packets=21, badIcrc=0");
        assertThat(run.errorLines().getFirst())
                .startsWith("softdpu: INVALID_VALUE: capture is cut: offsetBytes=");
    }

    @Test
    void shouldRefuseWhatItCannotRead() throws IOException {
        Run pcapng = Run.of("packets", file(new byte[] {10, 13, 13, 10, 0, 0, 0, 0}));
        assertThat(pcapng.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(pcapng.errorLines().getFirst())
                .startsWith("softdpu: NOT_SUPPORTED: ")
                .contains("editcap -F pcap");
        Run missing = Run.of("packets", folder + "/none.pcap");
        assertThat(missing.exit()).isEqualTo(ExitCode.FAILED.code());
        assertThat(missing.errorLines().getFirst())
                .startsWith("softdpu: NOT_FOUND: capture cannot be read: file=" + folder)
                .contains("reason=it does not exist");
        Run directory = Run.of("packets", folder.toString());
        assertThat(directory.errorLines().getFirst())
                .startsWith("softdpu: IO_FAILED: capture cannot be read: file=" + folder)
                .contains("it is a directory, expected=a regular file");
        Run.of("packets").assertRefused("value is missing: argument=FILE");
    }
}

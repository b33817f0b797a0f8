package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.OwnFabric;
import io.softdpu.testkit.SeededRandom;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the sample that hashes. */
@ExtendWith(OwnFabric.class)
class ShaDigestTest {
    @TempDir Path folder;

    private static String run(Topology card, Map<String, String> given) {
        Sample sample = SampleProgram.find("sha");
        Map<SampleOption, String> values = new HashMap<>();
        for (SampleOption option : sample.options()) {
            String value = given.get(option.longName());
            if (value != null) {
                values.put(option, value);
            }
        }
        assertThat(values).as("options that the sample has").hasSameSizeAs(given);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        sample.run(
                new SampleSettings(card, values),
                new PrintStream(out, true, StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }

    private static void assertRefused(Map<String, String> given, Status status, String words) {
        assertThatThrownBy(() -> run(Topology.builtin(), given))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(words);
    }

    private static String digest(byte[] data) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
    }

    @ParameterizedTest
    @CsvSource({
        "1, 0",
        "63, 0",
        "64, 0",
        "65, 2",
        "128, 2",
        "129, 3",
        "256, 4",
        "257, 3",
        "100000, 4"
    })
    void shouldPrintTheDigestOfAFileAsAWholeAndInParts(int bytes, int parts, SeededRandom random)
            throws Exception {
        byte[] data = random.bytes(bytes);
        Path file = Files.write(folder.resolve("data"), data);
        assertThat(run(Topology.builtin(), Map.of("file", file.toString())).lines())
                .containsExactly(
                        Text.format("whole: bytes=%d, sha256=%s", bytes, digest(data)),
                        parts == 0
                                ? Text.format(
                                        "not hashed in parts, since it is no longer than a block:"
                                                + " bytes=%d, blockBytes=64",
                                        bytes)
                                : Text.format(
                                        "in parts: parts=%d, sha256=%s", parts, digest(data)));
    }

    @Test
    void shouldHashTheBytesOfATextInUtf8() throws Exception {
        String text = "gr\u00fc\u00dfe ".repeat(30);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        assertThat(run(Topology.builtin(), Map.of("text", text)))
                .contains(
                        Text.format("whole: bytes=%d, sha256=%s", bytes.length, digest(bytes)),
                        "in parts: parts=4, sha256=" + digest(bytes));
    }

    @Test
    void shouldRefuseInputThatIsNone() throws Exception {
        Path empty = Files.createFile(folder.resolve("empty"));
        String file = empty.toString();
        assertRefused(Map.of("text", ""), Status.INVALID_VALUE, "text is empty");
        assertRefused(Map.of("file", file), Status.INVALID_VALUE, "file is empty: file=" + file);
        assertRefused(
                Map.of("file", file, "text", "x"), Status.INVALID_VALUE, "either a file or a text");
        assertRefused(
                Map.of("file", file + "-not"), Status.IO_FAILED, "file cannot be read: file=");
    }

    @Test
    void shouldChooseADeviceThatHasSha() {
        Topology.Builder without = Topology.builder("without sha");
        Topology.Builder second = Topology.builder("sha on the second port");
        for (PciFunction function : Topology.builtin().functions()) {
            PciFunction none = function.toBuilder().limit("sha.max_tasks", 0).build();
            without.add(none);
            second.add(function.interfaceName().equals("p1") ? function : none);
        }
        assertThat(run(second.build(), Map.of("text", "abc"))).contains("ba7816bf");
        assertThatThrownBy(() -> run(without.build(), Map.of()))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                .hasMessageContaining("expected=a device of the side dpu for SHA");
    }
}

package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the text of the RDMA samples. */
class RdmaTextTest {
    private static MemorySegment memory(String content) {
        return MemorySegment.ofArray(content.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static RdmaText given(SampleOption option, String text) {
        return RdmaText.of(new SampleSettings(Topology.builtin(), Map.of(option, text)), option);
    }

    @Test
    @Clause({"rdma-207", "rdma-208", "rdma-209"})
    void shouldTakeTheDefaultWithoutAString() {
        for (SampleOption option :
                new SampleOption[] {
                    RdmaSampleSettings.READ_STRING,
                    RdmaSampleSettings.SEND_STRING,
                    RdmaSampleSettings.WRITE_STRING
                }) {
            assertThat(RdmaText.of(SampleSettings.NONE, option).text()).isEqualTo("Hi DOCA RDMA!");
            assertThat(given(option, "other").text()).isEqualTo("other");
        }
    }

    @Test
    void shouldFitTheLongestTextIntoMemoryWithItsEnd() {
        RdmaText longest = given(RdmaSampleSettings.SEND_STRING, "é".repeat(128));
        MemorySegment memory = MemorySegment.ofArray(new byte[RdmaText.MEMORY_BYTES]);
        longest.fill(memory);
        assertThat(RdmaText.verified(memory)).isEqualTo(longest);
        assertThat(RdmaText.verified(memory, 257)).isEqualTo(longest);
        RdmaText shorter = new RdmaText("short");
        shorter.fill(memory);
        assertThat(RdmaText.verified(memory)).as("nothing is left of it").isEqualTo(shorter);
    }

    @Test
    void shouldRefuseATextThatIsEmptyOrTooLong() {
        for (String text : new String[] {"", "x".repeat(257), "é".repeat(129)}) {
            assertThatThrownBy(() -> given(RdmaSampleSettings.WRITE_STRING, text))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                    .hasMessageContaining(
                            "length of the text is illegal: option=--write-string, lengthBytes="
                                    + text.getBytes(StandardCharsets.UTF_8).length
                                    + ", expected=1 to 256");
        }
    }

    /** Without an end, without a text, and not UTF-8. */
    @ParameterizedTest
    @ValueSource(strings = {"no end", "\0behind the end", "\u00ff\u00fe\0", "cut \u00c3\0"})
    @Clause("rdma-217")
    void shouldFindDataOfThePeerThatIsNoText(String content) {
        assertThatThrownBy(() -> RdmaText.verified(memory(content)))
                .isInstanceOf(WrongDataException.class);
    }

    @Test
    @Clause("rdma-217")
    void shouldFindATextThatDoesNotEndWithTheData() {
        MemorySegment memory = memory("text\0\0");
        assertThat(RdmaText.verified(memory, 5).text()).isEqualTo("text");
        for (long bytes : new long[] {0, 4, 6, 7, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> RdmaText.verified(memory, bytes))
                    .as("%d bytes", bytes)
                    .isInstanceOf(WrongDataException.class);
        }
    }

    @Test
    @Clause({"rdma-256", "rdma-271"})
    void shouldFindAnotherOperationOfThePeer() {
        for (RdmaOpcode expected : RdmaOpcode.values()) {
            for (RdmaOpcode opcode : RdmaOpcode.values()) {
                if (opcode == expected) {
                    RdmaText.verifyOpcode(opcode, expected);
                } else {
                    assertThatThrownBy(() -> RdmaText.verifyOpcode(opcode, expected))
                            .isInstanceOf(WrongDataException.class)
                            .hasMessageContaining("opcode=" + opcode + ", expected=" + expected);
                }
            }
        }
    }

    @Test
    void shouldFindAnotherImmediateValue() {
        RdmaText.verifyImmediate(0x12345678);
        assertThatThrownBy(() -> RdmaText.verifyImmediate(0x78563412))
                .isInstanceOf(WrongDataException.class)
                .hasMessageContaining("immediate=0x78563412, expected=0x12345678");
    }

    @Test
    void shouldShowControlCharactersOfThePeerEscaped() {
        assertThat(new RdmaText("a\u001b[2J").line("read"))
                .startsWith("read: bytes=5, text=a")
                .doesNotContain("\u001b");
        assertThat(new RdmaText("hi").line("received", -1))
                .isEqualTo("received: bytes=2, immediate=0xffffffff, text=hi");
    }
}

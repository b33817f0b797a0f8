package io.softdpu.rdma.roce.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.SeededRandom;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Statements of an end beside the fields of messages: GUID, explanation, codes of times. */
class EndGuidTest {
    private static final EndGuid EXAMPLE =
            new EndGuid(
                    Permissions.of(AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC),
                    0xc4,
                    1 << 18,
                    5,
                    0xabcdef);

    @Test
    void shouldPutEachFieldWhereTheDocumentHasIt() {
        assertThat(EXAMPLE.encode()).isEqualTo(0x5ed9_16c4_95ab_cdefL);
        assertThat(EndGuid.decode(0x5ed9_16c4_95ab_cdefL, 196)).isEqualTo(EXAMPLE);
    }

    @Test
    void shouldReturnWhatWasStated(SeededRandom random) {
        for (int round = 0; round < 1000; round++) {
            Permissions grants =
                    new Permissions((int) random.between(0, 7) * AccessFlag.RDMA_READ.bit());
            EndGuid sent =
                    new EndGuid(
                            grants,
                            random.nextInt(197),
                            1L << random.nextInt(32),
                            random.nextInt(1, 6),
                            random.nextInt(1 << 24));
            long bits = sent.encode();
            assertThat(EndGuid.decode(bits, 196)).isEqualTo(sent);
            assertThat(bits >>> 24 & 0xffff).as("of a MAC address").isNotEqualTo(0xfffe);
        }
    }

    @Test
    void shouldTakeOtherGuidsAndVersionsForThoseOfOtherEnds() {
        assertThat(EndGuid.decode(FarEnd.LINUX_GUID, 56)).isNull();
        assertThat(EndGuid.decode(0, 56)).isNull();
        assertThat(EndGuid.decode(0x5ed9_2000_0dab_cdefL, 56)).as("version 2").isNull();
        assertThat(EndGuid.decode(0x5ed8_1000_0dab_cdefL, 56)).isNull();
        assertThat(EndGuid.isOne(0x5ed9_1000_0000_0000L)).isTrue();
    }

    @Test
    void shouldRefuseIllegalFields() {
        assertThatThrownBy(() -> EndGuid.decode(EXAMPLE.encode(), 0xc3))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("field=privateDataBytes, value=196, expected=0 to 195");
        for (long mtu : new long[] {0, 6, 7}) {
            assertThatThrownBy(() -> EndGuid.decode(0x5ed9_1000_0000_0000L | mtu << 24, 56))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining("field=pathMtuCode, value=" + mtu + ", expected=1 to 5");
        }
    }

    @ParameterizedTest
    @CsvSource({"256, 1", "512, 2", "1024, 3", "2048, 4", "4096, 5"})
    void shouldKnowTheCodesOfPathMtus(int bytes, int code) {
        assertThat(EndGuid.mtuCode(bytes)).isEqualTo(code);
        assertThat(EndGuid.mtuBytes(code)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "3, 2", "4096, 4096", "4097, 4096", "9000000000, 2147483648"})
    void shouldStateTheNextLowerPowerOfTwoOfABuffer(long bytes, long stated) {
        LocalTerms terms =
                new LocalTerms(CmEnd.attachment(EndGuid.ALL), bytes, 1024, 1, 1, 17, 7, 7, 1);
        assertThat(EndGuid.of(terms, 3, 0, 0).receiveBufferBytes()).isEqualTo(stated);
    }

    @Test
    void shouldReturnAnExplanation() {
        for (boolean byLibrary : new boolean[] {false, true}) {
            Explanation sent = new Explanation(EXAMPLE.encode(), byLibrary, 148);
            byte[] bytes = sent.encode();
            assertThat(bytes).hasSize(Explanation.WIRE_BYTES);
            assertThat(bytes[8]).isEqualTo((byte) (byLibrary ? 2 : 1));
            assertThat(bytes[9]).isEqualTo((byte) 148);
            assertThat(Explanation.decode(bytes, 148)).isEqualTo(sent);
            assertThat(Explanation.decode(bytes, 147)).isNull();
            assertThat(Explanation.decode(Arrays.copyOf(bytes, 9), 148)).isNull();
            assertThat(Explanation.guid(bytes)).isEqualTo(EXAMPLE.encode());
        }
        assertThat(Explanation.guid(new byte[7])).isZero();
        byte[] foreign = new Explanation(FarEnd.LINUX_GUID, true, 0).encode();
        assertThat(Explanation.decode(foreign, 148)).isNull();
        byte[] illegal = new Explanation(EXAMPLE.encode(), true, 0).encode();
        illegal[8] = 3;
        assertThat(Explanation.decode(illegal, 148)).isNull();
        illegal[8] = 0;
        assertThat(Explanation.decode(illegal, 148)).isNull();
    }

    @Test
    void shouldCutTextsAndHideWhatIsNotPrintable() {
        assertThat(Explanation.text("abcdef", 4))
                .isEqualTo("abcd".getBytes(StandardCharsets.US_ASCII));
        assertThat(Explanation.text("abc", 4)).hasSize(3);
        assertThat(Explanation.foreignText(new byte[] {'x', 'a', 31, 127, -1, ' ', '~'}, 1, 6))
                .isEqualTo("a??? ~");
    }

    @Test
    void shouldKnowTheCodesOfTimes() {
        assertThat(TimeCode.nanos(0)).isEqualTo(4096);
        assertThat(TimeCode.nanos(31)).isEqualTo(4096L << 31);
        assertThat(TimeCode.atLeast(1)).isZero();
        assertThat(TimeCode.atLeast(4096)).isZero();
        assertThat(TimeCode.atLeast(4097)).isEqualTo(1);
        assertThat(TimeCode.atLeast(1_000_000_000)).isEqualTo(18);
        assertThat(TimeCode.atLeast(Long.MAX_VALUE)).isEqualTo(31);
    }

    @Test
    void shouldRefuseLimitsOutOfOrder() {
        assertThatThrownBy(() -> new CmLimits(1, 1, 2, 1, 1, 1, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("firstRepeatNanos=2, lastRepeatNanos=1");
        for (int zero = 0; zero < 7; zero++) {
            long[] values = {1, 1, 1, 1, 1, 1, 1};
            values[zero] = 0;
            assertThatThrownBy(() ->
                            new CmLimits(
                                    (int) values[0],
                                    (int) values[1],
                                    values[2],
                                    values[3],
                                    values[4],
                                    values[5],
                                    values[6]))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}

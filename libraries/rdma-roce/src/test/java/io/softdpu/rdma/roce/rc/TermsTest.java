package io.softdpu.rdma.roce.rc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import io.softdpu.rdma.spi.RnrTimer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The ranges of the terms of a connection and of the limits of an adapter: both ends of each. */
class TermsTest {
    private static final Gid PEER = new Gid(0, 0xffff_0a00_0001L);
    private static final long[] TERMS = {
        5, 6, 7, 1024, 1, 16, 16, 7, Path.DEFAULT_TIMEOUT_NANOS, 6
    };
    private static final long[] LIMITS = {1024, 1 << 20, 64 << 10, 16, 4, 2_000_000_000};

    private static Path path(long[] terms) {
        return new Path(
                PEER,
                (int) terms[0],
                (int) terms[1],
                (int) terms[2],
                (int) terms[3],
                (int) terms[4],
                (int) terms[5],
                (int) terms[6],
                (int) terms[7],
                terms[8],
                (int) terms[9]);
    }

    private static Limits limits(long[] values) {
        return new Limits(
                (int) values[0],
                values[1],
                (int) values[2],
                (int) values[3],
                (int) values[4],
                values[5],
                RnrTimer.LONGEST);
    }

    private static long[] changed(long[] values, int index, long value) {
        long[] changed = Arrays.copyOf(values, values.length);
        changed[index] = value;
        return changed;
    }

    @ParameterizedTest
    @CsvSource({
        "0, peerQueuePair, 0, 16777215",
        "1, sendPsn, 0, 16777215",
        "2, receivePsn, 0, 16777215",
        "3, mtuBytes, 256, 4096",
        "4, peerIdentifications, 1, 65536",
        "5, responderResources, 0, 255",
        "6, initiatorDepth, 0, 255",
        "7, transportRetries, 0, 7",
        "8, timeoutNanos, 1, 1152921504606846975",
        "9, rnrRetries, 0, 7"
    })
    void shouldTakeATermWithinItsRangeOnly(int index, String name, long least, long most) {
        assertThatCode(() -> path(changed(TERMS, index, least))).doesNotThrowAnyException();
        assertThatCode(() -> path(changed(TERMS, index, most))).doesNotThrowAnyException();
        for (long outside : new long[] {least - 1, most + 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> path(changed(TERMS, index, outside)))
                    .withMessage(
                            "value of a path: %s=%d, expected=%d to %d",
                            name, outside, least, most);
        }
    }

    @Test
    void shouldRefuseAnMtuThatIsNoPowerOfTwo() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> path(changed(TERMS, 3, 1025)))
                .withMessage("value of a path: bits of mtuBytes=2, expected=1 to 1");
    }

    @ParameterizedTest
    @CsvSource({
        "0, windowPackets, 1, 8388607",
        "1, windowBytes, 1, 9223372036854775807",
        "2, ackBytes, 1, 2147483647",
        "3, atomicResults, 16, 65536",
        "4, maxPieces, 1, 65536",
        "5, idleNanos, 1, 4611686018427387903"
    })
    void shouldTakeALimitWithinItsRangeOnly(int index, String name, long least, long most) {
        assertThatCode(() -> limits(changed(LIMITS, index, least))).doesNotThrowAnyException();
        assertThatCode(() -> limits(changed(LIMITS, index, most))).doesNotThrowAnyException();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(changed(LIMITS, index, least - 1)))
                .withMessage(
                        "limit of queue pairs: %s=%d, expected=%d to %d",
                        name, least - 1, least, most);
    }

    /** The protocol's own limit: half of the space of sequence numbers, less one. */
    @Test
    void shouldRefuseAWindowOfHalfOfAllSequenceNumbers() {
        assertThat(limits(LIMITS).windowPackets()).isEqualTo(1024);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(changed(LIMITS, 0, SequenceNumber.MAX_WINDOW)))
                .withMessageContaining("windowPackets=8388608");
    }
}

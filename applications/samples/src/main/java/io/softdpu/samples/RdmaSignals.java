package io.softdpu.samples;

import io.softdpu.linux.text.Text;

/**
 * Values of the sync event of the RDMA samples, which both sides know: each is greater than the one
 * before, so that a side waits for a value greater than that of its own signal.
 */
final class RdmaSignals {
    /** The signal of the requester. */
    static final long SIGNAL = 0xD0CA;

    /** The signal of the responder. */
    static final long ANSWER = SIGNAL + 1;

    /** The greatest value, by which the requester announces that it is done. */
    static final long COMPLETION = -1;

    private RdmaSignals() {}

    /**
     * Verifies the value by which the peer has signalled.
     *
     * @throws WrongDataException if it is another
     */
    static void verify(long value, long expected) {
        if (value != expected) {
            throw new WrongDataException(
                    Text.format(
                            "value of the sync event is wrong: value=%#x, expected=%#x",
                            value, expected));
        }
    }

    /** A line about a value. */
    static String line(String what, long value) {
        return Text.format("%s: value=%#x", what, value);
    }
}

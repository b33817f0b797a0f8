package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;

/**
 * Exception for received data that differs from the expected data. Status IO_FAILED; the message
 * names the offset and the two bytes, and shows the surrounding bytes.
 */
public final class DataMismatchException extends DpuException {
    private static final long serialVersionUID = 1L;

    /** The offset of the first byte that differs. */
    private final long offset;

    /** The bytes around it. */
    private final String hexDump;

    DataMismatchException(String phase, long offset, byte expected, byte actual, String hexDump) {
        super(
                Status.IO_FAILED,
                Text.format(
                        "data differs from the expected data: phase=%s, offsetBytes=%d,"
                                + " expected=0x%02x, actual=0x%02x",
                        phase, offset, expected, actual));
        this.offset = offset;
        this.hexDump = hexDump;
    }

    /** The reason in one line, followed by {@link #hexDump()}. */
    @Override
    public String getMessage() {
        return super.getMessage() + System.lineSeparator() + hexDump;
    }

    /** Offset of the first byte that differs, from the beginning of the storage. */
    public long offset() {
        return offset;
    }

    /** Expected and actual bytes around the offset, in several lines. */
    public String hexDump() {
        return hexDump;
    }
}

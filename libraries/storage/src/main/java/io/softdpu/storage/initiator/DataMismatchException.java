package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/**
 * The data that arrived is not the data that was expected. Status IO_FAILED; the message names the
 * offset and the two bytes, and shows what stands around them.
 */
public final class DataMismatchException extends DpuException {
    private static final long serialVersionUID = 1L;

    private final long offset;
    private final String hexDump;

    DataMismatchException(String phase, long offset, byte expected, byte actual, String hexDump) {
        super(
                Status.IO_FAILED,
                "data is not what was expected: phase=%s, offset=%d, expected=0x%02x, actual=0x%02x"
                        .formatted(phase, offset, expected, actual));
        this.offset = offset;
        this.hexDump = hexDump;
    }

    /** The reason in a line, and the lines of {@link #hexDump()} below it. */
    @Override
    public String getMessage() {
        return super.getMessage() + System.lineSeparator() + hexDump;
    }

    /** The first byte that differs, counted from the beginning of the storage. */
    public long offset() {
        return offset;
    }

    /** Several lines: what was expected around the offset, and what is there. */
    public String hexDump() {
        return hexDump;
    }
}

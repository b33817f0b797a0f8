package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** What an io_message asks for or says: field {@code type} of the 64 bytes. */
public enum IoType {
    /** The answer to a read or a write; field {@code result} holds a status code. */
    RESULT(0),

    /** Bytes of the storage shall be put in the requester's memory. */
    READ(1),

    /** Bytes of the requester's memory shall be put in the storage. */
    WRITE(2);

    private final int code;

    IoType(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }

    /**
     * The type with this number.
     *
     * @throws DpuException INVALID_VALUE where no type has the number
     */
    public static IoType ofCode(int code) {
        return switch (code) {
            case 0 -> RESULT;
            case 1 -> READ;
            case 2 -> WRITE;
            default ->
                    throw new DpuException(
                            Status.INVALID_VALUE,
                            "io_message type is unknown: type="
                                    + Integer.toUnsignedString(code)
                                    + ", expected=0 (result), 1 (read) or 2 (write)");
        };
    }
}

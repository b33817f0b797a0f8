package io.softdpu.storage.wire;

/** Type of an io_message: field {@code type} of the 64 bytes. */
public enum IoType {
    /** Response to a read or a write; field {@code result} holds a status code. */
    RESULT(0),

    /** Request to copy bytes of the storage to the requester's memory. */
    READ(1),

    /** Request to copy bytes of the requester's memory to the storage. */
    WRITE(2);

    private final int code;

    IoType(int code) {
        this.code = code;
    }

    /** The number on the wire. */
    public int code() {
        return code;
    }
}

package io.softdpu.storage.wire;

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
}

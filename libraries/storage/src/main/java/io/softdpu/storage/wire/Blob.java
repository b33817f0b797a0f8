package io.softdpu.storage.wire;

import java.util.Arrays;

/** Bytes that are passed on without being looked at: an export or the details of a connection. */
public final class Blob {
    private final byte[] bytes;

    private Blob(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A blob of a copy of these bytes. */
    public static Blob of(byte[] bytes) {
        return new Blob(bytes.clone());
    }

    /** A copy of the bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** How many bytes there are. */
    public int sizeBytes() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Blob blob && Arrays.equals(bytes, blob.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The size alone: a blob holds keys, which do not belong in a log. */
    @Override
    public String toString() {
        return bytes.length + " bytes";
    }
}

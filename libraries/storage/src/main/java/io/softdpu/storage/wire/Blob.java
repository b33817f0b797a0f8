package io.softdpu.storage.wire;

import java.util.Arrays;

/** Opaque bytes: an mmap export or the details of an RDMA connection. Immutable; any thread. */
public final class Blob {
    private final byte[] bytes;

    private Blob(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Creates a blob with a copy of the bytes. */
    public static Blob of(byte[] bytes) {
        return new Blob(bytes.clone());
    }

    /** A copy of the bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The number of bytes. */
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

    /** Only the size: a blob contains keys, which must not be logged. */
    @Override
    public String toString() {
        return bytes.length + " bytes";
    }
}

package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Messages between the two processes of dma-copy on the Comm Channel: from the host, the length and
 * SHA-256 of its data and the export blob of its memory; from the DPU, whether the copy is right.
 * Big endian.
 */
final class CopyMessage {
    /** The name under which the DPU listens. */
    static final String SERVER = "dma-copy";

    /** The replies of the DPU, each a message of one byte. */
    static final byte RIGHT = 1;

    static final byte WRONG = 0;

    private static final int HEADER_BYTES = 8 + 32;

    private final long sizeBytes;
    private final byte[] sha256;
    private final byte[] blob;

    /**
     * A message of the host.
     *
     * @param sizeBytes how much data there is, from the start of the memory on
     * @param sha256 of the data
     * @param blob what {@code Mmap.exportPci} gave
     */
    CopyMessage(long sizeBytes, byte[] sha256, byte[] blob) {
        this.sizeBytes = sizeBytes;
        this.sha256 = sha256;
        this.blob = blob;
    }

    long sizeBytes() {
        return sizeBytes;
    }

    byte[] sha256() {
        return sha256;
    }

    byte[] blob() {
        return blob;
    }

    byte[] encoded() {
        return ByteBuffer.allocate(HEADER_BYTES + blob.length)
                .putLong(sizeBytes)
                .put(sha256)
                .put(blob)
                .array();
    }

    /** Reads a message; what a peer has sent is never trusted. */
    static CopyMessage decode(byte[] message) {
        ByteBuffer in = ByteBuffer.wrap(message);
        long sizeBytes = message.length > HEADER_BYTES ? in.getLong() : 0;
        if (sizeBytes < 1 || sizeBytes > Integer.MAX_VALUE) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "not a message of dma-copy-host: lengthBytes=%d, sizeBytes=%d",
                            message.length, sizeBytes));
        }
        byte[] sha256 = new byte[32];
        in.get(sha256);
        return new CopyMessage(
                sizeBytes, sha256, Arrays.copyOfRange(message, HEADER_BYTES, message.length));
    }

    static byte[] digest(ByteBuffer data) {
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(data);
            return sha256.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}

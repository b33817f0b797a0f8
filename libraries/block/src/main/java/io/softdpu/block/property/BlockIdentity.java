package io.softdpu.block.property;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.linux.text.Text;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Identity of the content of a block device: 16 bytes. A device that may have lost acknowledged
 * data has another identity than before, so who has kept blocks, or a record of what was written,
 * can tell whether these still belong together. Immutable; any thread.
 *
 * @param high the first 8 bytes, big-endian
 * @param low the last 8 bytes, big-endian
 */
public record BlockIdentity(long high, long low) {
    /** Number of bytes. */
    public static final int SIZE_BYTES = 16;

    private static final SecureRandom RANDOM = new SecureRandom();

    /** A random identity, which no other device has. */
    public static BlockIdentity random() {
        return new BlockIdentity(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /**
     * The identity of these bytes.
     *
     * @throws DpuException INVALID_VALUE unless there are {@link #SIZE_BYTES}
     */
    public static BlockIdentity ofBytes(byte[] bytes) {
        if (Arguments.notNull(bytes, "bytes").length != SIZE_BYTES) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "not an identity: sizeBytes=%d, expected=%d",
                            bytes.length, SIZE_BYTES));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new BlockIdentity(buffer.getLong(), buffer.getLong());
    }

    /** Its {@link #SIZE_BYTES} bytes, in an array of the caller's own. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(SIZE_BYTES).putLong(high).putLong(low).array();
    }

    /** The bytes as 32 hexadecimal digits. */
    @Override
    public String toString() {
        return Text.format("%016x%016x", high, low);
    }
}

package io.softdpu.storage.workload;

import io.softdpu.block.memory.Pattern;
import io.softdpu.core.DpuException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.OptionalLong;

/**
 * Bytes determined by their offset: initial content of a volume, or data that an initiator writes
 * or expects.
 *
 * <p>Each part can be generated without the rest, so each process can verify data without a second
 * copy. Implementations are immutable; any thread.
 */
public interface Content {
    /** Seed of the default pattern of a volume. */
    long VOLUME_PATTERN_SEED = Pattern.DEVICE_SEED;

    /**
     * Fills a piece of memory.
     *
     * @param destination filled completely
     * @param offset of the piece within the content, in bytes, not negative
     * @throws DpuException INVALID_VALUE if the content is too short or not a regular file,
     *     IO_FAILED if it cannot be read
     */
    void fill(MemorySegment destination, long offset);

    /** The size of a content in bytes; empty for an infinite one. */
    default OptionalLong sizeBytes() {
        return OptionalLong.empty();
    }

    /** Description for messages. */
    @Override
    String toString();

    /** The SHA-256 of the first bytes, in hexadecimal, lower case. */
    default String sha256(long sizeBytes) {
        MessageDigest digest = ContentSources.sha256();
        byte[] piece = new byte[(int) Math.min(sizeBytes, ContentSources.PIECE_BYTES)];
        for (long offset = 0; offset < sizeBytes; offset += piece.length) {
            int length = (int) Math.min(piece.length, sizeBytes - offset);
            fill(MemorySegment.ofArray(piece).asSlice(0, length), offset);
            digest.update(piece, 0, length);
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    /**
     * Pattern whose words of 8 bytes are all different, so that bytes from a wrong offset are
     * detected: the little-endian number at byte {@code 8 * i} is the finalizer of SplitMix64 of
     * {@code seed + i * 0x9E3779B97F4A7C15}.
     */
    static Content pattern(long seed) {
        return new ContentSources.OfPattern(new Pattern(seed));
    }

    /** Content whose byte at offset {@code i} is {@code i mod 256}. */
    static Content indexModulo256() {
        return ContentSources.INDEX_MODULO_256;
    }

    /** Content whose bytes are all 0. */
    static Content zeros() {
        return ContentSources.ZEROS;
    }

    /** Content of a file, which is opened and read on each access. */
    static Content file(Path file) {
        return new ContentSources.OfFile(file);
    }
}

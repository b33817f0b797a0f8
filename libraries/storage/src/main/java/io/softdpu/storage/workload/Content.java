package io.softdpu.storage.workload;

import io.softdpu.core.DpuException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.OptionalLong;

/**
 * Bytes that are known by their offset: what a volume holds, what an initiator writes or expects.
 *
 * <p>Any part can be made anywhere without the rest, so each process can say what it expects and
 * nobody needs to keep a second copy. Implementations are immutable and may be used by any thread.
 */
public interface Content {
    /** The seed of the pattern that a volume holds where nobody loads anything else. */
    long VOLUME_PATTERN_SEED = 0x736F_6674_6470_7531L;

    /**
     * Fills a piece of memory.
     *
     * @param destination all of it is filled
     * @param offset where the piece begins in the content, in bytes, not negative
     * @throws DpuException INVALID_VALUE where the content does not reach so far or is no regular
     *     file, IO_FAILED where it cannot be read
     */
    void fill(MemorySegment destination, long offset);

    /** The size of a content that has one; empty for one that goes on for ever. */
    default OptionalLong sizeBytes() {
        return OptionalLong.empty();
    }

    /** Says what this is, for messages. */
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
     * A pattern in which each 8 bytes differ from all others near and far, so that bytes from a
     * wrong place are noticed: the little-endian number at byte {@code 8 * i} is the finalizer of
     * SplitMix64 of {@code seed + i * 0x9E3779B97F4A7C15}.
     */
    static Content pattern(long seed) {
        return new ContentSources.Pattern(seed);
    }

    /** The byte at offset {@code i} is {@code i mod 256}. */
    static Content indexModulo256() {
        return ContentSources.INDEX_MODULO_256;
    }

    /** Every byte is 0. */
    static Content zeros() {
        return ContentSources.ZEROS;
    }

    /** The bytes of a file, read when they are needed. */
    static Content file(Path file) {
        return new ContentSources.OfFile(file);
    }
}

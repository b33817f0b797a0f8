package io.softdpu.compute;

import java.lang.foreign.MemorySegment;

/**
 * Memory that the hashes of one thread share: a piece of a source is copied here before it is
 * hashed, so that each of its bytes is read once and the digest needs no buffer of its own; the
 * digest is placed here before it is copied to its destination.
 */
final class ShaScratch {
    /** Limit of bytes hashed at a time: stays in the first-level cache. */
    static final int PIECE_BYTES = 8 << 10;

    final byte[] piece = new byte[PIECE_BYTES];
    final MemorySegment pieceMemory = MemorySegment.ofArray(piece);
    final byte[] digest = new byte[ShaAlgorithm.MAX_DIGEST_BYTES];
    final MemorySegment digestMemory = MemorySegment.ofArray(digest);
}

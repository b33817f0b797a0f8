package io.softdpu.compute;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.spi.BufLists;
import java.security.DigestException;
import java.security.MessageDigest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Hash of a list of bufs, whole or a part of one, whose digest is appended to another list. The
 * digest of a hash in parts is written by the last of them.
 */
final class Hash extends BufOperation {
    /**
     * Limit of bytes per progress: 20 µs at 1.6 GB/s, about the time of a slice of a copy, and 80
     * µs on a processor without instructions for SHA.
     */
    static final long SLICE_BYTES = 32L << 10;

    private final ShaCapabilities limits;
    private @Nullable ShaScratch scratch;
    private @Nullable MessageDigest digest;
    private int digestBytes;
    private boolean writesDigest;

    Hash(OperationOwner owner, ShaContext sha) {
        super(owner, sha.device());
        this.limits = sha.capabilities();
    }

    /**
     * Checks the two lists of a whole hash and marks them.
     *
     * @return null, or the reason of a refusal: nothing is marked then
     */
    @Nullable Refusal begin(
            Buf source,
            Buf destination,
            ShaAlgorithm algorithm,
            ShaDigests digests,
            ShaScratch memory) {
        long size = BufLists.dataLength(source);
        Refusal refusal = check(source, destination, algorithm, size);
        if (refusal == null) {
            refusal = accept(source, destination, algorithm, size, true);
        }
        if (refusal == null) {
            use(digests.digestOf(algorithm), algorithm, memory);
            digests.digestOf(algorithm).reset();
        }
        return refusal;
    }

    /**
     * Checks the two lists of a part of a hash and marks them.
     *
     * @param session the state of the hash
     * @param user the queue or context that the part belongs to
     * @param isFinal whether it is the last part
     * @return null, or the reason of a refusal: nothing is marked then
     */
    @Nullable Refusal beginPart(
            Buf source,
            Buf destination,
            PartialHash session,
            Object user,
            boolean isFinal,
            ShaScratch memory) {
        ShaAlgorithm algorithm = session.algorithm();
        long size = BufLists.dataLength(source);
        Refusal refusal = check(source, destination, algorithm, size);
        if (refusal == null) {
            refusal = session.take(user, destination, size, isFinal);
        }
        if (refusal != null) {
            return refusal;
        }
        refusal = accept(source, destination, algorithm, size, isFinal);
        if (refusal == null) {
            use(session.digest(), algorithm, memory);
        } else {
            session.refused();
        }
        return refusal;
    }

    @Override
    long advance(Copier copier, long budgetBytes) {
        // Both are checked for each part, so that a hash without a place for its digest ends early.
        if (!areUsable()) {
            return FAILED;
        }
        long budget = Math.min(budgetBytes, leftBytes());
        long hashed = 0;
        while (hashed < budget) {
            if (!hasFrom()) {
                return FAILED;
            }
            long piece = Math.min(Math.min(fromLeft(), budget - hashed), ShaScratch.PIECE_BYTES);
            if (piece > 0 && !hashPiece(copier, (int) piece)) {
                return FAILED;
            }
            hashed += piece;
        }
        if (hashed == leftBytes() && writesDigest && !writeDigest(copier)) {
            return FAILED;
        }
        processed(hashed);
        return hashed;
    }

    @Override
    String kind() {
        return "hash";
    }

    private @Nullable Refusal check(
            Buf source, Buf destination, ShaAlgorithm algorithm, long size) {
        return check(
                source,
                destination,
                size,
                limits.minDestinationBufferBytes(algorithm),
                limits.maxSourceBufferBytes());
    }

    /**
     * Marks the lists. The room for the digest belongs to every part: until the last has ended its
     * content is unspecified.
     */
    private @Nullable Refusal accept(
            Buf source, Buf destination, ShaAlgorithm algorithm, long size, boolean appends) {
        writesDigest = appends;
        int room = algorithm.digestBytes();
        return accept(
                source, destination, limits.maxBufferListLength(), size, room, appends ? room : 0);
    }

    private void use(MessageDigest state, ShaAlgorithm algorithm, ShaScratch memory) {
        digest = state;
        digestBytes = algorithm.digestBytes();
        scratch = memory;
    }

    private boolean hashPiece(Copier copier, int pieceBytes) {
        ShaScratch memory = scratch();
        if (!readPiece(copier, memory.pieceMemory, pieceBytes)) {
            return false;
        }
        digest().update(memory.piece, 0, pieceBytes);
        return true;
    }

    private boolean writeDigest(Copier copier) {
        ShaScratch memory = scratch();
        try {
            digest().digest(memory.digest, 0, digestBytes);
        } catch (DigestException e) {
            fail(Status.UNEXPECTED, e);
            return false;
        }
        int written = 0;
        while (written < digestBytes) {
            if (!hasTo()) {
                return false;
            }
            long piece = Math.min(toLeft(), digestBytes - written);
            if (piece > 0 && !writePiece(copier, memory.digestMemory, written, piece)) {
                return false;
            }
            written += (int) piece;
        }
        return true;
    }

    private ShaScratch scratch() {
        return Objects.requireNonNull(scratch, "a hash that has begun");
    }

    private MessageDigest digest() {
        return Objects.requireNonNull(digest, "a hash that has begun");
    }
}

package io.softdpu.compute;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.linux.text.Text;
import java.security.MessageDigest;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** State of a hash in parts, of a task or as {@link ShaSession}. Allocates nothing but digests. */
@SuppressWarnings("ReferenceEquality") // bufs and queues are objects, not values
final class PartialHash implements ShaSession {
    private static final Refusal IN_FLIGHT =
            Refusal.ready(
                    Status.IN_USE,
                    () ->
                            "part of this hash is in flight: partsInFlight=1, expected=the"
                                    + " completion of that part first");
    private static final Refusal TAKEN =
            Refusal.ready(
                    Status.INVALID_VALUE,
                    () ->
                            "hash was begun on another work queue: sessions=1, expected=all its"
                                    + " parts on that queue, or reset()");
    private static final Refusal PART_FAILED =
            Refusal.ready(
                    Status.INVALID_VALUE,
                    () ->
                            "part of this hash has failed, so it cannot be continued:"
                                    + " partsFailed=1, expected=reset()");
    private static final Refusal FIRST_IS_FINAL =
            Refusal.ready(
                    Status.INVALID_VALUE,
                    () ->
                            "first part of a hash is marked as the last: parts=1, expected=a hash"
                                    + " of two parts or more, or a whole hash; setFinal(false) or"
                                    + " reset() after the last hash");

    private final ShaContext sha;
    private final ShaDigests digests;
    private ShaAlgorithm algorithm;

    /** The job queue or context of the hash in progress; null between two hashes. */
    private final AtomicReference<@Nullable Object> user = new AtomicReference<>();

    // Of the hash in progress; used by the thread of its user.
    private @Nullable Buf destination;
    private boolean inFlight;
    private boolean isFirst;
    private boolean failed;

    PartialHash(ShaContext sha, ShaAlgorithm algorithm, ShaDigests digests) {
        this.sha = sha;
        this.digests = digests;
        this.algorithm = algorithm;
        digests.digestOf(algorithm);
    }

    ShaContext context() {
        return sha;
    }

    @Override
    public ShaAlgorithm algorithm() {
        return algorithm;
    }

    @Override
    public ShaSession setAlgorithm(ShaAlgorithm newAlgorithm) {
        Arguments.notNull(newAlgorithm, "algorithm");
        requireNoneInFlight();
        requireNotInProgress("algorithm");
        digests.digestOf(newAlgorithm);
        algorithm = newAlgorithm;
        return this;
    }

    @Override
    public boolean isInProgress() {
        return user.get() != null;
    }

    @Override
    public void reset() {
        requireNoneInFlight();
        forget();
    }

    /** Drops the hash in progress. */
    void forget() {
        destination = null;
        failed = false;
        user.set(null);
    }

    MessageDigest digest() {
        return digests.digestOf(algorithm);
    }

    /**
     * Refuses a change while a hash is in progress.
     *
     * @param item the value that would change, for the message
     */
    void requireNotInProgress(String item) {
        if (isInProgress()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "hash is in progress: item=%s, algorithm=%s, destination=%s,"
                                    + " expected=its last part, or reset()",
                            item, algorithm, destination));
        }
    }

    /**
     * Takes the state for a part, whose lists have been checked.
     *
     * @return null, or the reason of a refusal: nothing has changed then
     */
    @Nullable Refusal take(Object by, Buf to, long sizeBytes, boolean isFinal) {
        Object present = user.get();
        if (present != null && present != by) {
            return TAKEN;
        }
        Refusal refusal = present == null ? null : checkNext(to);
        if (refusal == null && !isFinal && sizeBytes % algorithm.blockBytes() != 0) {
            refusal = notBlocks(sizeBytes);
        }
        if (refusal != null) {
            return refusal;
        }
        if (present == null) {
            if (isFinal) {
                return FIRST_IS_FINAL;
            }
            if (!user.compareAndSet(null, by)) {
                return TAKEN;
            }
            destination = to;
            digest().reset();
        }
        isFirst = present == null;
        inFlight = true;
        return null;
    }

    /** Reverts {@link #take}, since the lists could not be marked. */
    void refused() {
        inFlight = false;
        if (isFirst) {
            forget();
        }
    }

    /** Ends a part; the hash as well if it was the last. */
    void ended(Status how, boolean wasFinal) {
        inFlight = false;
        if (how != Status.SUCCESS) {
            failed = true;
        } else if (wasFinal) {
            forget();
        }
    }

    private @Nullable Refusal checkNext(Buf to) {
        if (inFlight) {
            return IN_FLIGHT;
        }
        if (failed) {
            return PART_FAILED;
        }
        return to == destination
                ? null
                : Refusal.of(
                        Status.INVALID_VALUE,
                        "destination of a hash differs from that of its first part:"
                                + " destination=%s, expected=%s",
                        to,
                        destination);
    }

    private Refusal notBlocks(long sizeBytes) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "part that is not the last is no multiple of the block: sizeBytes=%d, algorithm=%s,"
                        + " expected=a multiple of %d",
                sizeBytes,
                algorithm,
                algorithm.blockBytes());
    }

    private void requireNoneInFlight() {
        if (inFlight) {
            throw IN_FLIGHT.exception("algorithm=" + algorithm);
        }
    }
}

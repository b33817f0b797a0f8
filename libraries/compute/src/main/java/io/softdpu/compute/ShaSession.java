package io.softdpu.compute;

import io.softdpu.core.DpuException;

/**
 * State of a hash in parts that jobs share ({@code doca_sha_partial_session}): its algorithm, and
 * the digest of the parts so far. Created by {@link Sha#createSession}; one hash at a time, and one
 * part of it in flight.
 *
 * <p>A hash begins with the first part that is submitted, and ends with the success of the part
 * that is marked as the last; the session can then be used for the next. In between all parts are
 * submitted to the same work queue, with the same destination. A part that fails after its
 * submission leaves a hash that cannot be continued: {@link #reset()} it.
 *
 * <p>Thread: one at a time; while a hash is in progress, that of its work queue. Any number of
 * sessions may exist; one that is not used any more needs no call.
 */
public sealed interface ShaSession permits PartialHash {
    /** The algorithm of its hashes. */
    ShaAlgorithm algorithm();

    /**
     * Sets the algorithm of its next hash. Allocates a state for it unless the session has had it
     * before.
     *
     * @throws DpuException BAD_STATE if a hash is in progress, IN_USE if a part of it is in flight;
     *     NOT_SUPPORTED if the JDK does not have the algorithm
     */
    ShaSession setAlgorithm(ShaAlgorithm algorithm);

    /** Whether a hash has begun, and its last part has not succeeded. */
    boolean isInProgress();

    /**
     * Drops the hash in progress, if any; the next part begins another.
     *
     * @throws DpuException IN_USE if a part is in flight
     */
    void reset();
}

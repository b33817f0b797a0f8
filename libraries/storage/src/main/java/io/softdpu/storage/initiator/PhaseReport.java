package io.softdpu.storage.initiator;

import io.softdpu.storage.wire.IoType;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Report of a phase.
 *
 * @param name of the phase
 * @param complete false if the session ended within the phase: the figures cover the part until
 *     then
 * @param operation read or write
 * @param ioSizeBytes bytes per operation; the last one of a worker's part may be shorter
 * @param transactions number of operations in flight per worker
 * @param operations completed operations, failed ones included
 * @param errors failed operations
 * @param payloadBytes bytes transferred by the successful operations
 * @param duration from the first request to the last response
 * @param latency of all operations, from their submission
 * @param latencySinceDue of all operations, from the time they were due: it has the delay that an
 *     operation causes to the next one of its transaction, at most one interval, since due times
 *     that pass meanwhile are skipped; null if the phase is not paced
 * @param cores the parts of the data path threads, in the order of their indices
 * @param bytesVerified bytes that were compared and equal to the expected content
 * @param expectedSha256 of the expected content; empty if there is none
 * @param actualSha256 of the memory; empty if it was not compared
 */
public record PhaseReport(
        String name,
        boolean complete,
        IoType operation,
        int ioSizeBytes,
        int transactions,
        long operations,
        long errors,
        long payloadBytes,
        Duration duration,
        LatencySummary latency,
        @Nullable LatencySummary latencySinceDue,
        List<CoreReport> cores,
        long bytesVerified,
        String expectedSha256,
        String actualSha256) {

    /** Takes a copy of the list. */
    public PhaseReport {
        cores = List.copyOf(cores);
    }

    /** Operations per second. */
    public double iops() {
        return duration.isZero() ? 0 : operations * 1e9 / duration.toNanos();
    }

    /** Payload per second in 10^9 bytes. */
    public double gigabytesPerSecond() {
        return duration.isZero() ? 0 : (double) payloadBytes / duration.toNanos();
    }
}

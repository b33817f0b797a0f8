package io.softdpu.storage.initiator;

import io.softdpu.storage.wire.IoType;

/**
 * Report of a phase.
 *
 * @param name the phase's
 * @param complete false if the session ended in the middle of it: the figures are of what was done
 *     until then
 * @param operation read or write
 * @param ioSizeBytes bytes of an operation; the last one of a part may be shorter
 * @param transactions how many each core kept in flight
 * @param operations operations that ended, failed ones included
 * @param errors those of them that failed
 * @param payloadBytes bytes that the others moved
 * @param nanos from the first request to the last answer
 * @param latency of all operations
 * @param bytesVerified bytes that were compared with what was expected, and were the same
 * @param expectedSha256 of what was expected, or empty where nothing was
 * @param actualSha256 of what stood in the memory, or empty
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
        long nanos,
        LatencySummary latency,
        long bytesVerified,
        String expectedSha256,
        String actualSha256) {

    /** Operations a second. */
    public double iops() {
        return nanos == 0 ? 0 : operations * 1e9 / nanos;
    }

    /** GiB of payload a second. */
    public double gibPerSecond() {
        return nanos == 0 ? 0 : payloadBytes * 1e9 / nanos / (1L << 30);
    }
}

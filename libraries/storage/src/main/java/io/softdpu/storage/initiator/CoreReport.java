package io.softdpu.storage.initiator;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Part of one data path thread in a phase.
 *
 * @param index index of the thread, from 0
 * @param cpu CPU binding of the thread
 * @param operations completed operations, failed ones included
 * @param errors failed operations
 * @param payloadBytes bytes transferred by the successful operations
 * @param refusedSubmissions requests that a full work queue refused at first
 * @param progressHits calls of the progress engine that found work
 * @param progressMisses calls of the progress engine that found no work
 * @param duration from its first request to its last response
 * @param latency of its operations, from their submission
 * @param latencySinceDue of its operations, from the time they were due; null if the phase is not
 *     paced
 */
public record CoreReport(
        int index,
        String cpu,
        long operations,
        long errors,
        long payloadBytes,
        long refusedSubmissions,
        long progressHits,
        long progressMisses,
        Duration duration,
        LatencySummary latency,
        @Nullable LatencySummary latencySinceDue) {}

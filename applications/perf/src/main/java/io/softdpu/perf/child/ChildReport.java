package io.softdpu.perf.child;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.OutputFile;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.perf.text.Figures;
import io.softdpu.storage.RdmaCounters;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.WorkerReport;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.LatencySummary;
import io.softdpu.storage.initiator.PhaseReport;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Report of a role to its parent process: a JSON file that it writes at its end.
 *
 * @param status how the session ended
 * @param operations operations of all its workers
 * @param progressHits rounds of its progress engines with work
 * @param progressMisses rounds without
 * @param payloadBytesCopied payload that it copied
 * @param nicPayloadBytesCopied payload that its NICs copied out of packets
 * @param messageBytesCopied message bytes that it copied
 * @param provider name of the RDMA provider that served its connections; empty for none
 * @param connectionCounters what that provider has counted for its connections; may be empty
 * @param deviceCounters what it has counted for the device
 * @param cores its data path threads
 * @param initiator what only an initiator knows; null for the others
 */
public record ChildReport(
        String status,
        long operations,
        long progressHits,
        long progressMisses,
        long payloadBytesCopied,
        long nicPayloadBytesCopied,
        long messageBytesCopied,
        String provider,
        SequencedMap<String, Long> connectionCounters,
        SequencedMap<String, Long> deviceCounters,
        List<Core> cores,
        @Nullable Run initiator) {

    private static final ObjectMapper MAPPER =
            JsonMapper.builder()
                    .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                    .build();

    /** Takes its text for what it is: written by another process, and to be printed. */
    public ChildReport {
        provider = ForeignText.escapeAndCut(provider);
        connectionCounters = harmless(connectionCounters);
        deviceCounters = harmless(deviceCounters);
    }

    /** A report without counters. */
    public ChildReport(
            String status,
            long operations,
            long progressHits,
            long progressMisses,
            long payloadBytesCopied,
            long nicPayloadBytesCopied,
            long messageBytesCopied,
            String provider,
            List<Core> cores,
            @Nullable Run initiator) {
        this(
                status,
                operations,
                progressHits,
                progressMisses,
                payloadBytesCopied,
                nicPayloadBytesCopied,
                messageBytesCopied,
                provider,
                new LinkedHashMap<>(),
                new LinkedHashMap<>(),
                cores,
                initiator);
    }

    private static SequencedMap<String, Long> harmless(SequencedMap<String, Long> counters) {
        SequencedMap<String, Long> made = new LinkedHashMap<>();
        counters.forEach((name, count) -> made.put(ForeignText.escapeAndCut(name), count));
        return made;
    }

    /** The counters of its RDMA provider. */
    public RdmaCounters counters() {
        return new RdmaCounters(connectionCounters, deviceCounters);
    }

    /**
     * One data path thread.
     *
     * @param cpu its CPU affinity, a value of {@code --cpu}
     * @param operations operations that it completed
     * @param progressHits rounds of its progress engine with work
     * @param progressMisses rounds without
     * @param payloadBytesCopied payload that it copied
     * @param nicPayloadBytesCopied payload that NICs copied out of packets for it
     * @param messageBytesCopied message bytes that it copied
     */
    public record Core(
            String cpu,
            long operations,
            long progressHits,
            long progressMisses,
            long payloadBytesCopied,
            long nicPayloadBytesCopied,
            long messageBytesCopied) {

        /** Takes its text for what it is: written by another process, and to be printed. */
        public Core {
            cpu = ForeignText.escapeAndCut(cpu);
        }

        static Core of(WorkerReport worker) {
            return new Core(
                    worker.cpu(),
                    worker.operations(),
                    worker.progressHits(),
                    worker.progressMisses(),
                    worker.payloadBytesCopied(),
                    worker.nicPayloadBytesCopied(),
                    worker.messageBytesCopied());
        }

        /** Rounds with work per hundred rounds; 0 where there was no round. */
        public double hitRatePercent() {
            return Figures.sharePercent(progressHits, progressMisses);
        }
    }

    /**
     * An initiator's part.
     *
     * @param payloadBytesMoved payload of all operations that succeeded
     * @param bytesVerified bytes that were compared with what was expected, and were right
     * @param phases one result a phase that came to its end
     */
    public record Run(long payloadBytesMoved, long bytesVerified, List<PhaseResult> phases) {}

    /**
     * One phase. Times are in nanoseconds.
     *
     * @param name the phase's name in the plan
     * @param ioSizeBytes what an operation moved, after rounding to whole blocks
     * @param transactions operations in flight, of all cores
     * @param operations operations that came to their end
     * @param errors those of them that failed
     * @param payloadBytes what they moved
     * @param nanos how long it took
     * @param p50Nanos half of the operations took no longer
     * @param p99Nanos 99 % took no longer
     * @param p999Nanos 99.9 % took no longer
     * @param expectedSha256 of what was expected to arrive; empty if nothing was
     * @param actualSha256 of what arrived; empty if nothing was expected
     */
    public record PhaseResult(
            String name,
            int ioSizeBytes,
            int transactions,
            long operations,
            long errors,
            long payloadBytes,
            long nanos,
            long p50Nanos,
            long p99Nanos,
            long p999Nanos,
            String expectedSha256,
            String actualSha256) {

        /** Takes its texts for what they are: written by another process, and to be printed. */
        public PhaseResult {
            name = ForeignText.escapeAndCut(name);
            expectedSha256 = ForeignText.escapeAndCut(expectedSha256);
            actualSha256 = ForeignText.escapeAndCut(actualSha256);
        }

        /** Operations per second; 0 for a phase that took no time. */
        public double iops() {
            return nanos == 0 ? 0 : operations * 1e9 / nanos;
        }

        /** Payload per second in 10^9 bytes; 0 for a phase that took no time. */
        public double gigabytesPerSecond() {
            return nanos == 0 ? 0 : (double) payloadBytes / nanos;
        }
    }

    /** The report of a session. */
    public static ChildReport of(SessionReport session, @Nullable InitiatorReport run) {
        return new ChildReport(
                session.status().name(),
                session.operations(),
                session.progressHits(),
                session.progressMisses(),
                session.payloadBytesCopied(),
                session.nicPayloadBytesCopied(),
                session.messageBytesCopied(),
                session.provider(),
                session.counters().connections(),
                session.counters().device(),
                session.workers().stream().map(Core::of).toList(),
                run == null
                        ? null
                        : new Run(
                                run.payloadBytesMoved(),
                                run.bytesVerified(),
                                run.phases().stream()
                                        .filter(PhaseReport::complete)
                                        .map(phase -> phase(phase, session.workers().size()))
                                        .toList()));
    }

    private static PhaseResult phase(PhaseReport phase, int cores) {
        LatencySummary latency = phase.latency();
        return new PhaseResult(
                phase.name(),
                phase.ioSizeBytes(),
                cores * phase.transactions(),
                phase.operations(),
                phase.errors(),
                phase.payloadBytes(),
                phase.duration().toNanos(),
                latency.p50Nanos(),
                latency.p99Nanos(),
                latency.p999Nanos(),
                phase.expectedSha256(),
                phase.actualSha256());
    }

    /** Rounds with work per hundred rounds; 0 where there was no round. */
    public double hitRatePercent() {
        return Figures.sharePercent(progressHits, progressMisses);
    }

    /** Writes the file: all of it at once, or, where that fails, not at all. */
    public void write(Path file) throws IOException {
        OutputFile.replace(file, MemorySegment.ofArray(MAPPER.writeValueAsBytes(this)));
    }

    /** Reads the file that {@link #write} wrote. */
    public static ChildReport read(Path file) throws IOException {
        return MAPPER.readValue(
                CheckedFile.readAll(file, FilePolicy.SHARED_FOLDER), ChildReport.class);
    }
}

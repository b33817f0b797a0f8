package io.softdpu.storage.initiator;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.storage.option.OptionChecks;
import io.softdpu.storage.session.ControlLoop;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import io.softdpu.storage.workload.RequestSourceFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Runs one phase on all workers, on the control thread: prepares the memory, starts the workers,
 * monitors them, and checks the result.
 */
final class PhaseRunner {
    private static final Duration PROGRESS = Duration.ofMillis(500);

    private final Phase phase;
    private final List<InitiatorWorker> workers;
    private final IoMemory memory;
    private final long volumeSizeBytes;
    private final int blockSizeBytes;
    private final int transactionLimit;
    private final long stallTimeoutNanos;
    private final InitiatorListener listener;
    private final ControlLoop loop;
    private List<PhaseRun> startedRuns = List.of();
    private long abortNanos;

    PhaseRunner(
            Phase phase,
            List<InitiatorWorker> workers,
            IoMemory memory,
            long volumeSizeBytes,
            int blockSizeBytes,
            int transactionLimit,
            long stallTimeoutNanos,
            InitiatorListener listener,
            ControlLoop loop) {
        this.phase = phase;
        this.workers = workers;
        this.memory = memory;
        this.volumeSizeBytes = volumeSizeBytes;
        this.blockSizeBytes = blockSizeBytes;
        this.transactionLimit = transactionLimit;
        this.stallTimeoutNanos = stallTimeoutNanos;
        this.listener = listener;
        this.loop = loop;
    }

    /** Result of a phase: its report, and the failure that ends the workload, or null. */
    record Outcome(PhaseReport report, @Nullable DpuException failure) {}

    /**
     * Checks the phase before it begins.
     *
     * @throws DpuException INVALID_VALUE or BAD_CONFIG, naming the illegal value
     */
    void check() {
        if (phase.mirrored() && memory.sizeBytes() < volumeSizeBytes) {
            throw new DpuException(
                    Status.BAD_CONFIG,
                    "local memory is too small to mirror the storage: phase="
                            + phase.name()
                            + ", localIoRegionSizeBytes="
                            + memory.sizeBytes()
                            + ", expected=at least "
                            + volumeSizeBytes);
        }
        checkSize(phase.fill());
        checkSize(phase.expect());
    }

    Outcome run() {
        if (phase.fill() != null) {
            memory.fill(phase.fill(), loop::check);
        }
        listener.phaseStarted(phase);
        List<PhaseRun> runs = start();
        startedRuns = runs;
        try {
            await(runs);
        } catch (RuntimeException e) {
            abortNanos = System.nanoTime();
            throw e;
        }
        DpuException failure = firstError(runs);
        IoMemory.Verified verified = new IoMemory.Verified(0, "", "");
        if (failure == null && phase.expect() != null) {
            try {
                verified =
                        memory.verify(phase.name(), phase.expect(), volumeSizeBytes, loop::check);
            } catch (DataMismatchException e) {
                failure = e;
            }
        }
        startedRuns = List.of();
        return new Outcome(report(runs, verified, true), failure);
    }

    /**
     * The report of an aborted phase; the workers, which wrote its state, must have ended.
     *
     * @return null if the phase had not begun, or was completed
     */
    @Nullable PhaseReport aborted() {
        List<PhaseRun> runs = startedRuns.stream().filter(run -> run.startNanos != 0).toList();
        return runs.isEmpty() ? null : report(runs, new IoMemory.Verified(0, "", ""), false);
    }

    private int ioSizeBytes() {
        long limit = phase.mirrored() ? partBytes(0) : Math.min(partBytes(0), memoryShare());
        return phase.ioSize().resolve(blockSizeBytes, limit);
    }

    /** Bytes of the local memory for the buffers of one worker, in whole blocks. */
    private long memoryShare() {
        return memory.sizeBytes() / workers.size() / blockSizeBytes * blockSizeBytes;
    }

    /**
     * Beginning of a worker's part of the storage, which is divided in whole blocks; the first
     * parts are one block larger if necessary.
     */
    private long partStart(int index) {
        long blocks = volumeSizeBytes / blockSizeBytes;
        long share = blocks / workers.size();
        long extra = blocks % workers.size();
        return (index * share + Math.min(index, extra)) * blockSizeBytes;
    }

    private long partBytes(int index) {
        return partStart(index + 1) - partStart(index);
    }

    private List<PhaseRun> start() {
        List<PhaseRun> runs = new ArrayList<>();
        int ioSize = ioSizeBytes();
        long memoryShare = memoryShare();
        for (InitiatorWorker worker : workers) {
            int index = worker.index();
            RequestSource source =
                    phase.source()
                            .create(
                                    new RequestSourceFactory.Range(
                                            index,
                                            phase.type(),
                                            partStart(index),
                                            partStart(index + 1),
                                            ioSize,
                                            blockSizeBytes,
                                            index * memoryShare,
                                            (index + 1) * memoryShare,
                                            phase.mirrored()));
            runs.add(new PhaseRun(worker, phase, transactions(), source));
        }
        for (int i = 0; i < runs.size(); i++) {
            workers.get(i).runPhase(runs.get(i));
        }
        return runs;
    }

    private int transactions() {
        return Math.min(phase.transactions(), transactionLimit);
    }

    /** Waits for the workers; throws TIME_OUT if the peer completes no operation for too long. */
    private void await(List<PhaseRun> runs) {
        long startNanos = System.nanoTime();
        long lastOperations = 0;
        // A paced transaction may pause for that long, but not beyond the phase's end.
        long stallNanos =
                stallTimeoutNanos
                        + Math.min(phase.pace().toNanos(), OptionChecks.nanos(phase.timeLimit()));
        Deadline stall = Deadline.in(Duration.ofNanos(stallNanos));
        Deadline news = Deadline.in(PROGRESS);
        while (!runs.stream().allMatch(run -> run.done)) {
            loop.check();
            long operations = operations(runs);
            if (operations != lastOperations) {
                lastOperations = operations;
                stall = Deadline.in(Duration.ofNanos(stallNanos));
            } else if (stall.hasPassed()) {
                throw new DpuException(
                        Status.TIME_OUT,
                        "zero-copy service does not reply to io_messages: no operation completed in"
                                + " time: phase="
                                + phase.name()
                                + ", operations="
                                + operations
                                + ", waitedMillis="
                                + stallNanos / 1_000_000);
            }
            if (news.hasPassed()) {
                news = Deadline.in(PROGRESS);
                listener.phaseProgress(
                        phase,
                        operations,
                        payloadBytes(runs),
                        Duration.ofNanos(System.nanoTime() - startNanos));
            }
            Duration untilNews = news.remaining();
            Duration untilStall = stall.remaining();
            loop.awaitEvent(untilNews.compareTo(untilStall) < 0 ? untilNews : untilStall);
        }
    }

    private @Nullable DpuException firstError(List<PhaseRun> runs) {
        for (PhaseRun run : runs) {
            if (run.firstErrorCode != 0) {
                return new DpuException(
                        run.firstError(),
                        "storage rejected an operation: phase="
                                + phase.name()
                                + ", operation="
                                + phase.type()
                                + ", storageOffsetBytes="
                                + Long.toUnsignedString(run.firstErrorOffset)
                                + ", ioSizeBytes="
                                + Integer.toUnsignedString(run.firstErrorSize)
                                + ", result="
                                + run.firstError()
                                + " ("
                                + Integer.toUnsignedString(run.firstErrorCode)
                                + ")"
                                + ", failedOperations="
                                + run.errors());
            }
        }
        return null;
    }

    private PhaseReport report(List<PhaseRun> runs, IoMemory.Verified verified, boolean complete) {
        long errors = 0;
        long start = runs.getFirst().startNanos;
        long end = endOf(runs.getFirst());
        List<CoreReport> cores = new ArrayList<>();
        for (PhaseRun run : runs) {
            errors += run.errors();
            start = Math.min(start, run.startNanos);
            end = Math.max(end, endOf(run));
            cores.add(run.report(abortNanos));
        }
        return new PhaseReport(
                phase.name(),
                complete,
                phase.type(),
                ioSizeBytes(),
                transactions(),
                operations(runs),
                errors,
                payloadBytes(runs),
                Duration.ofNanos(end - start),
                LatencySummary.of(runs.stream().map(run -> run.latencies).toList()),
                phase.pace().isZero()
                        ? null
                        : LatencySummary.of(
                                runs.stream()
                                        .map(run -> Objects.requireNonNull(run.latenciesSinceDue))
                                        .toList()),
                cores,
                verified.bytes(),
                verified.expectedSha256(),
                verified.actualSha256());
    }

    private long endOf(PhaseRun run) {
        return run.done ? run.endNanos : abortNanos;
    }

    private void checkSize(@Nullable Content content) {
        OptionalLong size = content == null ? OptionalLong.empty() : content.sizeBytes();
        if (size.isPresent() && size.getAsLong() != volumeSizeBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "content does not have the storage's size: content="
                            + content
                            + ", sizeBytes="
                            + size.getAsLong()
                            + ", expected="
                            + volumeSizeBytes);
        }
    }

    private static long operations(List<PhaseRun> runs) {
        return runs.stream().mapToLong(PhaseRun::operations).sum();
    }

    private static long payloadBytes(List<PhaseRun> runs) {
        return runs.stream().mapToLong(PhaseRun::payloadBytes).sum();
    }
}

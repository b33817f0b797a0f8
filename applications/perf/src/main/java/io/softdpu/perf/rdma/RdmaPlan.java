package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.text.SizeText;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of RDMA, made by {@link #of}.
 *
 * @param mode kind of measurement
 * @param operation that is measured
 * @param sizeBytes bytes of an operation, 1 to {@link #MAX_SIZE_BYTES}; 8 of an atomic one
 * @param waiting how both sides wait
 * @param nanos how long the run takes, after warm-ups of the same length
 * @param window operations in flight at a time; 1 with {@link RdmaMode#LATENCY}
 * @param cpus processors to which both sides are pinned; null if they are not
 * @param provider RDMA provider of both sides
 */
public record RdmaPlan(
        RdmaMode mode,
        RdmaOperation operation,
        long sizeBytes,
        PerfWait waiting,
        long nanos,
        int window,
        @Nullable PerfCpus cpus,
        ProviderChoice provider)
        implements PerfPlan {
    /** Largest operation: 2 GiB, that of RDMA. */
    public static final long MAX_SIZE_BYTES = 2L << 30;

    /** Most operations in flight: those of a send queue. */
    public static final int MAX_WINDOW = 8192;

    /** An operation begins where a cache line does. */
    private static final long ALIGNMENT = 64;

    private static final int MOST_IN_FLIGHT = 64;

    /** Checks the values: INVALID_VALUE that names the field. */
    public RdmaPlan {
        boolean atomic = operation.isAtomic();
        PerfPlan.require(
                !atomic || mode != RdmaMode.BANDWIDTH,
                "atomic operations have no bandwidth: op=%s, measurement=bandwidth,"
                        + " expected=latency or rate",
                operation.word());
        PerfPlan.require(
                !atomic || sizeBytes == Long.BYTES,
                "size is illegal: size=%s, op=%s, expected=8, or no size",
                SizeText.format(sizeBytes),
                operation.word());
        PerfPlan.require(
                sizeBytes >= 1 && sizeBytes <= MAX_SIZE_BYTES,
                "size is illegal: size=%s, expected=1 to %s",
                SizeText.format(sizeBytes),
                SizeText.format(MAX_SIZE_BYTES));
        PerfPlan.requireTime(nanos);
        requireNoWindow(mode, window == 1 ? null : window);
        PerfPlan.requireRange("window", "window", window, MAX_WINDOW);
        PerfPlan.require(
                !isPolled(mode, operation) || waiting == PerfWait.BUSY,
                "a peer that is written to is not notified, and polls its memory: wait=%s,"
                        + " measurement=latency, op=write, expected=busy",
                waiting.word());
        long memory = memoryBytes(mode, operation, sizeBytes, window);
        PerfPlan.require(
                memory <= MAX_MEMORY_BYTES,
                "operations of both processes need too much memory: window=%d, size=%s, needed=%s,"
                        + " limit=%s",
                window,
                SizeText.format(sizeBytes),
                SizeText.rounded(memory),
                SizeText.rounded(MAX_MEMORY_BYTES));
    }

    private static void requireNoWindow(RdmaMode mode, @Nullable Integer window) {
        PerfPlan.require(
                mode != RdmaMode.LATENCY || window == null,
                "latency is that of one operation at a time: window=%d, measurement=latency,"
                        + " expected=no window",
                window);
    }

    /**
     * A plan, with the defaults of a mode and an operation for what is not given.
     *
     * @param sizeBytes null for the default: 8 of an atomic operation, else that of the mode
     * @param waiting null for the default: adaptive, but busy where the peer polls its memory
     * @param window null for the default: 64, or as many as fill 64 MiB, but at least 2, from 256
     *     MiB on 1
     * @throws DpuException INVALID_VALUE that names the illegal value
     */
    public static RdmaPlan of(
            RdmaMode mode,
            RdmaOperation operation,
            @Nullable Long sizeBytes,
            @Nullable PerfWait waiting,
            long nanos,
            @Nullable Integer window,
            @Nullable PerfCpus cpus,
            ProviderChoice provider) {
        requireNoWindow(mode, window);
        long ofMode = operation.isAtomic() ? Long.BYTES : mode.defaultSizeBytes();
        long size = sizeBytes == null ? ofMode : sizeBytes;
        int ofSize =
                mode == RdmaMode.LATENCY
                        ? 1
                        : PerfPlan.defaultWindow(Math.max(1, size), MOST_IN_FLIGHT);
        PerfWait ofOperation = isPolled(mode, operation) ? PerfWait.BUSY : PerfWait.ADAPTIVE;
        return new RdmaPlan(
                mode,
                operation,
                size,
                waiting == null ? ofOperation : waiting,
                nanos,
                window == null ? ofSize : window,
                cpus,
                provider);
    }

    // ---- how it is measured

    @Override
    public boolean isBusy() {
        return waiting == PerfWait.BUSY;
    }

    /** Whether the DPU answers each operation by one of its own. */
    boolean isAnswered() {
        return isAnswered(mode, operation);
    }

    private static boolean isAnswered(RdmaMode mode, RdmaOperation operation) {
        return mode == RdmaMode.LATENCY && operation.hasAnswer();
    }

    /** Whether both sides poll their memory for the write of the other. */
    boolean isPolled() {
        return isPolled(mode, operation);
    }

    private static boolean isPolled(RdmaMode mode, RdmaOperation operation) {
        return isAnswered(mode, operation) && operation == RdmaOperation.WRITE;
    }

    /** Whether both sides export their memory. */
    boolean isExported() {
        return operation.right() != null;
    }

    // ---- memory

    /** Distance of the operations in memory. */
    long strideBytes() {
        return strideBytes(sizeBytes);
    }

    private static long strideBytes(long sizeBytes) {
        return (sizeBytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** Memory of one side: for its own operations, for those of the other, or for both. */
    long sideBytes() {
        return memoryBytes() / 2;
    }

    /** Offset of the memory for a side's own operations. */
    long ownOffset(Side side) {
        return side == Side.HOST ? 0 : window * strideBytes();
    }

    /** Offset of the memory for the operations of the other side. */
    long peerOffset(Side side) {
        return side == Side.DPU ? 0 : window * strideBytes();
    }

    @Override
    public long memoryBytes() {
        return memoryBytes(mode, operation, sizeBytes, window);
    }

    private static long memoryBytes(
            RdmaMode mode, RdmaOperation operation, long sizeBytes, int window) {
        long areas = isAnswered(mode, operation) ? 4 : 2;
        return areas * window * strideBytes(sizeBytes);
    }

    /** All of the memory of the other side, and a reserve for rings. */
    @Override
    public long importLimitBytes() {
        return sideBytes() + MAX_MEMORY_BYTES;
    }

    @Override
    public void requireSupported(ComchPair pair) {
        requireSupported(pair, Side.HOST, operation.taskType());
        if (isAnswered()) {
            requireSupported(pair, Side.DPU, operation.taskType());
        }
        if (operation.isReceived()) {
            requireSupported(pair, Side.DPU, RdmaTaskType.RECEIVE);
            if (isAnswered()) {
                requireSupported(pair, Side.HOST, RdmaTaskType.RECEIVE);
            }
        }
    }

    private void requireSupported(ComchPair pair, Side side, RdmaTaskType type) {
        pair.requireSupported(side, RdmaCapabilities.tasksLimit(type), mode.word());
    }
}

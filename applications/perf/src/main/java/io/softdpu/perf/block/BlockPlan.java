package io.softdpu.perf.block;

import io.softdpu.block.BlockDevice;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.text.SizeText;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of a block device.
 *
 * @param mode kind of measurement
 * @param volume URI of the device
 * @param load the operation
 * @param sizeBytes size of a read or write, a multiple of 512; 0 of a flush
 * @param depth number of operations in flight, of each thread
 * @param threads number of threads, each with an engine and a context
 * @param random whether offsets are random; otherwise each operation is behind the one before
 * @param fua whether each write is durable when it completes
 * @param overwrite whether a volume may be written that the measurement does not create
 * @param waiting how the thread waits
 * @param nanos how long the run takes, after warm-ups of the same length
 */
public record BlockPlan(
        BlockMode mode,
        String volume,
        BlockLoad load,
        long sizeBytes,
        int depth,
        int threads,
        boolean random,
        boolean fua,
        boolean overwrite,
        PerfWait waiting,
        long nanos)
        implements PerfPlan {
    private static final int SECTOR_BYTES = 512;
    private static final long MAX_SIZE_BYTES = 1L << 30;
    private static final int MAX_DEPTH = 8192;
    private static final int MAX_THREADS = 64;
    private static final long SMALL_BYTES = 4096;
    private static final long LARGE_BYTES = 1 << 20;
    private static final int SMALL_DEPTH = 32;
    private static final int LARGE_DEPTH = 8;
    private static final Pattern CREATES = Pattern.compile(".*[?&]create=.*", Pattern.DOTALL);

    /** Checks the values: INVALID_VALUE that names the field. */
    public BlockPlan {
        PerfPlan.requireTime(nanos);
        boolean isFlush = load == BlockLoad.FLUSH;
        PerfPlan.require(
                !isFlush || mode != BlockMode.BANDWIDTH,
                "flushes have no bandwidth: op=flush, measurement=bandwidth, expected=rate or"
                        + " latency");
        PerfPlan.require(
                !isFlush || sizeBytes == 0,
                "a flush has no size: size=%s, op=flush, expected=no size",
                SizeText.format(sizeBytes));
        PerfPlan.require(
                isFlush
                        || (sizeBytes >= SECTOR_BYTES
                                && sizeBytes <= MAX_SIZE_BYTES
                                && sizeBytes % SECTOR_BYTES == 0),
                "size is illegal: size=%s, expected=a multiple of 512, at most 1GiB",
                SizeText.format(sizeBytes));
        PerfPlan.require(
                !isFlush || !random,
                "a flush has no offset: random=true, op=flush, expected=no random offsets");
        PerfPlan.require(
                !fua || load == BlockLoad.WRITE,
                "only writes have FUA: fua=true, op=%s, expected=write",
                load.word());
        PerfPlan.require(
                mode != BlockMode.LATENCY || depth == 1,
                "latency is that of one operation at a time: depth=%d, measurement=latency,"
                        + " expected=1",
                depth);
        PerfPlan.requireRange("depth", "depth", depth, MAX_DEPTH);
        PerfPlan.requireRange("number of threads", "threads", threads, MAX_THREADS);
        PerfPlan.require(
                sizeBytes * depth * threads <= MAX_MEMORY_BYTES,
                "operations need too much memory: depth=%d, threads=%d, size=%s, limit=%s",
                depth,
                threads,
                SizeText.format(sizeBytes),
                SizeText.rounded(MAX_MEMORY_BYTES));
        PerfPlan.require(
                load != BlockLoad.WRITE || overwrite || CREATES.matcher(volume).matches(),
                "writes change the volume: overwrite=false, volume=%s, expected=--overwrite, or a"
                        + " volume with create=SIZE",
                ForeignText.escapeAndCut(volume));
    }

    /**
     * Makes a plan.
     *
     * @param size size of an operation; null for the default of the kind of measurement
     * @param depth number of operations in flight; null for the default
     * @param waiting null for adaptive
     */
    public static BlockPlan of(
            BlockMode mode,
            String volume,
            BlockLoad load,
            @Nullable Long size,
            @Nullable Integer depth,
            int threads,
            boolean random,
            boolean fua,
            boolean overwrite,
            @Nullable PerfWait waiting,
            long nanos) {
        boolean isLarge = mode == BlockMode.BANDWIDTH;
        long defaultSize = isLarge ? LARGE_BYTES : SMALL_BYTES;
        int defaultDepth =
                switch (mode) {
                    case RATE -> SMALL_DEPTH;
                    case LATENCY -> 1;
                    case BANDWIDTH -> LARGE_DEPTH;
                };
        return new BlockPlan(
                mode,
                volume,
                load,
                size == null ? (load == BlockLoad.FLUSH ? 0 : defaultSize) : size.longValue(),
                depth == null ? defaultDepth : depth.intValue(),
                threads,
                random,
                fua,
                overwrite,
                waiting == null ? PerfWait.ADAPTIVE : waiting,
                nanos);
    }

    /** Size of a block to open the device with: the default one, or less if the size needs it. */
    int blockSizeBytes() {
        return sizeBytes == 0
                ? BlockDevice.DEFAULT_BLOCK_SIZE_BYTES
                : (int)
                        Math.min(
                                Long.lowestOneBit(sizeBytes), BlockDevice.DEFAULT_BLOCK_SIZE_BYTES);
    }

    @Override
    public boolean isBusy() {
        return waiting == PerfWait.BUSY;
    }

    @Override
    public int pollers() {
        return threads;
    }

    @Override
    public long memoryBytes() {
        return sizeBytes * depth * threads;
    }

    @Override
    public @Nullable PerfCpus cpus() {
        return null;
    }

    @Override
    public boolean isPinnable() {
        return false;
    }

    /** There is no cache line between two threads. */
    @Override
    public boolean isLineTimed() {
        return false;
    }

    /** Every device has block devices. */
    @Override
    public void requireSupported(ComchPair pair) {}
}

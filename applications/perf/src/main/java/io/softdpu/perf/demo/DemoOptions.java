package io.softdpu.perf.demo;

import io.softdpu.core.DpuException;
import io.softdpu.perf.card.ProviderChoice;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.storage.StorageDefaults;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Options of a demo.
 *
 * @param volumeFile file that the target loads; null: the known pattern
 * @param sizeBytes bytes of the volume
 * @param blockSizeBytes bytes of a block
 * @param cores data path threads of each process, 1 to {@link StorageDefaults#MAX_WORKERS}
 * @param measured which measurements are made
 * @param measureNanos how long each measurement lasts
 * @param repeats how often each measurement is made, 1 to {@link #MAX_REPEATS}
 * @param provider RDMA provider of service and target
 * @param separateFolders whether the target has a fabric folder of its own, and is reached over the
 *     network
 * @param roleArguments options that all three processes get besides: which card, what to log
 * @param devices what they work on
 */
public record DemoOptions(
        @Nullable Path volumeFile,
        long sizeBytes,
        int blockSizeBytes,
        int cores,
        Set<DemoPhase> measured,
        long measureNanos,
        int repeats,
        ProviderChoice provider,
        boolean separateFolders,
        List<String> roleArguments,
        DemoDevices devices) {

    /** Most runs of each measurement. */
    public static final int MAX_REPEATS = 1000;

    /** Memory of the three processes without the data, and growth of the demo's own. */
    private static final long PROCESSES_BYTES = 256 << 20;

    /** Memory of three data path threads beyond the first ones: bufs, rings, a histogram. */
    private static final long CORE_BYTES = 4 << 20;

    /** A pace at which any machine hands memory over that one process has filled to another. */
    private static final long SLOWEST_BYTES_PER_SECOND = 128L << 20;

    /**
     * The default timeout of a control operation is for processes that have started already. These
     * start at the same moment, on processors that may have other work.
     */
    private static final int BUSY_MACHINE_FACTOR = 4;

    /**
     * Takes copies of the collections.
     *
     * @throws DpuException INVALID_VALUE for another number of runs or cores, or fewer blocks than
     *     cores
     */
    public DemoOptions {
        long blocks = sizeBytes / blockSizeBytes;
        PerfPlan.require(
                cores >= 1 && cores <= Math.min(StorageDefaults.MAX_WORKERS, blocks),
                "number of cores is illegal: cores=%d, blocks=%d, expected=1 to %d, and a block of"
                        + " the volume for each",
                cores,
                blocks,
                StorageDefaults.MAX_WORKERS);
        PerfPlan.requireRange("number of runs", "repeat", repeats, MAX_REPEATS);
        measured = Set.copyOf(measured);
        roleArguments = List.copyOf(roleArguments);
    }

    /** Memory that all processes need in all: target and initiator each have the whole volume. */
    public long neededBytes() {
        return 2 * Math.min(sizeBytes, Long.MAX_VALUE / 4)
                + PROCESSES_BYTES
                + (cores - 1) * CORE_BYTES;
    }

    /** Bytes of the smallest part of the volume that one data path thread works on. */
    long partBytes() {
        return sizeBytes / blockSizeBytes / cores * blockSizeBytes;
    }

    /** Timeout of a control operation: longer than the default, and more for a large volume. */
    long controlTimeoutSeconds() {
        long seconds =
                BUSY_MACHINE_FACTOR * StorageDefaults.CONTROL_TIMEOUT.toSeconds()
                        + sizeBytes / SLOWEST_BYTES_PER_SECOND;
        return Math.min(seconds, StorageDefaults.MAX_CONTROL_TIMEOUT.toSeconds());
    }
}

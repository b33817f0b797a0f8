package io.softdpu.perf.result;

import io.softdpu.perf.child.ResourceUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Processor time that all processes of the machine have used since its start. Any thread. */
public final class MachineUse {
    private static final Path STAT = Path.of("/proc/stat");

    /** The unit of the file, a hundredth of a second on Linux wherever Java runs. */
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final int IDLE = 4;
    private static final int IO_WAIT = 5;

    /** The columns after this one count time of guests that others contain already. */
    private static final int STEAL = 8;

    private MachineUse() {}

    /** The time in nanoseconds; empty where the kernel does not tell. */
    public static OptionalLong now() {
        try (Stream<String> lines = Files.lines(STAT)) {
            return parse(lines.findFirst().orElse(""));
        } catch (IOException e) {
            // A container may hide the file; then a note is missing, and no figure.
            return OptionalLong.empty();
        }
    }

    /**
     * Processors that other processes used between two moments.
     *
     * @param before an answer of {@link #now}
     * @param after a later one
     * @param ownCpuNanos processor time of the measured processes meanwhile
     * @param nanos the time between the two
     * @return 0 where the kernel does not tell
     */
    public static double othersProcessors(
            OptionalLong before, OptionalLong after, long ownCpuNanos, long nanos) {
        if (before.isEmpty() || after.isEmpty() || nanos <= 0) {
            return 0;
        }
        long others = after.getAsLong() - before.getAsLong() - ownCpuNanos;
        return Math.max(0, (double) others / nanos);
    }

    /**
     * As {@link #othersProcessors(OptionalLong, OptionalLong, long, long)}, from a moment until
     * now.
     *
     * @param before an answer of {@link #now}
     * @param host use of a measured process meanwhile
     * @param dpu use of the other one
     */
    public static double othersProcessors(OptionalLong before, ResourceUse host, ResourceUse dpu) {
        return othersProcessors(
                before,
                now(),
                host.cpuNanos() + dpu.cpuNanos(),
                Math.max(host.nanos(), dpu.nanos()));
    }

    /** Reads the first line of the file: {@code cpu user nice system idle iowait irq ...}. */
    static OptionalLong parse(String line) {
        String[] columns = line.strip().split("\\s+", -1);
        if (!columns[0].equals("cpu") || columns.length <= STEAL) {
            return OptionalLong.empty();
        }
        long ticks = 0;
        for (int i = 1; i <= STEAL; i++) {
            if (i != IDLE && i != IO_WAIT) {
                ticks += Long.parseLong(columns[i]);
            }
        }
        return OptionalLong.of(ticks * TICK_NANOS);
    }
}

package io.softdpu.perf.pair;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.text.Word;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Plan of one measurement between two processes, of any kind. Immutable. */
public interface PerfPlan {
    /** Resident memory of both processes without what is measured. */
    long PROCESSES_BYTES = 128 << 20;

    /** Most memory of both processes for what is measured. */
    long MAX_MEMORY_BYTES = 8L << 30;

    /** Memory for the operations of one side, if the window is not given. */
    long WINDOW_BYTES = 64 << 20;

    /** From this size on a copy takes so much longer than a wake-up that one is enough. */
    long SINGLE_BYTES = 256 << 20;

    /** One of this many small operations is timed: two reads of the clock cost as much as one. */
    int OPERATIONS_PER_TIMED = 64;

    /** From this size on reading the clock does not count beside the copy. */
    long ALL_TIMED_BYTES = 64 << 10;

    /** Time to populate and to map a gigabyte, on a slow machine. */
    long GIGABYTE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Time to measure the round trip of a cache line, beside other load. */
    long LINE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Kind of measurement. */
    Word mode();

    /** Duration of a run in nanoseconds, after warm-ups of the same length. */
    long nanos();

    /** Processors to which both sides are pinned; null if they are not. */
    @Nullable PerfCpus cpus();

    /** Whether both sides always poll while they measure. */
    boolean isBusy();

    /**
     * Checks that the devices of both sides have what the measurement uses.
     *
     * @throws DpuException NOT_SUPPORTED naming the device and its limit
     */
    void requireSupported(ComchPair pair);

    /** Whether {@link #cpus} can pin the threads; if not, results have no {@code cpu}. */
    default boolean isPinnable() {
        return true;
    }

    /** Number of runs. */
    default int repeats() {
        return 1;
    }

    /** Number of threads that wait for each other. */
    default int pollers() {
        return 2;
    }

    /** Memory that both processes have for what is measured. */
    default long memoryBytes() {
        return 0;
    }

    /** Memory that both processes need in all. */
    default long neededBytes() {
        return memoryBytes() + PROCESSES_BYTES;
    }

    /** Most descriptors that one process needs beyond those of a pair of processes. */
    default long furtherDescriptors() {
        return 0;
    }

    /**
     * Time limit of each step that is not measured: setup, the next message, the end. It grows with
     * the memory, of which each side populates and maps its part.
     */
    default long deadlineNanos() {
        return TwoProcesses.STEP_NANOS + (long) (GIGABYTE_NANOS * (memoryBytes() / 1e9));
    }

    /**
     * Time limit of all of it: warm-ups, runs, and what is before, between and after them.
     * Generous: beside other load the round trip of a cache line takes seconds, and is measured
     * twice per run.
     */
    default long limitNanos() {
        return 2L * (WarmUp.MOST_RUNS + repeats()) * (nanos() + LINE_NANOS) + 4 * deadlineNanos();
    }

    /** Limit of the memory of one process that the other has mapped; 0 for the default. */
    default long importLimitBytes() {
        return 0;
    }

    /** Whether the processes exchange lines; otherwise output of the DPU process is discarded. */
    default boolean isByLines() {
        return true;
    }

    /** Number of processors that the threads may use. */
    default int processors(int available) {
        return PerfCpus.processors(cpus(), available);
    }

    /** Whether the round trip of a cache line is measured: between two processors. */
    default boolean isLineTimed() {
        PerfCpus pinned = cpus();
        return pinned != null && !pinned.isShared();
    }

    /** Rounds of an engine of one of the threads. */
    default EngineTurns turnsOf(ProgressEngine engine, PerfWait waiting) {
        return new EngineTurns(
                engine, waiting, pollers(), processors(CpuBinding.availableProcessors()));
    }

    /**
     * Operations in flight, if that is not given: as many as {@value #WINDOW_BYTES} bytes hold, but
     * at least two: one is filled while the other is taken. From {@value #SINGLE_BYTES} bytes on it
     * is one.
     *
     * @param sizeBytes of an operation, 1 or more
     */
    static int defaultWindow(long sizeBytes, int most) {
        return Math.clamp(WINDOW_BYTES / sizeBytes, sizeBytes < SINGLE_BYTES ? 2 : 1, most);
    }

    /** Number of operations of a size of which one is timed, with several in flight. */
    static int operationsPerTimed(long sizeBytes) {
        return sizeBytes < ALL_TIMED_BYTES ? OPERATIONS_PER_TIMED : 1;
    }

    /**
     * Checks a value of a plan.
     *
     * @param format of the error, which names the value
     * @throws DpuException INVALID_VALUE
     */
    @FormatMethod
    static void require(boolean holds, @FormatString String format, @Nullable Object... values) {
        if (!holds) {
            throw new DpuException(Status.INVALID_VALUE, Text.format(format, values));
        }
    }

    /** Checks a whole number from 1 on, which the error names by what it is and by its key. */
    static void requireRange(String what, String key, int value, int most) {
        require(
                value >= 1 && value <= most,
                "%s is illegal: %s=%d, expected=1 to %d",
                what,
                key,
                value,
                most);
    }

    /** Checks the duration of a run. */
    static void requireTime(long nanos) {
        require(nanos >= 1, "time is illegal: nanos=%d, expected=1 or more", nanos);
    }
}

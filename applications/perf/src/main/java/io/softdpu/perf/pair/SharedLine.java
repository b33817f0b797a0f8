package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Cache line that both processes of a measurement have mapped, for the time that it takes to travel
 * between the processors of their threads and back.
 *
 * <p>One side {@linkplain #measure measures}, the other {@linkplain #answer answers} meanwhile; the
 * number in the line is odd when the second is to move and even when the first is. At the end the
 * second confirms that it answers no more: otherwise it could miss the end where its processor is
 * taken away, and the next measurement would find it waiting for a number of this one. Belongs to
 * one thread.
 */
public final class SharedLine implements AutoCloseable {
    /** The line begins a page, so nothing else is in it. */
    private static final long BYTES = 4096;

    private static final VarHandle NUMBER = ValueLayout.JAVA_LONG.varHandle();

    /** In a new file, and written by the side that answers when it has seen the end. */
    private static final long IDLE = 0;

    /** Written by the side that measures when it has finished. */
    private static final long FINISHED = -1;

    /** Long enough for samples without a compiler's thread on either processor. */
    private static final long MEASURING_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int TRIPS_PER_SAMPLE = 200;
    private static final int MAX_SAMPLES = 100_000;

    /**
     * Unsuccessful reads after which a side checks and yields: the other may need its processor.
     */
    private static final int SPINS = 100_000;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment line;

    /** Maps the file, which this creates or the other side has created. */
    public SharedLine(Path file) {
        try (FileChannel channel =
                FileChannel.open(
                        file,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            line = channel.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
        } catch (IOException e) {
            arena.close();
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "cannot map the line of both sides: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }

    /** The file beside the folder of the fabric, in which only the bus has files. */
    public static Path fileOf(Path fabric) {
        return fabric.resolveSibling(fabric.getFileName() + "-line");
    }

    /**
     * Measures the round trip: the lower quartile of many samples, in nanoseconds. In the upper
     * ones a side may have lost its processor, to a compiler for example.
     *
     * @param timeoutNanos how long the other side may be silent
     * @param check called now and then while it is; may throw
     * @throws DpuException TIME_OUT
     */
    public long measure(long timeoutNanos, Runnable check) {
        long[] samples = new long[MAX_SAMPLES];
        int count = 0;
        long number = IDLE;
        try {
            number = roundTrip(number, timeoutNanos, check); // until the other side has begun
            long begin = System.nanoTime();
            long before = begin;
            while (count < MAX_SAMPLES && before - begin < MEASURING_NANOS) {
                for (int i = 0; i < TRIPS_PER_SAMPLE; i++) {
                    number = roundTrip(number, timeoutNanos, check);
                }
                long now = System.nanoTime();
                samples[count++] = (now - before) / TRIPS_PER_SAMPLE;
                before = now;
            }
        } finally {
            NUMBER.setRelease(line, 0L, FINISHED);
        }
        await(IDLE, IDLE, timeoutNanos, check);
        Arrays.sort(samples, 0, count);
        return samples[count / 4];
    }

    private long roundTrip(long number, long timeoutNanos, Runnable check) {
        NUMBER.setRelease(line, 0L, number + 1);
        await(number + 2, number + 2, timeoutNanos, check);
        return number + 2;
    }

    /**
     * Answers until the other side has finished its measurement.
     *
     * @param timeoutNanos how long the other side may be silent
     * @param check called now and then while it is; may throw
     * @throws DpuException TIME_OUT
     */
    public void answer(long timeoutNanos, Runnable check) {
        for (long number = 1; await(number, FINISHED, timeoutNanos, check); number += 2) {
            NUMBER.setRelease(line, 0L, number + 1);
        }
        NUMBER.setRelease(line, 0L, IDLE);
    }

    /** Waits for one of two numbers; whether it is the first. */
    @SuppressWarnings("ThreadPriorityCheck") // yields so that the other side runs, on one processor
    private boolean await(long number, long other, long timeoutNanos, Runnable check) {
        long begin = 0;
        while (true) {
            for (int spins = 0; spins < SPINS; spins++) {
                long found = (long) NUMBER.getAcquire(line, 0L);
                if (found == number || found == other) {
                    return found == number;
                }
                Thread.onSpinWait();
            }
            long now = System.nanoTime();
            if (begin == 0) {
                begin = now;
            } else if (now - begin > timeoutNanos) {
                throw new DpuException(
                        Status.TIME_OUT,
                        Text.format(
                                "other side does not answer in the shared line: expected=%d,"
                                        + " waitedMillis=%d",
                                number, TimeUnit.NANOSECONDS.toMillis(timeoutNanos)));
            }
            check.run();
            Thread.yield();
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}

package io.softdpu.perf.comch;

import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfWait;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Collects the values of a plan: messages of the mode's size, adaptive waiting, one run of 2 s.
 * Belongs to one thread.
 */
public final class ComchPlans {
    private final ComchMode mode;
    private @Nullable Long sizeBytes;
    private PerfWait waiting = PerfWait.ADAPTIVE;
    private long nanos = TimeUnit.SECONDS.toNanos(2);
    private @Nullable Integer window;
    private int producers = 1;
    private int consumers = 1;
    private boolean isStream;
    private int repeats = 1;
    private @Nullable Integer clients;
    private long importBytes;
    private @Nullable PerfCpus cpus;

    private ComchPlans(ComchMode mode) {
        this.mode = mode;
    }

    /** Begins a plan. */
    public static ComchPlans of(ComchMode mode) {
        return new ComchPlans(mode);
    }

    /** Sets the bytes of a message, 1 to {@link ComchPlan#MAX_SIZE_BYTES}. */
    public ComchPlans sizeBytes(long bytes) {
        sizeBytes = bytes;
        return this;
    }

    /** Sets how both sides wait. */
    public ComchPlans waiting(PerfWait how) {
        waiting = how;
        return this;
    }

    /** Sets how long one run takes in nanoseconds, after warm-ups of the same length. */
    public ComchPlans nanos(long time) {
        nanos = time;
        return this;
    }

    /**
     * Sets how many buffers a consumer has posted, 1 to {@link ComchPlan#MAX_WINDOW}; a producer
     * has as many messages. In one-way modes only: else one message is under way.
     */
    public ComchPlans window(int buffers) {
        window = buffers;
        return this;
    }

    /**
     * Sets the number of producers of the host, 1 to {@link ComchPlan#MAX_PRODUCERS}; more than 1
     * in one-way modes only.
     */
    public ComchPlans producers(int count) {
        producers = count;
        return this;
    }

    /** Sets the number of consumers: 1, for all producers, or one for each producer. */
    public ComchPlans consumers(int count) {
        consumers = count;
        return this;
    }

    /** Sets whether each side has a stream, in place of a producer and a consumer. */
    public ComchPlans stream(boolean overStream) {
        isStream = overStream;
        return this;
    }

    /** Sets the number of runs, 1 to {@link ComchPlan#MAX_REPEATS}. */
    public ComchPlans repeats(int runs) {
        repeats = runs;
        return this;
    }

    /**
     * Sets the number of clients, 1 to {@link ComchPlan#MAX_CLIENTS}; with {@link ComchMode#IDLE}
     * only, which needs it.
     */
    public ComchPlans clients(int count) {
        clients = count;
        return this;
    }

    /**
     * Sets the size of memory that is imported and released all the time, at most {@link
     * ComchPlan#MAX_IMPORT_BYTES}; with {@link ComchMode#IDLE} only.
     */
    public ComchPlans importBytes(long bytes) {
        importBytes = bytes;
        return this;
    }

    /** Pins both sides to processors. */
    public ComchPlans cpus(PerfCpus pair) {
        cpus = pair;
        return this;
    }

    /** Makes the plan. */
    public ComchPlan build() {
        return ComchPlan.of(
                mode,
                sizeBytes,
                waiting,
                nanos,
                window,
                producers,
                consumers,
                isStream,
                repeats,
                clients,
                importBytes,
                cpus);
    }
}

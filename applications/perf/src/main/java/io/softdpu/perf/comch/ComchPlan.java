package io.softdpu.perf.comch;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.pair.PerfCpus;
import io.softdpu.perf.pair.PerfPlan;
import io.softdpu.perf.pair.PerfWait;
import io.softdpu.perf.text.SizeText;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of a Comm Channel, made by {@link #of}.
 *
 * @param mode kind of measurement
 * @param sizeBytes bytes of a message, 1 to {@link #MAX_SIZE_BYTES}; 0 with {@link ComchMode#IDLE}
 * @param waiting how both sides wait
 * @param nanos how long one run takes, after warm-ups of the same length
 * @param window buffers that a consumer has posted, and messages of a producer
 * @param producers producers of the host, each with an engine and a thread of its own
 * @param consumers consumers of the DPU: one, or one for each producer, each with an engine and a
 *     thread of its own
 * @param isStream whether each side has a stream, in place of a producer and a consumer
 * @param repeats number of runs
 * @param clients connections without messages; 0 in all modes but {@link ComchMode#IDLE}
 * @param importBytes memory that the DPU imports meanwhile; 0 for none
 * @param cpus processors to which both sides are pinned; null if they are not
 */
public record ComchPlan(
        ComchMode mode,
        long sizeBytes,
        PerfWait waiting,
        long nanos,
        int window,
        int producers,
        int consumers,
        boolean isStream,
        int repeats,
        int clients,
        long importBytes,
        @Nullable PerfCpus cpus)
        implements PerfPlan {
    /** Largest message: 1.5 GiB. */
    public static final long MAX_SIZE_BYTES = 3L << 29;

    /** Largest message of the basic path: the Comm Channel's. */
    public static final int MAX_BASIC_BYTES = 4080;

    /** Most posted buffers: those of a consumer's ring. */
    public static final int MAX_WINDOW = 8192;

    /** Most producers of the host. */
    public static final int MAX_PRODUCERS = 64;

    /** Most connections without messages: the Comm Channel's of a server. */
    public static final int MAX_CLIENTS = 512;

    /** Most memory that is imported beside them. */
    public static final long MAX_IMPORT_BYTES = 4L << 30;

    /** Most runs of one measurement. */
    public static final int MAX_REPEATS = 1000;

    /** Generous: an idle connection has about a mebibyte, its two rings. */
    private static final long CONNECTION_BYTES = 2 << 20;

    /** Of a producer or consumer with an engine of its own, measured. */
    private static final long DESCRIPTORS_PER_ENGINE = 8;

    /** Generous: a connection without messages takes about three. */
    private static final long DESCRIPTORS_PER_CLIENT = 4;

    private static final int PING_PONG_BUFFERS = 4;
    private static final int MOST_BUFFERS = 256;

    /** Checks the values: INVALID_VALUE that names the field. */
    public ComchPlan {
        boolean idle = mode == ComchMode.IDLE;
        long largest = mode == ComchMode.CONTROL ? MAX_BASIC_BYTES : MAX_SIZE_BYTES;
        PerfPlan.require(
                idle ? sizeBytes == 0 : sizeBytes >= 1 && sizeBytes <= largest,
                "message size is illegal: size=%s, measurement=%s, expected=%s",
                SizeText.format(sizeBytes),
                mode.word(),
                idle ? "no size" : "1 to " + SizeText.format(largest));
        PerfPlan.requireTime(nanos);
        PerfPlan.requireRange("window", "window", window, MAX_WINDOW);
        PerfPlan.requireRange("number of producers", "producers", producers, MAX_PRODUCERS);
        PerfPlan.require(
                mode.isOneWay() || producers == 1,
                "only one-way messages have several producers: producers=%d, measurement=%s,"
                        + " expected=1",
                producers,
                mode.word());
        PerfPlan.require(
                consumers == 1 || consumers == producers,
                "number of consumers is illegal: consumers=%d, producers=%d, expected=1 or as many"
                        + " as producers",
                consumers,
                producers);
        PerfPlan.require(
                !isStream || !mode.isBasic(),
                "no messages of a stream are measured: stream=true, measurement=%s,"
                        + " expected=false",
                mode.word());
        PerfPlan.require(
                !isStream || producers == 1,
                "connection has one stream of each side: producers=%d, expected=1",
                producers);
        long memory = queues(mode, producers, consumers, isStream) * window * sizeBytes;
        PerfPlan.require(
                memory <= MAX_MEMORY_BYTES,
                "messages of both processes need too much memory: producers=%d, consumers=%d,"
                        + " stream=%s, window=%d, size=%s, needed=%s, limit=%s",
                producers,
                consumers,
                isStream,
                window,
                SizeText.format(sizeBytes),
                SizeText.rounded(memory),
                SizeText.rounded(MAX_MEMORY_BYTES));
        PerfPlan.require(
                idle ? clients >= 1 && clients <= MAX_CLIENTS : clients == 0,
                "number of idle clients is illegal: clients=%d, measurement=%s, expected=%s",
                clients,
                mode.word(),
                idle ? "1 to " + MAX_CLIENTS : "none");
        PerfPlan.require(
                importBytes >= 0 && importBytes <= (idle ? MAX_IMPORT_BYTES : 0),
                "imported size is illegal: import=%s, measurement=%s, expected=%s",
                SizeText.format(importBytes),
                mode.word(),
                idle ? "at most " + SizeText.format(MAX_IMPORT_BYTES) : "none");
        PerfPlan.require(
                !idle || repeats == 1,
                "idle connections are measured once: repeat=%d, measurement=idle, expected=1",
                repeats);
        PerfPlan.requireRange("number of runs", "repeat", repeats, MAX_REPEATS);
    }

    /**
     * A plan, with the defaults of a mode for what is not given.
     *
     * @param sizeBytes null for the default of the mode
     * @param window null for the default; in one-way modes only: else one message is under way
     * @param clients null for none; with {@link ComchMode#IDLE} only, which needs it
     * @throws DpuException INVALID_VALUE that names the illegal value
     */
    public static ComchPlan of(
            ComchMode mode,
            @Nullable Long sizeBytes,
            PerfWait waiting,
            long nanos,
            @Nullable Integer window,
            int producers,
            int consumers,
            boolean isStream,
            int repeats,
            @Nullable Integer clients,
            long importBytes,
            @Nullable PerfCpus cpus) {
        PerfPlan.require(
                mode.isOneWay() || window == null,
                "only one-way messages have a window: window=%d, measurement=%s, expected=no"
                        + " window",
                window,
                mode.word());
        PerfPlan.require(
                mode != ComchMode.IDLE || clients != null,
                "number of idle clients is illegal: clients=none, measurement=idle, expected=1"
                        + " to %d",
                MAX_CLIENTS);
        PerfPlan.require(
                mode == ComchMode.IDLE || clients == null,
                "only idle connections have a number of clients: clients=%d, measurement=%s,"
                        + " expected=none",
                clients,
                mode.word());
        long size = sizeBytes == null ? mode.defaultSizeBytes() : sizeBytes;
        long queues = queues(mode, producers, consumers, isStream);
        return new ComchPlan(
                mode,
                size,
                waiting,
                nanos,
                window == null ? defaultWindow(mode, Math.max(1, size), queues) : window,
                producers,
                consumers,
                isStream,
                repeats,
                clients == null ? 0 : clients,
                importBytes,
                cpus);
    }

    /**
     * A ping-pong has one message under way, and room for it to be posted again. One way the window
     * is as many as bridge the time in which the other end wakes up: where they are small that is a
     * matter of how many, so 256; where they are large of how many bytes are still to be copied. It
     * is never more than the memory limit allows.
     */
    private static int defaultWindow(ComchMode mode, long size, long queues) {
        int most = mode.isOneWay() ? MOST_BUFFERS : PING_PONG_BUFFERS;
        return Math.clamp(
                MAX_MEMORY_BYTES / (queues * size), 1, PerfPlan.defaultWindow(size, most));
    }

    /**
     * Whether messages begin with a time stamp of their send: in one direction, if there is room.
     */
    boolean isStamped() {
        return mode.isOneWay() && sizeBytes >= Long.BYTES;
    }

    @Override
    public boolean isByLines() {
        return false;
    }

    @Override
    public boolean isBusy() {
        return waiting == PerfWait.BUSY && mode != ComchMode.IDLE;
    }

    /** Those of what there may be several of: producers, consumers and connections. */
    @Override
    public long furtherDescriptors() {
        return DESCRIPTORS_PER_ENGINE * (producers - 1 + consumers - 1)
                + DESCRIPTORS_PER_CLIENT * clients;
    }

    /** Memory that both processes have for messages, connections and imports. */
    @Override
    public long memoryBytes() {
        if (mode == ComchMode.IDLE) {
            return importBytes + clients * CONNECTION_BYTES;
        }
        return queues(mode, producers, consumers, isStream) * window * sizeBytes;
    }

    /**
     * Twice all the memory of the other side, since what was released is unmapped later, and a
     * reserve for rings.
     */
    @Override
    public long importLimitBytes() {
        return 2 * memoryBytes() + MAX_MEMORY_BYTES;
    }

    /** How many objects of both processes have a window of messages. */
    private static long queues(ComchMode mode, int producers, int consumers, boolean isStream) {
        // Each stream has the messages of both ways, and so does a round trip.
        return mode.isOneWay() && !isStream ? (long) producers + consumers : 4;
    }

    /** Those of consumers and producers. */
    @Override
    public int pollers() {
        return consumers + producers;
    }

    /** Between two processors, if none but the two threads that measure it polls meanwhile. */
    @Override
    public boolean isLineTimed() {
        return PerfPlan.super.isLineTimed() && consumers == 1;
    }

    @Override
    public void requireSupported(ComchPair pair) {
        if (mode.isBasic()) {
            return;
        }
        boolean bothWays = !mode.isOneWay() || isStream;
        pair.requireSupported(Side.HOST, ComchCapabilities.PRODUCER_TASKS_LIMIT, mode.word());
        pair.requireSupported(Side.DPU, ComchCapabilities.CONSUMER_TASKS_LIMIT, mode.word());
        if (bothWays) {
            pair.requireSupported(Side.HOST, ComchCapabilities.CONSUMER_TASKS_LIMIT, mode.word());
            pair.requireSupported(Side.DPU, ComchCapabilities.PRODUCER_TASKS_LIMIT, mode.word());
        }
    }

    /**
     * Checks the size of a received message.
     *
     * @throws DpuException UNEXPECTED
     */
    void requireSize(long bytes) {
        if (bytes != sizeBytes) {
            throw new DpuException(
                    Status.UNEXPECTED,
                    Text.format(
                            "message has another size: bytes=%d, expected=%d", bytes, sizeBytes));
        }
    }
}

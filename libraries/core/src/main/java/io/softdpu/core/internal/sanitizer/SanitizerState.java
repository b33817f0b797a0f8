package io.softdpu.core.internal.sanitizer;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Implementation of {@code Sanitizer}, for the objects that it checks: the seed and the reports.
 * Any thread.
 */
public final class SanitizerState {
    /** The environment variable that turns it on for the whole program. */
    public static final String ENVIRONMENT = "SOFTDPU_SANITIZE";

    /** Limit of logged reports; further ones are counted and passed to the listener. */
    private static final int MAX_LOGGED = 100;

    private static final Pattern SEED = Pattern.compile("[-+]?(0[xX]|#)?[0-9a-fA-F]+");

    /** Distance of the seeds of random sequences: the golden ratio in 64 bits. */
    private static final long NEXT_SEQUENCE = 0x9e3779b97f4a7c15L;

    /** The name of the public class, which users know. */
    static final String LOG_NAME = "io.softdpu.core.execution.Sanitizer";

    private static final System.Logger LOG = System.getLogger(LOG_NAME);
    private static final @Nullable DpuException INVALID;
    private static volatile @Nullable SanitizerState current;
    private static final ThreadLocal<@Nullable SanitizerState> OF_THREAD =
            new InheritableThreadLocal<>();

    static {
        DpuException invalid = null;
        try {
            current = ofEnvironment(System.getenv(ENVIRONMENT));
        } catch (DpuException e) { // thrown by current(), not by the loading of this class
            invalid = e;
        }
        INVALID = invalid;
    }

    /** Receives each mistake that is found. */
    @FunctionalInterface
    public interface Listener {
        /** Called with a mistake, on the thread that made it. */
        void onMistake(Mistake kind, String message, @Nullable Throwable allocatedAt);
    }

    private final long seed;
    private final @Nullable SanitizerState before;
    private final boolean ofThread;
    private volatile boolean ended;
    private final AtomicInteger sequences = new AtomicInteger();
    private final Map<Mistake, AtomicLong> counts = countsOfNothing();
    private volatile @Nullable Listener listener;

    private SanitizerState(long seed, @Nullable SanitizerState before, boolean ofThread) {
        this.seed = seed;
        this.before = before;
        this.ofThread = ofThread;
    }

    /**
     * The current sanitizer of this thread, else that of the program; null if none is on.
     *
     * @throws DpuException INVALID_VALUE if the environment has a seed that is no number
     */
    public static @Nullable SanitizerState current() {
        SanitizerState ofThread = lastNotEnded(OF_THREAD.get());
        if (ofThread != null) {
            return ofThread;
        }
        if (INVALID != null && current == null) {
            throw INVALID;
        }
        return current;
    }

    /** See {@code Sanitizer.start}. */
    public static synchronized SanitizerState start(long seed) {
        SanitizerState started = new SanitizerState(seed, current, false);
        current = started;
        return started;
    }

    /** See {@code Sanitizer.startForThread}. */
    public static SanitizerState startForThread(long seed) {
        SanitizerState started = new SanitizerState(seed, OF_THREAD.get(), true);
        OF_THREAD.set(started);
        return started;
    }

    /** See {@code Sanitizer.close}. */
    public void end() {
        ended = true;
        if (ofThread) {
            OF_THREAD.set(lastNotEnded(OF_THREAD.get()));
            return;
        }
        synchronized (SanitizerState.class) {
            current = lastNotEnded(current);
        }
    }

    private static @Nullable SanitizerState lastNotEnded(@Nullable SanitizerState last) {
        SanitizerState on = last;
        while (on != null && on.ended) {
            on = on.before;
        }
        return on;
    }

    /** The sanitizer of the variable's value; null if it is not set or empty. */
    static @Nullable SanitizerState ofEnvironment(@Nullable String text) {
        if (text == null || text.isBlank()) {
            return null;
        }
        try {
            return new SanitizerState(seedOf(text.strip()), null, false);
        } catch (NumberFormatException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "seed is not a number of 64 bits: variable=%s, value=%s, expected=a"
                                    + " decimal number, or a hexadecimal one after 0x",
                            ENVIRONMENT, text),
                    e);
        }
    }

    /** As {@link Long#decode}, but that takes the digits of all scripts. */
    private static long seedOf(String text) {
        if (!SEED.matcher(text).matches()) {
            throw new NumberFormatException("not of the digits 0 to 9 and a to f");
        }
        return Long.decode(text);
    }

    /** The seed of all random decisions. */
    public long seed() {
        return seed;
    }

    /** The random sequence of a new object, by order of creation. */
    SplittableRandom newSequence() {
        return new SplittableRandom(seed + NEXT_SEQUENCE * sequences.incrementAndGet());
    }

    /** See {@code Sanitizer.setListener}. */
    public void setListener(@Nullable Listener newListener) {
        listener = newListener;
    }

    /** Number of mistakes found. */
    public long reports() {
        return counts.values().stream().mapToLong(AtomicLong::get).sum();
    }

    /** Number of mistakes of this kind found. */
    public long reports(Mistake kind) {
        return count(kind).get();
    }

    private AtomicLong count(Mistake kind) {
        return Objects.requireNonNull(counts.get(kind), "a count for each kind");
    }

    /** Counts with all keys, so that the map itself never changes. */
    private static Map<Mistake, AtomicLong> countsOfNothing() {
        Map<Mistake, AtomicLong> counts = new EnumMap<>(Mistake.class);
        for (Mistake kind : Mistake.values()) {
            counts.put(kind, new AtomicLong());
        }
        return counts;
    }

    /**
     * Reports a mistake of the program.
     *
     * @param allocatedAt stack trace of the object's allocation, if known
     */
    public void report(Mistake kind, String message, @Nullable Throwable allocatedAt) {
        long before = count(kind).getAndIncrement();
        if (before < MAX_LOGGED) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    Text.format("%s: %s, seed=%d", kind, message, seed),
                    allocatedAt);
        }
        Listener told = listener;
        if (told != null) {
            try {
                told.onMistake(kind, message, allocatedAt);
            } catch (RuntimeException e) { // the call that made the mistake continues
                LOG.log(System.Logger.Level.WARNING, "listener failed: " + Reason.of(e), e);
            }
        }
    }

    /** A stack trace of the caller, for a report. */
    public static Throwable place() {
        return new Place();
    }

    /** Stack trace that is not a failure. */
    private static final class Place extends Throwable {
        private static final long serialVersionUID = 1L;

        Place() {
            super("allocated here");
        }
    }
}

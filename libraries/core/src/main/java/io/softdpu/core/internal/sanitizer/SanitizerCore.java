package io.softdpu.core.internal.sanitizer;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What a sanitizer is made of, seen from what belongs to it: the seed, and where mistakes are
 * reported. Any thread.
 */
public final class SanitizerCore {
    /** The variable of the environment that turns it on for the whole program. */
    public static final String ENVIRONMENT = "SOFTDPU_SANITIZE";

    /** Reports that are logged; the others are counted, and told to the listener. */
    private static final int MAX_LOGGED = 100;

    /** Far enough apart for seeds that follow each other: the golden ratio in 64 bits. */
    private static final long NEXT_SEQUENCE = 0x9e3779b97f4a7c15L;

    /** The public class, which stands above this one; its users know no other. */
    static final String LOG_NAME = "io.softdpu.core.execution.Sanitizer";

    private static final System.Logger LOG = System.getLogger(LOG_NAME);
    private static final @Nullable DpuException INVALID;
    private static volatile @Nullable SanitizerCore current;

    static {
        DpuException invalid = null;
        try {
            current = ofEnvironment(System.getenv(ENVIRONMENT));
        } catch (DpuException e) { // told to whoever asks, not to the loader of this class
            invalid = e;
        }
        INVALID = invalid;
    }

    /** Receives each mistake that is found. */
    @FunctionalInterface
    public interface Listener {
        /** A mistake was found; on the thread that made it. */
        void onMistake(Mistake kind, String message, @Nullable Throwable allocatedAt);
    }

    private final long seed;
    private final @Nullable SanitizerCore before;
    private boolean ended;
    private final AtomicInteger sequences = new AtomicInteger();
    private final Map<Mistake, AtomicLong> counts = countsOfNothing();
    private volatile @Nullable Listener listener;

    private SanitizerCore(long seed, @Nullable SanitizerCore before) {
        this.seed = seed;
        this.before = before;
    }

    /**
     * The one that is on; null if none is.
     *
     * @throws DpuException INVALID_VALUE if the environment has a seed that is no number
     */
    public static @Nullable SanitizerCore current() {
        if (INVALID != null && current == null) {
            throw INVALID;
        }
        return current;
    }

    /** See {@code Sanitizer.start}. */
    public static synchronized SanitizerCore start(long seed) {
        SanitizerCore started = new SanitizerCore(seed, current);
        current = started;
        return started;
    }

    /** See {@code Sanitizer.close}. */
    public void end() {
        synchronized (SanitizerCore.class) {
            ended = true;
            SanitizerCore on = current;
            while (on != null && on.ended) {
                on = on.before;
            }
            current = on;
        }
    }

    /** What the variable says: null if it is not set, or empty. */
    static @Nullable SanitizerCore ofEnvironment(@Nullable String text) {
        if (text == null || text.isBlank()) {
            return null;
        }
        try {
            return new SanitizerCore(Long.decode(text.strip()), null);
        } catch (NumberFormatException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "seed is not a number of 64 bits: variable=%s, value=%s"
                            .formatted(ENVIRONMENT, text),
                    e);
        }
    }

    /** The seed that everything follows from. */
    public long seed() {
        return seed;
    }

    /** Randomness for one more object that belongs to it, in the order of their creation. */
    SplittableRandom newSequence() {
        return new SplittableRandom(seed + NEXT_SEQUENCE * sequences.incrementAndGet());
    }

    /** See {@code Sanitizer.setListener}. */
    public void setListener(@Nullable Listener newListener) {
        listener = newListener;
    }

    /** How many mistakes were found. */
    public long reports() {
        return counts.values().stream().mapToLong(AtomicLong::get).sum();
    }

    /** How many mistakes of this kind were found. */
    public long reports(Mistake kind) {
        return count(kind).get();
    }

    private AtomicLong count(Mistake kind) {
        return Objects.requireNonNull(counts.get(kind), "a count for each kind");
    }

    /** All keys are there from the beginning, so that the map itself never changes. */
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
     * @param allocatedAt where the object was allocated, if that is known
     */
    public void report(Mistake kind, String message, @Nullable Throwable allocatedAt) {
        long before = count(kind).getAndIncrement();
        if (before < MAX_LOGGED) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "%s: %s, seed=%d".formatted(kind, message, seed),
                    allocatedAt);
        }
        Listener told = listener;
        if (told != null) {
            try {
                told.onMistake(kind, message, allocatedAt);
            } catch (RuntimeException e) { // the call that shows the mistake goes its own way
                LOG.log(System.Logger.Level.WARNING, "listener failed: " + e, e);
            }
        }
    }

    /** A place in the program, for a report: here and now. */
    public static Throwable place() {
        return new Place();
    }

    /** A stack trace that is no failure. */
    private static final class Place extends Throwable {
        private static final long serialVersionUID = 1L;

        Place() {
            super("allocated here");
        }
    }
}

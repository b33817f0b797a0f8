package io.softdpu.linux;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Stack traces of the creation of each open descriptor, mapping, thread and named object, kept
 * until its end. For finding leaks. {@code -Dsoftdpu.origins=true} records everything from the
 * start of the JVM; {@link #recordFor} records what a thread creates, and the threads that it
 * creates. Otherwise each method does nothing. Any thread.
 *
 * <p>Descriptor numbers and addresses of mappings are reused as soon as they are free. So a close
 * is recorded before the call that frees, and an open after the call that creates.
 *
 * <p>A test kit that may not depend on this module reads {@link #open()} by reflection; the names
 * of this class and of that method, and the form of its keys, are part of the contract.
 */
public final class Origins {
    /** The system property that records everything. */
    public static final String PROPERTY = "softdpu.origins";

    private static final boolean ALL = Boolean.getBoolean(PROPERTY);

    /** Whether any close may have to be recorded; never false again. */
    private static volatile boolean used = ALL;

    private static final Map<String, Origin> OPEN = new ConcurrentHashMap<>();
    private static final Map<Thread, Origin> THREADS = new ConcurrentHashMap<>();
    private static final ThreadLocal<@Nullable Throwable> ASKED = new ThreadLocal<>();
    private static final ThreadLocal<@Nullable Object> OWNER = new InheritableThreadLocal<>();

    private record Origin(@Nullable Object owner, Throwable place) {}

    private Origins() {}

    /**
     * Whether what this thread creates now is recorded; callers that must build a name check this
     * first.
     */
    public static boolean isRecorded() {
        return used && (ALL || OWNER.get() != null);
    }

    /**
     * Records what this thread creates from now on, and the threads that it creates from now on, on
     * behalf of an owner.
     *
     * @param owner any object, compared by identity; null to end it on this thread
     */
    public static void recordFor(@Nullable Object owner) {
        if (owner == null) {
            OWNER.remove();
        } else {
            used = true;
            OWNER.set(owner);
        }
    }

    /** The owner on whose behalf this thread's creations are recorded; null for none. */
    public static @Nullable Object recordedFor() {
        return OWNER.get();
    }

    /**
     * Records a new descriptor: opened, duplicated, accepted, or received from a peer.
     *
     * @param fd its number
     */
    public static void descriptorOpened(int fd) {
        if (isRecorded()) {
            opened("descriptor " + fd);
        }
    }

    /**
     * Removes a descriptor that is about to be closed.
     *
     * @param fd its number
     */
    public static void descriptorCloses(int fd) {
        if (used) {
            closes("descriptor " + fd);
        }
    }

    /**
     * Records a new mapping.
     *
     * @param address its first byte
     */
    public static void mapped(long address) {
        if (isRecorded()) {
            opened(mappingKey(address));
        }
    }

    /**
     * Removes a mapping that is about to be unmapped.
     *
     * @param address its first byte
     */
    public static void unmaps(long address) {
        if (used) {
            closes(mappingKey(address));
        }
    }

    /**
     * Records a new thread. It is removed when it has ended.
     *
     * @param thread started or not
     */
    public static void threadMade(Thread thread) {
        if (isRecorded()) {
            THREADS.keySet().removeIf(made -> made.getState() == Thread.State.TERMINATED);
            THREADS.put(thread, origin(threadKey(thread)));
        }
    }

    /**
     * Records a new named object, such as a region. Check {@link #isRecorded} before building the
     * name.
     *
     * @param name its kind, a space, and an identification
     */
    public static void opened(String name) {
        if (isRecorded()) {
            OPEN.put(name, origin(name));
        }
    }

    /** Whether {@link #closes} has an effect; callers that must build a name check this first. */
    public static boolean mayBeRecorded() {
        return used;
    }

    /**
     * Removes a named object that is about to end.
     *
     * @param name as given to {@link #opened}
     */
    public static void closes(String name) {
        if (used) {
            OPEN.remove(name);
        }
    }

    /**
     * Stack trace of a request to another thread, to be passed to that thread.
     *
     * @return argument of that thread's {@link #askedAt}; null if nothing is recorded
     */
    public static @Nullable Throwable asking() {
        if (!isRecorded()) {
            return null;
        }
        // A thread that serves a request passes on that request's trace, so chains have one link.
        Throwable asked = ASKED.get();
        return asked != null ? asked : place("asked for");
    }

    /**
     * Attributes what this thread creates from now on to a request: its trace becomes the cause of
     * each origin.
     *
     * @param place result of {@link #asking}; null at the end of the request
     */
    public static void askedAt(@Nullable Throwable place) {
        if (used) {
            ASKED.set(place);
        }
    }

    /**
     * Everything that is open now.
     *
     * @return stack traces by key: {@code descriptor 12}, {@code mapping 0x7f0000000000}, {@code
     *     thread 31}, or the name given to {@link #opened}; sorted, a copy, empty if nothing is
     *     recorded
     */
    public static Map<String, Throwable> open() {
        return open(origin -> true);
    }

    /**
     * What was created on behalf of an owner and is open now.
     *
     * @param owner as given to {@link #recordFor}
     * @return as of {@link #open()}
     */
    @SuppressWarnings("ReferenceEquality") // an owner may define equals
    public static Map<String, Throwable> openOf(Object owner) {
        return open(origin -> origin.owner == owner);
    }

    private static Map<String, Throwable> open(Predicate<Origin> wanted) {
        Map<String, Throwable> all = new TreeMap<>();
        OPEN.forEach((name, origin) -> {
            if (wanted.test(origin)) {
                all.put(name, origin.place);
            }
        });
        THREADS.forEach((thread, origin) -> {
            if (thread.isAlive() && wanted.test(origin)) {
                all.put(threadKey(thread), origin.place);
            }
        });
        return all;
    }

    private static String threadKey(Thread thread) {
        return "thread " + thread.threadId();
    }

    private static String mappingKey(long address) {
        return "mapping 0x" + Long.toHexString(address);
    }

    private static Origin origin(String of) {
        return new Origin(OWNER.get(), place(of));
    }

    private static Throwable place(String of) {
        return new Throwable(of + ", on thread " + Thread.currentThread().getName(), ASKED.get());
    }
}

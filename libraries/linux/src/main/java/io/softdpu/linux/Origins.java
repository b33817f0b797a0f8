package io.softdpu.linux;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Stack traces of the creation of each open descriptor, mapping, thread and named object, kept
 * until its end. For finding leaks; enabled by {@code -Dsoftdpu.origins=true} when the JVM starts;
 * otherwise each method does nothing. Any thread.
 *
 * <p>Descriptor numbers and addresses of mappings are reused as soon as they are free. So a close
 * is recorded before the call that frees, and an open after the call that creates.
 *
 * <p>A test kit that may not depend on this module reads {@link #open()} by reflection; the names
 * of this class and of that method, and the form of its keys, are part of the contract.
 */
public final class Origins {
    /** The system property that enables it. */
    public static final String PROPERTY = "softdpu.origins";

    /** Whether anything is recorded; callers that must build a name check this first. */
    public static final boolean RECORDED = Boolean.getBoolean(PROPERTY);

    private static final Map<String, Throwable> OPEN = new ConcurrentHashMap<>();
    private static final Map<Thread, Throwable> THREADS = new ConcurrentHashMap<>();
    private static final ThreadLocal<@Nullable Throwable> ASKED = new ThreadLocal<>();

    private Origins() {}

    /**
     * Records a new descriptor: opened, duplicated, accepted, or received from a peer.
     *
     * @param fd its number
     */
    public static void descriptorOpened(int fd) {
        if (RECORDED) {
            opened("descriptor " + fd);
        }
    }

    /**
     * Removes a descriptor that is about to be closed.
     *
     * @param fd its number
     */
    public static void descriptorCloses(int fd) {
        if (RECORDED) {
            closes("descriptor " + fd);
        }
    }

    /**
     * Records a new mapping.
     *
     * @param address its first byte
     */
    public static void mapped(long address) {
        if (RECORDED) {
            opened(mappingKey(address));
        }
    }

    /**
     * Removes a mapping that is about to be unmapped.
     *
     * @param address its first byte
     */
    public static void unmaps(long address) {
        if (RECORDED) {
            closes(mappingKey(address));
        }
    }

    /**
     * Records a new thread. It is removed when it has ended.
     *
     * @param thread started or not
     */
    public static void threadMade(Thread thread) {
        if (RECORDED) {
            THREADS.keySet().removeIf(made -> made.getState() == Thread.State.TERMINATED);
            THREADS.put(thread, place("thread " + thread.threadId()));
        }
    }

    /**
     * Records a new named object, such as a region. Check {@link #RECORDED} before building the
     * name.
     *
     * @param name its kind, a space, and an identification
     */
    public static void opened(String name) {
        if (RECORDED) {
            OPEN.put(name, place(name));
        }
    }

    /**
     * Removes a named object that is about to end.
     *
     * @param name as given to {@link #opened}
     */
    public static void closes(String name) {
        if (RECORDED) {
            OPEN.remove(name);
        }
    }

    /**
     * Stack trace of a request to another thread, to be passed to that thread.
     *
     * @return argument of that thread's {@link #askedAt}; null if nothing is recorded
     */
    public static @Nullable Throwable asking() {
        if (!RECORDED) {
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
        if (RECORDED) {
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
        Map<String, Throwable> all = new TreeMap<>(OPEN);
        THREADS.forEach((thread, place) -> {
            if (thread.isAlive()) {
                all.put("thread " + thread.threadId(), place);
            }
        });
        return all;
    }

    private static String mappingKey(long address) {
        return "mapping 0x" + Long.toHexString(address);
    }

    private static Throwable place(String of) {
        return new Throwable(of + ", on thread " + Thread.currentThread().getName(), ASKED.get());
    }
}

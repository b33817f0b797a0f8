package io.softdpu.linux;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Where this process made what it holds: a stack trace for each open descriptor, mapping, thread
 * and named object, from its making to its end. For finding leaks; switched on by {@code
 * -Dsoftdpu.origins=true} when the JVM starts, and off otherwise, where each method is an empty one
 * and nothing is kept. Any thread.
 *
 * <p>A descriptor's number and a mapping's address are given out again as soon as they are free. So
 * whoever closes says so before the call that frees, and whoever opens after the call that made.
 *
 * <p>A test kit that may not depend on this module reads {@link #open()} by reflection; the names
 * of this class and of that method, and the form of its keys, are part of the contract.
 */
public final class Origins {
    /** The system property that switches it on. */
    public static final String PROPERTY = "softdpu.origins";

    /** Whether anything is recorded; callers that would have to build a name ask first. */
    public static final boolean RECORDED = Boolean.getBoolean(PROPERTY);

    private static final Map<String, Throwable> OPEN = new ConcurrentHashMap<>();
    private static final Map<Thread, Throwable> THREADS = new ConcurrentHashMap<>();
    private static final ThreadLocal<@Nullable Throwable> ASKED = new ThreadLocal<>();

    private Origins() {}

    /**
     * A descriptor has come into being: opened, duplicated, accepted, or received from a peer.
     *
     * @param fd its number
     */
    public static void descriptorOpened(int fd) {
        if (RECORDED) {
            opened("descriptor " + fd);
        }
    }

    /**
     * A descriptor is about to be closed.
     *
     * @param fd its number
     */
    public static void descriptorCloses(int fd) {
        if (RECORDED) {
            closes("descriptor " + fd);
        }
    }

    /**
     * A mapping has come into being.
     *
     * @param address its first byte
     */
    public static void mapped(long address) {
        if (RECORDED) {
            opened(mappingKey(address));
        }
    }

    /**
     * A mapping is about to go.
     *
     * @param address its first byte
     */
    public static void unmaps(long address) {
        if (RECORDED) {
            closes(mappingKey(address));
        }
    }

    /**
     * A thread has been made. It is forgotten when it has ended.
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
     * Something with a name has come into being, such as a region. Ask {@link #RECORDED} before the
     * name is built.
     *
     * @param name its kind, a space, and what tells it from others
     */
    public static void opened(String name) {
        if (RECORDED) {
            OPEN.put(name, place(name));
        }
    }

    /**
     * Something with a name is about to end.
     *
     * @param name as given to {@link #opened}
     */
    public static void closes(String name) {
        if (RECORDED) {
            OPEN.remove(name);
        }
    }

    /**
     * The place from which another thread is asked to do something, to be handed to it.
     *
     * @return what that thread passes to {@link #askedAt}; null where nothing is recorded
     */
    public static @Nullable Throwable asking() {
        if (!RECORDED) {
            return null;
        }
        // A thread that acts for somebody hands on who that was, so chains stay one link long.
        Throwable asked = ASKED.get();
        return asked != null ? asked : place("asked for");
    }

    /**
     * What this thread makes from now on was asked for at that place: it becomes the cause of each
     * origin.
     *
     * @param place of {@link #asking}; null when the thread acts for itself again
     */
    public static void askedAt(@Nullable Throwable place) {
        if (RECORDED) {
            ASKED.set(place);
        }
    }

    /**
     * All that is open now.
     *
     * @return places by key: {@code descriptor 12}, {@code mapping 0x7f0000000000}, {@code thread
     *     31}, or the name given to {@link #opened}; sorted, a copy, empty where nothing is
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

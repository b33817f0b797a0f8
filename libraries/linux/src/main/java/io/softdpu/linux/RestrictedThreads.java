package io.softdpu.linux;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Checks, in tests, that threads which serve all peers make no system call whose duration a peer
 * determines: mmap, munmap, madvise and ftruncate, and close of a descriptor that a peer has sent;
 * and that no epoll watches a socket which waits for a thread that may close it. Enabled by {@code
 * -Dsoftdpu.restricted=true} when the JVM starts; otherwise each method does nothing. Any thread.
 *
 * <p>A violation is thrown and also kept, since these threads log exceptions and continue. A test
 * kit that may not depend on this module reads {@link #violations()} by reflection; the names of
 * this class and of that method are part of the contract.
 */
public final class RestrictedThreads {
    /** The system property that enables the checks. */
    public static final String PROPERTY = "softdpu.restricted";

    /** Whether the checks are enabled. */
    public static final boolean CHECKED = Boolean.getBoolean(PROPERTY);

    /** Kind of the current work of a thread. */
    public enum Scope {
        /** Work of the bus thread: memory of this process counts as much as that of peers. */
        BUS,
        /** A pass of progress; the program's callbacks may allocate and release its own memory. */
        PROGRESS,
        /** A part of a pass of progress that concerns memory of this program alone. */
        OWN_MEMORY
    }

    private static final ThreadLocal<@Nullable Scope> SCOPE = new ThreadLocal<>();
    private static final Set<Integer> RECEIVED = ConcurrentHashMap.newKeySet();

    /** Epolls that watch a descriptor, by the descriptor. */
    private static final Map<Integer, Set<Integer>> WATCHING = new ConcurrentHashMap<>();

    private static final List<Throwable> VIOLATIONS = new CopyOnWriteArrayList<>();

    private RestrictedThreads() {}

    /**
     * Begins restricted work on this thread.
     *
     * @param scope what the work is; {@link Scope#OWN_MEMORY} changes nothing outside progress
     * @return the scope before, for {@link #leave}; null if the checks are disabled
     */
    public static @Nullable Scope enter(Scope scope) {
        if (!CHECKED) {
            return null;
        }
        Scope before = SCOPE.get();
        if (scope != Scope.OWN_MEMORY || before == Scope.PROGRESS) {
            SCOPE.set(scope);
        }
        return before;
    }

    /**
     * Ends restricted work on this thread.
     *
     * @param before as returned by {@link #enter}
     */
    public static void leave(@Nullable Scope before) {
        if (CHECKED) {
            SCOPE.set(before);
        }
    }

    /**
     * All violations since the JVM started.
     *
     * @return a copy, oldest first; each with the stack of the call
     */
    public static List<Throwable> violations() {
        return List.copyOf(VIOLATIONS);
    }

    /** Clears the violations, for the test of this class. */
    static void clear() {
        VIOLATIONS.clear();
    }

    /** Checks a call whose duration depends on memory that a peer may have chosen. */
    static void requireAllowed(String call) {
        if (CHECKED) {
            Scope scope = SCOPE.get();
            if (scope == Scope.BUS || scope == Scope.PROGRESS) {
                violated(
                        "system call on a restricted thread: call="
                                + call
                                + ", thread="
                                + Thread.currentThread().getName()
                                + ", scope="
                                + scope
                                + ", expected=a mapping worker or a descriptor closer");
            }
        }
    }

    /** Records a descriptor that a peer has sent. */
    static void received(int fd) {
        if (CHECKED) {
            RECEIVED.add(fd);
        }
    }

    /** Checks the close of a descriptor. */
    static void closes(int fd) {
        if (CHECKED) {
            WATCHING.remove(fd);
            if (RECEIVED.remove(fd)) {
                requireAllowed("close of a received descriptor");
            }
        }
    }

    /** Records that an epoll watches a descriptor. */
    static void watches(int epoll, int fd) {
        if (CHECKED) {
            WATCHING.computeIfAbsent(fd, _ -> ConcurrentHashMap.newKeySet()).add(epoll);
        }
    }

    /** Records that an epoll does not watch a descriptor any more. */
    static void unwatches(int epoll, int fd) {
        if (CHECKED) {
            Set<Integer> watching = WATCHING.get(fd);
            if (watching != null) {
                watching.remove(epoll);
            }
        }
    }

    /** Records the close of an epoll. */
    static void closesEpoll(int epoll) {
        if (CHECKED) {
            WATCHING.values().forEach(watching -> watching.remove(epoll));
        }
    }

    /**
     * Checks a socket that is shut down and may wait long for its close: an epoll that watches it
     * would be ready all the time.
     *
     * @param fd the socket
     */
    public static void requireUnwatched(int fd) {
        if (CHECKED) {
            Set<Integer> watching = WATCHING.getOrDefault(fd, Set.of());
            if (!watching.isEmpty()) {
                violated(
                        "watched socket handed to a closing thread: fd="
                                + fd
                                + ", epollFds="
                                + watching
                                + ", thread="
                                + Thread.currentThread().getName()
                                + ", expected=no epoll");
            }
        }
    }

    private static void violated(String message) {
        IllegalStateException violation = new IllegalStateException(message);
        VIOLATIONS.add(violation);
        throw violation;
    }
}

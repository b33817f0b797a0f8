package io.softdpu.testkit;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;

/**
 * An eventfd in the place of an epoll, under the same number: each epoll_ctl fails with EINVAL, as
 * it would with ENOSPC or ENOMEM in a kernel without further watches for this user. Closing puts
 * the epoll back with all that it watches. On the thread that waits on the epoll.
 */
public final class ReplacedEpoll implements AutoCloseable {
    private static final MethodHandle DUP = function("dup", JAVA_INT);
    private static final MethodHandle DUP3 = function("dup3", JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle EVENTFD = function("eventfd", JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = function("close", JAVA_INT);
    private static final int O_CLOEXEC = 0x8_0000;

    private final int place;
    private final int saved;

    /**
     * Replaces it.
     *
     * @param epoll the epoll's descriptor
     */
    public ReplacedEpoll(int epoll) {
        place = epoll;
        try {
            saved = required("dup", (int) DUP.invokeExact(epoll));
            int other = required("eventfd", (int) EVENTFD.invokeExact(0, O_CLOEXEC));
            put(other, place);
        } catch (Throwable e) {
            throw new AssertionError("epoll not replaced: descriptor=" + epoll, e);
        }
    }

    @Override
    public void close() {
        try {
            put(saved, place);
        } catch (Throwable e) {
            throw new AssertionError("epoll not put back: descriptor=" + place, e);
        }
    }

    private static void put(int descriptor, int place) throws Throwable {
        required("dup3", (int) DUP3.invokeExact(descriptor, place, O_CLOEXEC));
        required("close", (int) CLOSE.invokeExact(descriptor));
    }

    private static int required(String call, int result) {
        if (result < 0) {
            throw new AssertionError(call + " failed: result=" + result);
        }
        return result;
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(JAVA_INT, arguments));
    }
}

package io.softdpu.fabric;

import io.softdpu.linux.EventFd;
import io.softdpu.linux.FileDescriptors;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Puts an eventfd in the place of a bus's epoll, under the same number: each epoll_ctl fails with
 * EINVAL, as it would with ENOSPC or ENOMEM in a kernel that lets this user watch nothing more.
 * Closing puts the epoll back with all that it watches. On the bus thread, within one turn.
 */
final class ReplacedEpoll implements AutoCloseable {
    private static final MethodHandle DUP3 =
            Linker.nativeLinker()
                    .downcallHandle(
                            Linker.nativeLinker().defaultLookup().find("dup3").orElseThrow(),
                            FunctionDescriptor.of(
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT,
                                    ValueLayout.JAVA_INT));
    private static final int O_CLOEXEC = 0x8_0000;

    private final int place;
    private final int saved;

    ReplacedEpoll(BusLoop loop) {
        place = loop.epollDescriptor();
        saved = FileDescriptors.duplicate(place);
        int other = EventFd.create();
        put(other, place);
        FileDescriptors.close(other);
    }

    @Override
    public void close() {
        put(saved, place);
        FileDescriptors.close(saved);
    }

    private static void put(int descriptor, int place) {
        try {
            if ((int) DUP3.invokeExact(descriptor, place, O_CLOEXEC) != place) {
                throw new AssertionError("dup3 failed: from=" + descriptor + ", to=" + place);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}

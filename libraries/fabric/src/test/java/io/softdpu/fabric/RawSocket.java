package io.softdpu.fabric;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Bindings to system calls that only attackers need, and the product does not bind. */
final class RawSocket {
    static final int F_SETFL = 4;
    static final int F_SETOWN = 8;
    static final int F_SETSIG = 10;

    private static final int MSG_PEEK = 0x2;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle SEND = transfer("send");
    private static final MethodHandle RECV = transfer("recv");
    private static final MethodHandle FCNTL =
            LINKER.downcallHandle(
                    LINKER.defaultLookup().find("fcntl").orElseThrow(),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_LONG),
                    Linker.Option.firstVariadicArg(2));

    private static final MethodHandle FALLOCATE =
            LINKER.downcallHandle(
                    LINKER.defaultLookup().find("fallocate").orElseThrow(),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG));
    private static final int FALLOC_FL_KEEP_SIZE = 1;

    private RawSocket() {}

    /** Gives a file blocks beyond its end, which stays where it is; 0 or -1. */
    static int allocateBeyondTheEnd(int descriptor, long offsetBytes, long sizeBytes) {
        try {
            return (int)
                    FALLOCATE.invokeExact(descriptor, FALLOC_FL_KEEP_SIZE, offsetBytes, sizeBytes);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Sends a message of no bytes; 0 or -1. */
    static int sendEmpty(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment nothing = arena.allocate(1);
            return (int) (long) SEND.invokeExact(socket, nothing, 0L, MSG_DONTWAIT | MSG_NOSIGNAL);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Bytes of the next message, which stays where it is; 0 at the end, -1 where none is there. */
    static int peek(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment some = arena.allocate(64);
            return (int) (long) RECV.invokeExact(socket, some, 64L, MSG_DONTWAIT | MSG_PEEK);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle transfer(String name) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().find(name).orElseThrow(),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT));
    }

    /** Changes something of an open file; below 0 where the kernel refuses. */
    static int fcntl(int descriptor, int command, long argument) {
        try {
            return (int) FCNTL.invokeExact(descriptor, command, argument);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}

package io.softdpu.linux.event;

import io.softdpu.linux.FileDescriptors;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** A pipe of pipe2(2), with both of its ends in this process. */
final class Pipe implements AutoCloseable {
    private static final int O_NONBLOCK_CLOEXEC = 0x8_0800;
    private static final MethodHandle PIPE2 =
            bind(
                    "pipe2",
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private static final FunctionDescriptor TRANSFER =
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_INT,
                    ValueLayout.ADDRESS,
                    ValueLayout.JAVA_LONG);
    private static final MethodHandle READ = bind("read", TRANSFER);
    private static final MethodHandle WRITE = bind("write", TRANSFER);

    private final MemorySegment one = Arena.ofAuto().allocate(1);
    private final int[] ends = new int[2];

    Pipe() {
        MemorySegment pair = Arena.ofAuto().allocate(8, 4);
        try {
            if ((int) PIPE2.invokeExact(pair, O_NONBLOCK_CLOEXEC) != 0) {
                throw new AssertionError("pipe2 failed");
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        ends[0] = pair.get(ValueLayout.JAVA_INT, 0);
        ends[1] = pair.get(ValueLayout.JAVA_INT, 4);
    }

    private static MethodHandle bind(String name, FunctionDescriptor descriptor) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), descriptor);
    }

    int readEnd() {
        return ends[0];
    }

    void write() {
        transfer(WRITE, ends[1]);
    }

    void read() {
        transfer(READ, ends[0]);
    }

    private void transfer(MethodHandle call, int end) {
        try {
            if ((long) call.invokeExact(end, one, 1L) != 1) {
                throw new AssertionError("pipe did not take or give a byte: fd=" + end);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    void closeReadEnd() {
        close(0);
    }

    void closeWriteEnd() {
        close(1);
    }

    private void close(int end) {
        if (ends[end] >= 0) {
            FileDescriptors.close(ends[end]);
            ends[end] = -1;
        }
    }

    @Override
    public void close() {
        close(0);
        close(1);
    }
}

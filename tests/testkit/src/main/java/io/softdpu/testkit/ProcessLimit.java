package io.softdpu.testkit;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * Limit of this process that can be lowered so that only a number of acquisitions succeed, and
 * raised again: for a program that a test starts. Belongs to one thread.
 */
@SuppressWarnings("ImmutableEnumChecker") // each constant keeps what it has taken
public enum ProcessLimit {
    /** RLIMIT_NOFILE: of so many descriptors. */
    DESCRIPTORS(7, 1) {
        private static final int HIGHEST = 512;

        private final int[] fillers = new int[HIGHEST];
        private int filled;

        @Override
        public void lower(long free) throws Throwable {
            set(HIGHEST);
            int made = (int) DUP.invokeExact(1);
            while (made >= 0) {
                fillers[filled++] = made;
                made = (int) DUP.invokeExact(1);
            }
            for (long i = 0; i < free && filled > 0; i++) {
                close(fillers[--filled]);
            }
        }

        @Override
        public void raise() throws Throwable {
            while (filled > 0) {
                close(fillers[--filled]);
            }
            set(hard);
        }
    },

    /** RLIMIT_AS: of so many pieces of 64 KiB; a thread needs a stack, too. */
    ADDRESS_SPACE(9, 64 << 10) {
        // More than have ever ended here.
        private static final int MOST_BALLAST = 200;

        private final List<Thread> ballast = new ArrayList<>();
        private CountDownLatch raised = new CountDownLatch(1);

        @Override
        public void lower(long free) throws Throwable {
            raised = new CountDownLatch(1);
            CountDownLatch until = raised;
            // The C library keeps the stacks of threads that have ended for the next ones: they are
            // used up when a thread takes new address space.
            long before;
            do {
                before = addressSpaceBytes();
                ballast.add(Thread.ofPlatform().start(() -> awaitUninterrupted(until)));
            } while (addressSpaceBytes() <= before && ballast.size() < MOST_BALLAST);
            set(addressSpaceBytes() + free * stepBytes);
        }

        @Override
        public void raise() throws Throwable {
            set(hard);
            raised.countDown();
            for (Thread thread : ballast) {
                thread.join();
            }
            ballast.clear();
        }
    };

    private static final MethodHandle DUP = bind("dup", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CLOSE =
            bind("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle SETRLIMIT =
            bind("setrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

    private final int resource;
    final int stepBytes;
    final long hard;
    private final MemorySegment both = Arena.global().allocate(JAVA_LONG, 2);

    ProcessLimit(int resource, int stepBytes) {
        this.resource = resource;
        this.stepBytes = stepBytes;
        try {
            if ((int)
                            bind("getrlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS))
                                    .invokeExact(resource, both)
                    != 0) {
                throw new AssertionError("getrlimit failed: resource=" + resource);
            }
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
        this.hard = both.getAtIndex(JAVA_LONG, 1);
    }

    /**
     * Does once what a process without descriptors cannot do: loads the classes of softdpu that are
     * in folders, of which each is read with a descriptor, and writes a first line of the log,
     * which reads the time zones.
     */
    public static void prepare() throws IOException {
        for (Path root : ClassPath.current().entries()) {
            if (Files.isDirectory(root)) { // a jar is open already
                try (Stream<Path> files = Files.walk(root)) {
                    files.map(file -> root.relativize(file).toString())
                            .filter(file ->
                                    file.startsWith("io/softdpu/") && file.endsWith(".class"))
                            .filter(file -> !file.contains("Test") && !file.contains("Contract"))
                            .map(file -> file.replace('/', '.').replaceFirst("\\.class$", ""))
                            .forEach(ProcessLimit::load);
                }
            }
        }
        System.getLogger(ProcessLimit.class.getName())
                .log(System.Logger.Level.WARNING, "the first line");
    }

    private static void load(String name) {
        try {
            Class.forName(name, false, ProcessLimit.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            throw new AssertionError(name, e);
        }
    }

    /**
     * Lowers the limit.
     *
     * @param free number of acquisitions that still succeed: of descriptors, or of 64 KiB
     */
    public abstract void lower(long free) throws Throwable;

    /** Raises the limit to the hard limit. */
    public abstract void raise() throws Throwable;

    final void set(long soft) throws Throwable {
        both.setAtIndex(JAVA_LONG, 0, soft);
        both.setAtIndex(JAVA_LONG, 1, hard);
        if ((int) SETRLIMIT.invokeExact(resource, both) != 0) {
            throw new AssertionError("setrlimit failed: resource=" + this + ", soft=" + soft);
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts it", e);
        }
    }

    private static void close(int descriptor) throws Throwable {
        if ((int) CLOSE.invokeExact(descriptor) != 0) {
            throw new AssertionError("close failed: fd=" + descriptor);
        }
    }

    private static long addressSpaceBytes() {
        try {
            String pages = Files.readString(Path.of("/proc/self/statm")).split(" ")[0];
            return Long.parseLong(pages) * 4096;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle bind(String name, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().find(name).orElseThrow(), type);
    }
}

package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Page faults of threads of this process, as the kernel counts them: by an access or by madvise. A
 * thread that maps and populates memory has a number of them that depends on the size of the
 * memory, and on neither the processor nor what else it has to do. Any thread.
 */
public final class PageFaults {
    // Of proc_pid_stat(5), counted from the state, which follows the name in parentheses.
    private static final int MINOR_FIELD = 7;
    private static final int MAJOR_FIELD = 9;

    // Of getrusage(2): its struct has two times and fourteen counts.
    private static final int RUSAGE_THREAD = 1;
    private static final long RUSAGE_BYTES = 144;
    private static final long MINOR_OFFSET = 64;
    private static final long MAJOR_OFFSET = 72;

    private static final MethodHandle GETRUSAGE =
            SystemCalls.bind(
                    "getrusage", ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);

    private PageFaults() {}

    /**
     * Those of the calling thread.
     *
     * @return number since it began
     */
    public static long ofThisThread() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment use = arena.allocate(RUSAGE_BYTES, Long.BYTES);
            SystemCalls.checked(
                    "getrusage", state -> (int) GETRUSAGE.invokeExact(state, RUSAGE_THREAD, use));
            return use.get(ValueLayout.JAVA_LONG, MINOR_OFFSET)
                    + use.get(ValueLayout.JAVA_LONG, MAJOR_OFFSET);
        }
    }

    /**
     * Those of all threads with a name.
     *
     * @param name of at most 15 characters, as many as Linux keeps
     * @return number since they began; threads that have ended do not count
     * @throws AssertionError if there is none
     */
    public static long ofThreads(String name) {
        long sum = 0;
        boolean found = false;
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : tasks.toList()) {
                if (ProcessView.text(task.resolve("comm")).strip().equals(name)) {
                    String stat = ProcessView.text(task.resolve("stat"));
                    if (!stat.isEmpty()) { // else it has ended meanwhile
                        sum += faults(stat);
                        found = true;
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (!found) {
            throw new AssertionError("no such thread: name=" + name);
        }
        return sum;
    }

    private static long faults(String stat) {
        // The name may hold any character.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[MINOR_FIELD]) + Long.parseLong(fields[MAJOR_FIELD]);
    }
}

package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A ring makes one system call for all requests of a pass, and none for their completions. */
@StartsProcesses
final class UringCallsTest {
    private static final int PASSES = 10;

    @Test
    void shouldEnterTheKernelOncePerPass(Processes processes) {
        ChildProcess program =
                processes.start(
                        JavaCommand.ofClass(Program.class)
                                .withJvmOptions("-D" + CountedCalls.PROPERTY + "=true"));

        assertThat(program.awaitExit()).as("%s", program.errorLines()).isZero();
        assumeFalse(program.outputLines().contains("no ring"), "io_uring is forbidden here");
        assertThat(program.outputLines()).containsExactly("{io_uring_enter=" + PASSES + "}");
    }

    /** Prints the calls of passes that fill a ring and poll it. */
    static final class Program {
        private static final int ENTRIES = 8;

        private Program() {}

        public static void main(String[] args) {
            Uring ring;
            try {
                ring = new Uring(ENTRIES, ENTRIES);
            } catch (LinuxException e) {
                System.out.println("no ring");
                return;
            }
            int file = Memfd.create("test");
            FileDescriptors.truncate(file, 1 << 12);
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(1 << 12);
                Map<String, Long> before = CountedCalls.ofThisThread();
                for (int pass = 0; pass < PASSES; pass++) {
                    while (!ring.isFull()) {
                        ring.read(file, memory, 0, 1 << 12, 0, pass);
                    }
                    ring.submit();
                    ring.submit();
                    while (ring.pending() > 0) {
                        if (!ring.next()) {
                            Thread.onSpinWait();
                        }
                    }
                }
                Map<String, Long> calls = new TreeMap<>(CountedCalls.ofThisThread());
                before.forEach((name, count) -> calls.merge(name, -count, Long::sum));
                calls.values().removeIf(count -> count == 0);
                System.out.println(calls);
            } finally {
                FileDescriptors.close(file);
                ring.close();
            }
        }
    }
}

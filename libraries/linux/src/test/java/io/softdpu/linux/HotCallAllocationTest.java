package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * The calls of the data path allocate nothing on the heap, once they are compiled. In a process of
 * its own, which waits for its compilations: a call that captures errno makes a segment, which the
 * optimizing compiler removes only if the parts of the call are compiled in the usual order.
 */
final class HotCallAllocationTest {
    @Test
    void shouldMeasureWhatIsAllocated() {
        Object[] kept = new Object[1];

        assertThat(AllocationMeter.bytesPerOperation(Duration.ZERO, () -> kept[0] = new byte[16]))
                .isGreaterThanOrEqualTo(16);
    }

    @Test
    @Smoke
    void shouldNotAllocateOnceCompiled(Processes processes) {
        ChildProcess probe =
                processes.start(
                        JavaCommand.ofClass(HotCallAllocationProbe.class)
                                .withJvmOptions("-XX:TieredStopAtLevel=4", "-Xbatch"));

        assertThat(probe.awaitExit()).as("%s", probe.errorLines()).isZero();
        // Where io_uring is forbidden there is no ring to measure.
        assertThat(probe.outputLines())
                .map(line ->
                        line.replaceFirst(
                                "^no ring: io_uring_setup$", "requests of a ring: bytes=0"))
                .containsExactly(
                        "ring and drain: bytes=0",
                        "ring and drain with peek: bytes=0",
                        "await: bytes=0",
                        "await with a timer descriptor: bytes=0",
                        "signal and drain: bytes=0",
                        "copy: bytes=0",
                        "send and receive: bytes=0",
                        "write and read: bytes=0",
                        "write durably and sync: bytes=0",
                        "requests of a ring: bytes=0");
    }
}

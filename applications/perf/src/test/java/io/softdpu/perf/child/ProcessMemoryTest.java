package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.SharedMemory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the memory of a process as the kernel accounts it. */
class ProcessMemoryTest {
    private static final long MEMORY_BYTES = 256L << 20;

    @Test
    void shouldReadTheProportionalSetSize() {
        assertThat(
                        ProcessMemory.proportionalBytes(
                                List.of(
                                        "55d0-7ffd ---p 00000000 00:00 0 [rollup]",
                                        "Rss:              131072 kB",
                                        "Pss:               96000 kB",
                                        "Pss_Dirty:          1000 kB")))
                .isEqualTo(96_000L << 10);
        assertThatThrownBy(() -> ProcessMemory.proportionalBytes(List.of("Rss: 1 kB")))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.OPERATING_SYSTEM))
                .hasMessageContaining("file=/proc/self/smaps_rollup");
    }

    @Test
    void shouldSumTheMappingsOfAName() {
        List<String> maps =
                List.of(
                        "7f0000000000-7f0000002000 rw-s 00000000 00:01 77 /memfd:ring (deleted)",
                        "7f0000100000-7f0000101000 rw-s 00000000 00:01 78 /memfd:ring (deleted)",
                        "7f0000200000-7f0000203000 rw-s 00000000 00:01 79 /memfd:ring-b (deleted)",
                        "7f0000300000-7f0000304000 r-xp 00000000 fe:00 5 /usr/lib/libc.so.6",
                        "7f0000400000-7f0000404000 rw-p 00000000 00:00 0");

        assertThat(ProcessMemory.mappedBytes(maps, "ring")).isEqualTo(0x3000);
        assertThat(ProcessMemory.mappedBytes(maps, "none")).isZero();
    }

    @Test
    void shouldFindTheMemoryOfThisProcess() {
        long before = ProcessMemory.proportionalBytes();
        long mappedBefore = ProcessMemory.mappedBytes("softdpu");
        try (SharedMemory memory = SharedMemory.allocate(MEMORY_BYTES)) {
            assertThat(ProcessMemory.proportionalBytes() - before)
                    .as("populated, beside what the JVM does meanwhile")
                    .isBetween(MEMORY_BYTES / 2, MEMORY_BYTES * 2);
            assertThat(ProcessMemory.mappedBytes("softdpu") - mappedBefore)
                    .isGreaterThanOrEqualTo(memory.sizeBytes());
        }
    }
}

package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Messages of up to 2 GiB between two processes. It claims no clause, since it is skipped where
 * memory is short.
 */
@StartsProcesses
class LargeMessageTest {
    private static final long GIBIBYTE = 1L << 30;

    @TempDir Path folder;

    /**
     * Prints the round trips of the small messages meanwhile, with those of the connection's own
     * path.
     */
    @Test
    @Tag(Soak.TAG)
    void shouldCarryLargeMessagesBothWaysBesideSmallOnes(Processes processes, SeededRandom random) {
        long begin = System.nanoTime();
        long sizeBytes = Soak.isLong() ? GIBIBYTE * 3 / 2 : (32 << 20) + 1;

        LargeMessagePeer.Result result = transfer(processes, sizeBytes, true);

        Soak.report(
                "large-messages",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "lengthBytes=%d, fast_%s, control_%s",
                        sizeBytes, describe(result.smallNanos()), describe(result.controlNanos())));
        if (Soak.isLong()) { // 32 MiB may pass within one time slice of a busy machine
            assertThat(result.smallNanos()).hasSizeGreaterThan(1);
            assertThat(result.controlNanos()).hasSizeGreaterThan(1);
        }
    }

    /** Too much memory for every build. */
    @ParameterizedTest
    @ValueSource(longs = {GIBIBYTE + 1, ComchCapabilities.MAX_BUFFER_BYTES})
    @Tag(Soak.TAG)
    void shouldCarryUpToTheMaximum(long sizeBytes, Processes processes) {
        Assumptions.assumeTrue(Soak.isLong(), "messages of up to 2 GiB are sent in a soak");

        transfer(processes, sizeBytes, false);
    }

    private LargeMessagePeer.Result transfer(
            Processes processes, long sizeBytes, boolean bothWays) {
        assumeMemory((bothWays ? 4 : 2) * sizeBytes);
        ChildProcess server = start(processes, sizeBytes, bothWays);
        LargeMessagePeer.Result result;
        try (LargeMessagePeer client =
                new LargeMessagePeer(Side.HOST, folder, sizeBytes, bothWays)) {
            result = client.transfer();
            assertThat(result.sent()).isEqualTo(Status.SUCCESS);
            assertThat(result.received()).isEqualTo(bothWays ? Status.SUCCESS : null);
            assertThat(result.equal()).isTrue();
            server.awaitLine("received status=SUCCESS, lengthBytes=" + sizeBytes + ", equal=true");
        }
        assertThat(server.awaitExit()).isZero();
        return result;
    }

    private ChildProcess start(Processes processes, long sizeBytes, boolean bothWays) {
        ChildProcess server =
                processes.start(
                        JavaCommand.ofClass(LargeMessagePeer.class)
                                .withArguments(
                                        folder.toString(),
                                        Long.toString(sizeBytes),
                                        Boolean.toString(bothWays)));
        server.awaitLine("ready");
        return server;
    }

    /** Skips the test unless there are as many bytes and 2 GiB for other programs. */
    private static void assumeMemory(long bytes) {
        long freeBytes = MemoryLimits.freeBytes();
        Assumptions.assumeTrue(
                freeBytes >= bytes + 2 * GIBIBYTE,
                () -> Text.format("freeBytes=%d, needed=%d", freeBytes, bytes + 2 * GIBIBYTE));
    }

    /** Count, 99th percentile and maximum. */
    private static String describe(List<Long> nanos) {
        if (nanos.isEmpty()) {
            return "count=0";
        }
        List<Long> sorted = nanos.stream().sorted().toList();
        return Text.format(
                "count=%d, p99_us=%d, max_us=%d",
                sorted.size(),
                sorted.get((int) (sorted.size() * 0.99)) / 1000,
                sorted.getLast() / 1000);
    }
}

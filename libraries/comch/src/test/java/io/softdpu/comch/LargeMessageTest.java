package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.linux.MemoryLimits;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A message of more than a GiB between two processes. It claims no clause, since it is skipped
 * where memory is short.
 */
@StartsProcesses
class LargeMessageTest {
    /** The memory of both sides, and as much again for other programs. */
    private static final long NEEDED_BYTES = 4L << 30;

    @TempDir Path folder;

    @Test
    void shouldCarryOneByteMoreThanAGibibyteBetweenProcesses(Processes processes) {
        long freeBytes = MemoryLimits.freeBytes();
        Assumptions.assumeTrue(
                freeBytes >= NEEDED_BYTES,
                () -> "freeBytes=%d, needed=%d".formatted(freeBytes, NEEDED_BYTES));
        ChildProcess server =
                processes.start(
                        JavaCommand.ofClass(LargeMessagePeer.class)
                                .withArguments(folder.toString()));
        server.awaitLine("ready", LargeMessagePeer.PATIENCE);
        try (LargeMessagePeer client = new LargeMessagePeer(Side.HOST, folder)) {
            assertThat(client.send()).isEqualTo(Status.SUCCESS);
            server.awaitLine(
                    "received status=SUCCESS, lengthBytes=1073741825, equal=true",
                    LargeMessagePeer.PATIENCE);
        }
        assertThat(server.awaitExit(LargeMessagePeer.PATIENCE)).isZero();
    }
}

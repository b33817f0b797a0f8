package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.testkit.HostileText;
import io.softdpu.testkit.Patience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Text of other processes in exceptions of the bus. */
class ForeignTextTest {
    private static final int FULL = 24;

    @TempDir Path folder;

    @Test
    void shouldShowTheReasonOfARefusalEscapedAndCut() {
        // A frame carries 1,024 bytes of it.
        String hostile = HostileText.of(1000);
        SharedSegment inbound = SharedSegment.allocate("test", 4096);
        try (Bus bus = open(folder, "here");
                Endpoint _ = bus.listen("door", client -> client.refuse(FULL, hostile))) {
            CompletionException failure =
                    catchThrowableOfType(
                            CompletionException.class,
                            () ->
                                    bus.connect("door", new byte[1], inbound, Patience.NANOS)
                                            .future()
                                            .join());

            assertThat(failure.getCause())
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            refused -> {
                                assertThat(refused.refusalCode()).isEqualTo(FULL);
                                HostileText.requireHarmless(refused.getMessage());
                                assertThat(refused.getMessage()).hasSizeLessThanOrEqualTo(256);
                            });
        } finally {
            inbound.release();
        }
    }

    @Test
    void shouldShowTheOtherTopologysNameEscapedAndCut() throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Path topology = folder.resolve("topology");
        Files.writeString(topology, HostileText.of(HostileText.LONG));
        int other = FileDescriptors.open(topology.toString(), FileDescriptors.O_RDONLY, 0);
        try {
            assertThat(FileDescriptors.tryLockShared(other)).isTrue();

            FabricException failure =
                    catchThrowableOfType(FabricException.class, () -> open(folder, "here").close());

            assertThat(failure.kind()).isEqualTo(FabricException.Kind.CONFLICT);
            HostileText.requireHarmless(failure.getMessage());
        } finally {
            FileDescriptors.close(other);
        }
    }

    /** No component of a path may be longer than 255 bytes. */
    @Test
    void shouldShowAPathThatTheUserChoseEscapedAndWhole() throws Exception {
        Path chosen = folder.resolve(HostileText.of(200).replace('\0', 'x'));
        Path whole = chosen.resolve("b".repeat(200));
        Files.createDirectories(whole);
        Files.setPosixFilePermissions(whole, PosixFilePermissions.fromString("rwxrwxrwx"));

        FabricException failure =
                catchThrowableOfType(FabricException.class, () -> open(whole, "here").close());

        assertThat(failure.kind()).isEqualTo(FabricException.Kind.NOT_PERMITTED);
        HostileText.requireOneLine(failure.getMessage());
        assertThat(failure.getMessage()).contains("b".repeat(200));
    }

    private static Bus open(Path folder, String topologyName) {
        return Bus.open(
                new Bus.Config(
                        folder,
                        new byte[32],
                        topologyName,
                        Patience.NANOS,
                        1 << 20,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }
}

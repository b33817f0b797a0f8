package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.IoSize;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.GrowthCheck;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Repeated sessions of the three roles, on the same machines. */
class SessionsTest {
    private static final Duration SHORT_TIMEOUT = Duration.ofMillis(50);
    private static final int VOLUME_BYTES = 1 << 16;
    private static final int ODD_ENDS = 4;

    /** Each kind of session twice. */
    private static final int WARM_UP = 2 * 4 * ODD_ENDS;

    @TempDir private Path folder;

    @Test
    @Tag(Soak.TAG)
    void shouldHoldNoMoreAfterManySessionsThanAfterAFew(SeededRandom random) throws Exception {
        long start = System.nanoTime();
        try (Pipeline pipeline = new Pipeline(folder)) {
            String findings =
                    GrowthCheck.over(
                            WARM_UP,
                            Soak.count(50, 80, 10_000),
                            number -> {
                                // Each fourth session does not end as it should.
                                if (number % 4 == 3) {
                                    // Each kind is there before anything is counted.
                                    int end =
                                            number < WARM_UP
                                                    ? number / 4 % ODD_ENDS
                                                    : random.nextInt(ODD_ENDS);
                                    oddSession(pipeline, end);
                                } else {
                                    wholeSession(pipeline);
                                }
                                pipeline.endSession();
                            });

            Soak.report(
                    "sessions-pipeline",
                    random.seed(),
                    Duration.ofNanos(System.nanoTime() - start),
                    findings);
        }
    }

    /** Init, start, each block of the volume read and verified, stop, shutdown. */
    private static void wholeSession(Pipeline pipeline) {
        StorageInitiator initiator = pipeline.start(VOLUME_BYTES, readAll());
        initiator.run();
        assertThat(initiator.report().status()).isEqualTo(Status.SUCCESS);
        assertThat(initiator.initiatorReport().phases().getFirst().bytesVerified())
                .isEqualTo(VOLUME_BYTES);
        assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
        assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
    }

    private static void oddSession(Pipeline pipeline, int end) {
        switch (end) {
            case 0 -> { // a target without a client
                pipeline.startTarget(BlockDevice.open("memory:" + VOLUME_BYTES, 4096));
                pipeline.target().close();
                assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitTarget))
                        .isNotNull();
            }
            case 1 -> { // a service that is ended while it waits for its client
                int port =
                        pipeline.startTarget(BlockDevice.open("memory:" + VOLUME_BYTES, 4096))
                                .port();
                pipeline.startService(port).close();
                assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitService))
                        .isNotNull();
                assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitTarget))
                        .isNotNull();
            }
            case 2 -> { // an initiator that finds no service
                assertThat(catchThrowableOfType(DpuException.class, hurried(pipeline)::run))
                        .isNotNull();
            }
            default -> { // a target that goes when the service has come
                int port =
                        pipeline.startTarget(BlockDevice.open("memory:" + VOLUME_BYTES, 4096))
                                .port();
                pipeline.startService(port);
                pipeline.target().close();
                assertThat(catchThrowableOfType(DpuException.class, hurried(pipeline)::run))
                        .isNotNull();
                assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitService))
                        .isNotNull();
            }
        }
    }

    /** An initiator with a short connect timeout, for a service that does not run. */
    private static StorageInitiator hurried(Pipeline pipeline) {
        return pipeline.openInitiator(readAll(), options -> options.controlTimeout(SHORT_TIMEOUT));
    }

    private static Workload readAll() {
        return new Workload(
                List.of(
                        Phase.read("read all")
                                .ioSize(IoSize.bytes(8192))
                                .transactions(4)
                                .fill(Content.zeros())
                                .expect(Content.pattern(Content.VOLUME_PATTERN_SEED))
                                .build()));
    }
}

package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.initiator.DataMismatchException;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.IoSize;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The three roles in one JVM, with volumes that are not memory of the target. */
class StagedPipelineTest {
    private static final int VOLUME_BYTES = 4 << 20;
    private static final int PIECE_BYTES = 1 << 20;

    @TempDir private Path folder;

    /** Each byte is copied by RDMA, and once more where it is copied to or from its place. */
    @ParameterizedTest
    @CsvSource({
        "fault:seed=1:memory:4MiB, 2",
        "file:FOLDER/v?create=4MiB, 2",
        "file:FOLDER/v?create=4MiB&threads=2&sync, 2",
        "file:FOLDER/v?create=4MiB&direct, 1"
    })
    void shouldMoveEachByteOnceBetweenTheMemories(String uri, int copies) {
        Content written = Content.pattern(12);
        List<Phase> phases =
                List.of(
                        Phase.write("write short")
                                .ioSize(IoSize.bytes(20_480))
                                .transactions(32)
                                .fill(written)
                                .build(),
                        Phase.read("read long")
                                .ioSize(IoSize.bytes(3 * PIECE_BYTES + 4096))
                                .transactions(2)
                                .fill(Content.zeros())
                                .expect(written)
                                .build(),
                        Phase.write("write long")
                                .ioSize(IoSize.bytes(PIECE_BYTES + 8192))
                                .transactions(8)
                                .fill(Content.pattern(13))
                                .build(),
                        Phase.read("read short")
                                .transactions(32)
                                .fill(Content.zeros())
                                .expect(Content.pattern(13))
                                .build());
        try (Pipeline pipeline = new Pipeline(folder.resolve("fabric"))) {
            // Room for some of the pieces that are under way.
            StorageInitiator initiator =
                    start(pipeline.stagingBytes(2 * PIECE_BYTES), open(uri), phases);

            initiator.run();

            assertThat(initiator.initiatorReport().bytesVerified()).isEqualTo(2L * VOLUME_BYTES);
            SessionReport target = pipeline.awaitTarget();
            assertThat(target.status()).isEqualTo(Status.SUCCESS);
            assertThat(target.payloadBytes()).isEqualTo(4L * VOLUME_BYTES);
            assertThat(target.payloadBytesCopied()).isEqualTo(copies * target.payloadBytes());
            assertThat(target.errors()).isZero();
        }
    }

    @Test
    void shouldShareAVolumeInAFileBetweenCoresAndKeepIt() throws IOException {
        Content written = Content.pattern(14);
        Phase write = Phase.write("write all").transactions(8).fill(written).build();
        try (Pipeline pipeline = new Pipeline(folder.resolve("fabric")).cores(3, 3)) {
            start(pipeline, open("file:FOLDER/v?create=4MiB"), List.of(write)).run();

            assertThat(pipeline.awaitTarget().workers())
                    .allMatch(worker -> worker.operations() > 0);
        }
        byte[] expected = new byte[VOLUME_BYTES];
        written.fill(MemorySegment.ofArray(expected), 0);
        assertThat(folder.resolve("v")).hasBinaryContent(expected);
    }

    @Test
    void shouldReadZerosOfAVolumeWithoutBlocks() {
        Phase read =
                Phase.read("read all")
                        .transactions(8)
                        .fill(Content.pattern(1))
                        .expect(Content.zeros())
                        .build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, open("null:4MiB"), List.of(read));

            initiator.run();

            assertThat(initiator.initiatorReport().bytesVerified()).isEqualTo(VOLUME_BYTES);
            assertThat(pipeline.awaitTarget().payloadBytesCopied()).isEqualTo(VOLUME_BYTES);
        }
    }

    /** A request of several pieces, one of which fails at least at this rate. */
    @ParameterizedTest
    @CsvSource({"READ, IO_FAILED", "WRITE, FULL"})
    void shouldAnswerWithTheFailureOfTheVolumeAndGoOn(
            io.softdpu.storage.wire.IoType type, Status failed) {
        String operation = type.name().toLowerCase(java.util.Locale.ROOT);
        Phase.Builder some =
                switch (type) {
                    case READ -> Phase.read("some fail");
                    case WRITE, RESULT -> Phase.write("some fail");
                };
        Phase phase =
                some.ioSize(IoSize.bytes(2 * PIECE_BYTES))
                        .transactions(4)
                        .sequential()
                        .operations(60)
                        .continueOnError()
                        .build();
        String uri = "fault:seed=5,error=" + operation + "/" + failed + "/0.2:memory:4MiB";
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator =
                    start(pipeline.stagingBytes(3 * PIECE_BYTES), open(uri), List.of(phase));

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(failed);
            PhaseReport report = initiator.initiatorReport().phases().getFirst();
            assertThat(report.operations()).isEqualTo(60);
            assertThat(report.errors()).isBetween(5L, 45L);
            assertThat(report.payloadBytes()).isEqualTo((60 - report.errors()) * 2L * PIECE_BYTES);
            SessionReport target = pipeline.awaitTarget();
            assertThat(target.status()).isEqualTo(Status.SUCCESS);
            assertThat(target.errors()).isEqualTo(report.errors());
        }
    }

    /** After a failed sync the device refuses each write at its submission. */
    @Test
    void shouldAnswerEachWriteThatTheVolumeRefusesAtOnce() {
        Phase phase =
                Phase.write("all fail")
                        .transactions(32)
                        .sequential()
                        .operations(500)
                        .continueOnError()
                        .build();
        String uri =
                "fault:seed=1,error=write/IO_FAILED/0.05:file:" + folder + "/v?create=4MiB&sync";
        try (Pipeline pipeline = new Pipeline(folder.resolve("fabric"))) {
            StorageInitiator initiator = start(pipeline, open(uri), List.of(phase));

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.IO_FAILED);
            long errors = initiator.initiatorReport().phases().getFirst().errors();
            assertThat(errors).as("most are refused").isGreaterThan(400);
            assertThat(pipeline.awaitTarget().errors()).isEqualTo(errors);
        }
    }

    @Test
    void shouldNotWriteAVolumeThatIsReadOnly() throws IOException {
        byte[] content = new byte[VOLUME_BYTES];
        Path file = Files.write(folder.resolve("v"), content);
        List<Phase> phases =
                List.of(
                        Phase.read("read all")
                                .transactions(8)
                                .fill(Content.pattern(2))
                                .expect(Content.zeros())
                                .build(),
                        Phase.write("refused").fill(Content.pattern(3)).build());
        try (Pipeline pipeline = new Pipeline(folder.resolve("fabric"))) {
            StorageInitiator initiator = start(pipeline, open("file:FOLDER/v?readonly"), phases);

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.NOT_PERMITTED);
            assertThat(initiator.initiatorReport().bytesVerified()).isEqualTo(VOLUME_BYTES);
            assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
        }
        assertThat(file).hasBinaryContent(content);
    }

    @Test
    void shouldLetTheInitiatorFindAByteThatTheVolumeHasChanged() {
        Content written = Content.pattern(15);
        List<Phase> phases =
                List.of(
                        Phase.write("write all").transactions(8).fill(written).build(),
                        Phase.read("read back")
                                .transactions(8)
                                .fill(Content.zeros())
                                .expect(written)
                                .build());
        String uri = "fault:seed=7,corrupt=read/0.01:memory:4MiB";
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, open(uri), phases);

            DataMismatchException mismatch =
                    catchThrowableOfType(DataMismatchException.class, initiator::run);

            assertThat(mismatch.status()).isEqualTo(Status.IO_FAILED);
            assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldEndAllThreeWhenTheServiceIsAbortedInTheMiddleOfTheLoad() {
        CountDownLatch running = new CountDownLatch(2);
        Phase phase =
                Phase.write("long")
                        .ioSize(IoSize.bytes(PIECE_BYTES / 2))
                        .transactions(16)
                        .random(1)
                        .timeLimit(Patience.LIMIT)
                        .build();
        try (Pipeline pipeline = new Pipeline(folder.resolve("fabric"))) {
            pipeline.listener(
                    new InitiatorListener() {
                        @Override
                        public void phaseProgress(
                                Phase p, long ops, long bytes, java.time.Duration elapsed) {
                            if (ops > 0) {
                                running.countDown();
                            }
                        }
                    });
            StorageInitiator initiator =
                    start(
                            pipeline.stagingBytes(2 * PIECE_BYTES),
                            open("file:FOLDER/v?create=4MiB"),
                            List.of(phase));
            CompletableFuture<SessionReport> end = Pipeline.begin(initiator);
            Pipeline.await(running);

            pipeline.service().abort("User requested abort");

            for (var each : List.of(end, pipeline.serviceEnd(), pipeline.targetEnd())) {
                assertThat(catchThrowableOfType(DpuException.class, () -> Pipeline.await(each)))
                        .hasMessageContaining("User requested abort");
            }
        }
    }

    private StorageInitiator start(Pipeline pipeline, BlockDevice volume, List<Phase> phases) {
        pipeline.startService(pipeline.startTarget(volume).port());
        return pipeline.openInitiator(new Workload(phases));
    }

    private BlockDevice open(String uri) {
        try {
            return BlockDevice.open(uri.replace("FOLDER", folder.toString()));
        } catch (DpuException e) {
            // The folder for temporary files is on a file system without direct I/O.
            assumeTrue(e.status() != Status.NOT_SUPPORTED, e.getMessage());
            throw e;
        }
    }
}

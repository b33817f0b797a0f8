package io.softdpu.storage.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.storage.Pipeline;
import io.softdpu.storage.SessionReport;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.workload.IoRequest;
import io.softdpu.storage.workload.IoSize;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Await;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Order, number, and end of the requests to a volume that is staged. */
class StagedDataPathTest {
    private static final int PIECE = HandVolume.MAX_REQUEST_BYTES;
    private static final int VOLUME_BYTES = 32 * PIECE;

    @TempDir private Path folder;
    private String name;
    private HandVolume volume;

    @BeforeEach
    void prepare(TestInfo test) {
        name = test.getTestMethod().orElseThrow().getName();
        volume = HandVolume.prepare(name);
    }

    @Test
    void shouldReadAllPiecesOfARequestAtOnce() {
        volume.together = 6;

        run(16L * PIECE, Phase.read("one").ioSize(IoSize.bytes(6 * PIECE)).operations(1).build());

        assertThat(volume.offsets).hasSize(6);
        assertThat(volume.most).isEqualTo(6);
    }

    /**
     * Long and short requests by turns: behind a long one for which there is no room wait short
     * ones for which there is, and the volume ends the youngest first.
     */
    @Test
    void shouldGiveMemoryToRequestsInTheirOrder() {
        volume.together = 2;
        Phase phase =
                Phase.read("long and short")
                        .transactions(8)
                        .source(range -> longAndShort())
                        .perTransaction()
                        .ioSize(IoSize.bytes(PIECE))
                        .build();

        run(PIECE + 4L * 8192, phase);

        assertThat(volume.offsets).isSorted().hasSize(48);
    }

    private static RequestSource longAndShort() {
        return new RequestSource() {
            private int count;
            private long next;

            @Override
            public boolean next(int transaction, IoRequest request) {
                int size = count++ % 2 == 0 ? PIECE : 8192;
                request.set(IoType.READ, size, (long) transaction * PIECE, next);
                next += size;
                return count <= 48;
            }
        };
    }

    @Test
    void shouldServeManyShortRequestsAtOnce() {
        volume.together = 16;
        Phase phase = Phase.read("short").transactions(16).operations(64).build();

        run(2L * PIECE, phase);

        assertThat(volume.most).isEqualTo(16);
    }

    @Test
    void shouldAlignTheMemoryOfEachRequest() {
        run(PIECE, Phase.read("all").transactions(4).build());

        assertThat(volume.addresses)
                .hasSize(VOLUME_BYTES / 4096)
                .allMatch(address -> address % HandVolume.ALIGNMENT_BYTES == 0);
    }

    /**
     * A volume refuses what it knows to fail, and answers the request whose first piece that is.
     */
    @Test
    void shouldAnswerWithARefusal() {
        volume.refusal = Refusal.ready(Status.IO_FAILED, () -> "broken");
        Phase phase =
                Phase.read("refused")
                        .ioSize(IoSize.bytes(4 * PIECE))
                        .transactions(8)
                        .operations(100)
                        .sequential()
                        .continueOnError()
                        .build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, 2L * PIECE, phase);

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.IO_FAILED);
            assertThat(pipeline.awaitTarget().errors()).isEqualTo(100);
        }
    }

    @Test
    void shouldAnswerOnceWhereALaterPieceIsRefused() {
        volume.accepted = 1;
        volume.refusal = Refusal.ready(Status.IO_FAILED, () -> "broken");
        Phase phase =
                Phase.read("refused")
                        .ioSize(IoSize.bytes(4 * PIECE))
                        .operations(1)
                        .sequential()
                        .continueOnError()
                        .build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, PIECE, phase);

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.IO_FAILED);
            SessionReport target = pipeline.awaitTarget();
            assertThat(target.status()).isEqualTo(Status.SUCCESS);
            assertThat(target.errors()).isEqualTo(1);
        }
    }

    /** All pieces wait for a queue of the system, and more requests for their memory. */
    @Test
    void shouldAnswerWhatIsRefusedAfterAFullQueue() {
        volume.refusal = Refusal.ready(Status.AGAIN, () -> "full");
        Phase phase =
                Phase.read("refused")
                        .ioSize(IoSize.bytes(HandVolume.ALIGNMENT_BYTES))
                        .transactions(16)
                        .operations(32)
                        .sequential()
                        .continueOnError()
                        .build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, PIECE, phase);
            CompletableFuture<SessionReport> end = Pipeline.begin(initiator);
            TargetSession target = (TargetSession) pipeline.target();
            Await.until(
                    "requests have arrived",
                    () -> target.workers().sum(TargetWorker::requests) == 16);

            volume.refusal = Refusal.ready(Status.IO_FAILED, () -> "broken");
            volume.release();

            assertThat(catchThrowableOfType(DpuException.class, () -> Pipeline.await(end)))
                    .hasMessageContaining("result=IO_FAILED");
            assertThat(pipeline.awaitTarget().errors()).isEqualTo(32);
        }
    }

    /** The memory of requests that the kernel has must not be used for anything else. */
    @Test
    void shouldKeepTheMemoryUntilTheLastRequestHasLeftTheVolume() {
        volume.holding = true;
        Phase phase = Phase.read("held").ioSize(IoSize.bytes(PIECE)).transactions(4).build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, 2L * PIECE, phase);
            CompletableFuture<SessionReport> end = Pipeline.begin(initiator);
            Await.until("requests are held", () -> volume.offsets.size() == 2);

            pipeline.service().abort("User requested abort");
            assertThat(catchThrowableOfType(DpuException.class, () -> Pipeline.await(end)))
                    .hasMessageContaining("User requested abort");
            Await.until("the target stops", () -> volume.heldInStop);
            assertThat(pipeline.targetEnd()).isNotDone();

            volume.release();
            assertThat(catchThrowableOfType(DpuException.class, pipeline::awaitTarget))
                    .hasMessageContaining("User requested abort")
                    .hasNoSuppressedExceptions();
            assertThat(volume.offsets).hasSize(2);
        }
    }

    private void run(long stagingBytes, Phase phase) {
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = start(pipeline, stagingBytes, phase);

            initiator.run();

            assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
        }
    }

    private StorageInitiator start(Pipeline pipeline, long stagingBytes, Phase phase) {
        pipeline.stagingBytes(stagingBytes);
        pipeline.startService(pipeline.startTarget(HandVolume.open(name, VOLUME_BYTES)).port());
        return pipeline.openInitiator(new Workload(List.of(phase)));
    }
}

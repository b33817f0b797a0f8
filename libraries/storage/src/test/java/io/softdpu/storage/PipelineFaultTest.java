package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import io.softdpu.storage.initiator.DataMismatchException;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.workload.ExecutionStrategy;
import io.softdpu.storage.workload.IoRequest;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.RequestSource;
import io.softdpu.storage.workload.StrategySettings;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Faults in a session, and the failures that each role reports. */
class PipelineFaultTest {
    private static final int VOLUME_BYTES = 1 << 20;

    @TempDir private Path folder;

    /** Requests that the target has to reject. */
    enum Bad {
        STORAGE_OFFSET_BEHIND_THE_END(IoType.READ, 4096, 0, VOLUME_BYTES),
        STORAGE_OFFSET_NEGATIVE(IoType.WRITE, 4096, 0, -4096),
        STORAGE_OFFSET_OVERFLOWS(IoType.READ, 8192, 0, Long.MAX_VALUE & -4096),
        STORAGE_OFFSET_INSIDE_A_BLOCK(IoType.READ, 4096, 0, 512),
        REQUESTER_OFFSET_BEHIND_THE_END(IoType.READ, 4096, VOLUME_BYTES, 0),
        REQUESTER_OFFSET_CROSSES_THE_END(IoType.WRITE, 4096, VOLUME_BYTES - 4095, 0),
        REQUESTER_OFFSET_NEGATIVE(IoType.READ, 4096, -1, 0),
        SIZE_LARGER_THAN_THE_VOLUME(IoType.READ, VOLUME_BYTES + 4096, 0, 0),
        SIZE_HUGE(IoType.WRITE, 0xFFFF_F000, 0, 0),
        SIZE_ZERO(IoType.READ, 0, 0, 0),
        SIZE_NO_WHOLE_BLOCKS(IoType.READ, 4095, 0, 0),
        TYPE_NO_REQUEST(IoType.RESULT, 4096, 0, 0);

        final IoType type;
        final int size;
        final long requesterOffset;
        final long storageOffset;

        Bad(IoType type, int size, long requesterOffset, long storageOffset) {
            this.type = type;
            this.size = size;
            this.requesterOffset = requesterOffset;
            this.storageOffset = storageOffset;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseABadRequestAndGoOn(Bad bad) {
        List<Phase> phases =
                List.of(
                        Phase.read("bad among good")
                                .transactions(4)
                                .source(range -> eachTenth(bad))
                                .continueOnError()
                                .perTransaction()
                                .build());
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, new Workload(phases));

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
            assertThat(failure)
                    .hasMessageContaining("result=INVALID_VALUE")
                    .hasMessageContaining(
                            "storageOffsetBytes=" + Long.toUnsignedString(bad.storageOffset))
                    .hasMessageContaining("failedOperations=10");
            PhaseReport report = initiator.initiatorReport().phases().getFirst();
            assertThat(report.operations()).isEqualTo(100);
            assertThat(report.errors()).isEqualTo(10);
            assertThat(report.payloadBytes()).isEqualTo(90 * 4096);
            // To the other two it was a session like any other.
            assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
            assertThat(pipeline.awaitTarget().errors()).isEqualTo(10);
            assertThat(pipeline.targetReport().payloadBytesCopied()).isEqualTo(90 * 4096);
        }
    }

    /** A hundred requests, each tenth of them bad; the others read the first block. */
    private static RequestSource eachTenth(Bad bad) {
        return new RequestSource() {
            private int count;

            @Override
            public boolean next(int transaction, IoRequest request) {
                if (count == 100) {
                    return false;
                }
                if (count++ % 10 == 5) {
                    request.set(bad.type, bad.size, bad.requesterOffset, bad.storageOffset);
                } else {
                    request.set(IoType.READ, 4096, transaction * 4096L, 0);
                }
                return true;
            }
        };
    }

    @Test
    void shouldEndAPhaseAtItsFirstErrorUnlessToldOtherwise() {
        Phase phase =
                Phase.read("bad")
                        .source(range -> eachTenth(Bad.SIZE_ZERO))
                        .perTransaction()
                        .build();
        Phase never = Phase.read("never").build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator =
                    pipeline.start(VOLUME_BYTES, new Workload(List.of(phase, never)));

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
            assertThat(initiator.initiatorReport().phases()).hasSize(1);
            assertThat(initiator.initiatorReport().operations()).isEqualTo(6);
            assertThat(initiator.report().status()).isEqualTo(Status.INVALID_VALUE);
            assertThat(initiator.report().failure()).contains("result=INVALID_VALUE");
        }
    }

    @Test
    void shouldNameTheByteThatDiffersFromThePlainContent(SeededRandom random) throws Exception {
        byte[] bytes = new byte[VOLUME_BYTES];
        random.nextBytes(bytes);
        Path stored = Files.write(folder.resolve("stored"), bytes);
        int offset = 0x5_1234;
        byte expected = (byte) (bytes[offset] ^ 0x40);
        bytes[offset] = expected;
        Path plain = Files.write(folder.resolve("plain"), bytes);
        try (Pipeline pipeline = new Pipeline(folder.resolve("f"))) {
            pipeline.startService(
                    pipeline.startTarget(BlockDevice.open("copy:" + stored, 4096)).port());
            StorageInitiator initiator =
                    pipeline.openInitiator(
                            ExecutionStrategy.READ_ONLY_DATA_VALIDITY_TEST.workload(
                                    new StrategySettings(1, 16, 1, plain)));

            DataMismatchException mismatch =
                    catchThrowableOfType(DataMismatchException.class, initiator::run);

            assertThat(mismatch.status()).isEqualTo(Status.IO_FAILED);
            assertThat(mismatch.offset()).isEqualTo(offset);
            assertThat(mismatch)
                    .hasMessageContaining("offsetBytes=" + offset)
                    .hasMessageContaining(Text.format("expected=0x%02x", expected))
                    .hasMessageContaining(Text.format("actual=0x%02x", (byte) (expected ^ 0x40)));
            assertThat(mismatch.hexDump().lines())
                    .hasSize(12)
                    .startsWith("expected:")
                    .anyMatch(line -> line.startsWith(Text.format("%012x ", 0x5_1230)));
            // Ten of the twelve lines are bytes; those with the difference are not the same.
            List<String> lines = mismatch.hexDump().lines().toList();
            assertThat(lines.get(3)).isNotEqualTo(lines.get(9));
            assertThat(lines.get(2)).isEqualTo(lines.get(8));
            assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
            assertThat(pipeline.awaitTarget().status()).isEqualTo(Status.SUCCESS);
            assertThat(initiator.initiatorReport().bytesVerified()).isZero();
        }
    }

    @Test
    void shouldRefuseAPlainContentOfAnotherSize() throws Exception {
        Path plain = Files.write(folder.resolve("plain"), new byte[VOLUME_BYTES - 4096]);
        try (Pipeline pipeline = new Pipeline(folder.resolve("f"))) {
            StorageInitiator initiator =
                    pipeline.start(
                            VOLUME_BYTES,
                            ExecutionStrategy.READ_ONLY_DATA_VALIDITY_TEST.workload(
                                    new StrategySettings(1, 16, 1, plain)));

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
            assertThat(failure)
                    .hasMessageContaining("sizeBytes=1044480, expected=1048576")
                    .hasMessageContaining("plain");
            // The other two hear it in the same words.
            for (var end : List.of(pipeline.serviceEnd(), pipeline.targetEnd())) {
                assertThat(catchThrowableOfType(DpuException.class, () -> Pipeline.await(end)))
                        .hasMessageContaining("initiator ended the session: reason=content")
                        .hasMessageContaining("sizeBytes=1044480, expected=1048576");
            }
        }
    }

    @Test
    @Clause({"sto-061", "sto-062", "sto-071"})
    void shouldRefuseMoreCoresThanTheServiceHas() {
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 1)) {
            StorageInitiator initiator =
                    pipeline.start(
                            VOLUME_BYTES, new Workload(List.of(Phase.read("never").build())));

            DpuException failure = catchThrowableOfType(DpuException.class, initiator::run);

            assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
            assertThat(failure).hasMessageContaining("coreCount=2, expected=at most 1");
            assertStatus(pipeline::awaitService, Status.INVALID_VALUE);
            assertStatus(pipeline::awaitTarget, Status.INVALID_VALUE);
        }
    }

    @Test
    @Clause("sto-057")
    void shouldRejectASecondInitiatorAndFinishTheFirst() {
        CountDownLatch running = new CountDownLatch(1);
        Phase phase =
                Phase.read("long").transactions(4).random(1).timeLimit(Patience.LIMIT).build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            pipeline.listener(
                    new InitiatorListener() {
                        @Override
                        public void phaseStarted(Phase started) {
                            running.countDown();
                        }
                    });
            StorageInitiator first = pipeline.start(VOLUME_BYTES, new Workload(List.of(phase)));
            CompletableFuture<SessionReport> end = Pipeline.begin(first);
            Pipeline.await(running);

            StorageInitiator second = pipeline.openInitiator(new Workload(List.of(phase)));
            DpuException refusal = catchThrowableOfType(DpuException.class, second::run);

            assertThat(refusal.status()).isEqualTo(Status.FULL);
            assertThat(end).isNotDone();
            first.abort("User requested abort");
            assertStatus(() -> Pipeline.await(end), Status.CONNECTION_ABORTED);
            first.close();
        }
    }

    /** Role that fails under load. */
    enum Role {
        INITIATOR,
        SERVICE,
        TARGET
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"sto-046", "sto-081"})
    void shouldEndAllThreeWhenOneIsAbortedInTheMiddleOfTheLoad(Role aborted) {
        CountDownLatch running = new CountDownLatch(2);
        Phase phase =
                Phase.write("long").transactions(16).random(1).timeLimit(Patience.LIMIT).build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            pipeline.listener(
                    new InitiatorListener() {
                        @Override
                        public void phaseProgress(Phase p, long ops, long bytes, Duration elapsed) {
                            if (ops > 0) {
                                running.countDown();
                            }
                        }
                    });
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, new Workload(List.of(phase)));
            CompletableFuture<SessionReport> end = Pipeline.begin(initiator);
            Pipeline.await(running);

            StorageRole victim =
                    switch (aborted) {
                        case INITIATOR -> initiator;
                        case SERVICE -> pipeline.service();
                        case TARGET -> pipeline.target();
                    };
            victim.abort("User requested abort");

            for (Role role : Role.values()) {
                DpuException failure =
                        catchThrowableOfType(
                                DpuException.class,
                                () ->
                                        Pipeline.await(
                                                switch (role) {
                                                    case INITIATOR -> end;
                                                    case SERVICE -> pipeline.serviceEnd();
                                                    case TARGET -> pipeline.targetEnd();
                                                }));
                assertThat(failure.status()).as("%s", role).isEqualTo(Status.CONNECTION_ABORTED);
                assertThat(failure).hasMessageContaining("User requested abort");
                if (role != aborted) {
                    assertThat(failure)
                            .hasMessageContaining(
                                    victim.report().role() + " ended the session: reason=");
                }
            }
            assertThat(initiator.report().operations()).isPositive();
        }
    }

    static void assertStatus(
            org.assertj.core.api.ThrowableAssert.ThrowingCallable action, Status status) {
        assertThat(catchThrowableOfType(DpuException.class, action).status()).isEqualTo(status);
    }
}

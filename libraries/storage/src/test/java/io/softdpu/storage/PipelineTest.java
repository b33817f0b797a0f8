package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.Affinity;
import io.softdpu.storage.initiator.CoreReport;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.InitiatorReport;
import io.softdpu.storage.initiator.PhaseReport;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.worker.HeldCommandSlots;
import io.softdpu.storage.workload.Content;
import io.softdpu.storage.workload.ExecutionStrategy;
import io.softdpu.storage.workload.IoSize;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.StrategySettings;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The three roles in one JVM, with real transports between them. */
class PipelineTest {
    private static final int VOLUME_BYTES = 2 << 20;

    @TempDir private Path folder;

    @ParameterizedTest
    @EnumSource
    @Clause({"sto-001", "sto-002"})
    void shouldCarryOutEachStrategy(ExecutionStrategy strategy) throws Exception {
        byte[] plain = new byte[VOLUME_BYTES];
        new SeededRandom(7).nextBytes(plain);
        Path file = Files.write(folder.resolve("plain"), plain);
        Workload workload = strategy.workload(new StrategySettings(3000, 16, 2, file));

        try (Pipeline pipeline = new Pipeline(folder.resolve("fabric"))) {
            int port = pipeline.startTarget(BlockDevice.open("copy:" + file, 4096)).port();
            pipeline.startService(port);
            StorageInitiator initiator = pipeline.openInitiator(workload);

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            long expected =
                    switch (strategy) {
                        case READ_THROUGHPUT_TEST, WRITE_THROUGHPUT_TEST -> 3000;
                        case READ_WRITE_DATA_VALIDITY_TEST -> 2L * VOLUME_BYTES / 8192;
                        case READ_ONLY_DATA_VALIDITY_TEST -> VOLUME_BYTES / 8192;
                    };
            assertThat(initiator.initiatorReport().operations()).isEqualTo(expected);
        }
        assertThat(file).hasBinaryContent(plain);
    }

    @Test
    @Clause({"sto-020", "sto-066", "sto-069"})
    @Clause("sto-075")
    void shouldReadAWholeVolumeIntoTheInitiatorsMemory() {
        Content content = Content.pattern(Content.VOLUME_PATTERN_SEED);
        Phase read =
                Phase.read("read all")
                        .ioSize(IoSize.bytes(64 << 10))
                        .transactions(8)
                        .fill(Content.zeros())
                        .expect(content)
                        .build();

        PhaseReport report = runAlone(read);

        assertThat(report.bytesVerified()).isEqualTo(VOLUME_BYTES);
        assertThat(report.expectedSha256()).isEqualTo(content.sha256(VOLUME_BYTES));
        assertThat(report.actualSha256()).isEqualTo(report.expectedSha256());
        assertThat(report.operations()).isEqualTo(VOLUME_BYTES >> 16);
        assertThat(report.payloadBytes()).isEqualTo(VOLUME_BYTES);
    }

    @Test
    @Clause({"sto-022", "sto-075"})
    void shouldWriteAWholeVolumeFromTheInitiatorsMemory() {
        Content written = Content.pattern(99);
        BlockDevice volume = BlockDevice.open("memory:" + VOLUME_BYTES, 4096);
        Phase write =
                Phase.write("write all")
                        .ioSize(IoSize.bytes(20_000)) // five blocks: the last one is shorter
                        .transactions(4)
                        .fill(written)
                        .build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            // The volume's memory goes with the target; look at it just before it is told to stop.
            List<byte[]> seen = Collections.synchronizedList(new ArrayList<>());
            pipeline.targetListener(
                    new SessionListener() {
                        @Override
                        public void step(SessionStep step, String detail) {
                            if (step == SessionStep.STOP) {
                                seen.add(
                                        volume.memory()
                                                .segment()
                                                .toArray(java.lang.foreign.ValueLayout.JAVA_BYTE));
                            }
                        }
                    });
            pipeline.startService(pipeline.startTarget(volume).port());
            StorageInitiator initiator = pipeline.openInitiator(new Workload(List.of(write)));

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            assertThat(initiator.initiatorReport().phases().getFirst().ioSizeBytes())
                    .isEqualTo(20_480);
            byte[] expected = new byte[VOLUME_BYTES];
            written.fill(java.lang.foreign.MemorySegment.ofArray(expected), 0);
            assertThat(seen).hasSize(1);
            assertThat(seen.getFirst()).isEqualTo(expected);
        }
    }

    @Test
    void shouldCarryOutSeveralPhasesInOneSession() {
        Content other = Content.pattern(5);
        List<Phase> phases =
                List.of(
                        Phase.read("read all")
                                .ioSize(IoSize.bytes(1 << 20))
                                .transactions(4)
                                .fill(Content.zeros())
                                .expect(Content.pattern(Content.VOLUME_PATTERN_SEED))
                                .build(),
                        Phase.write("write all").transactions(32).fill(other).build(),
                        Phase.read("read back")
                                .transactions(32)
                                .fill(Content.zeros())
                                .expect(other)
                                .build(),
                        Phase.read("random, 32")
                                .transactions(32)
                                .random(1)
                                .timeLimit(Duration.ofMillis(50))
                                .build(),
                        Phase.write("random, 1").random(2).operations(500).build(),
                        Phase.read("sequential")
                                .ioSize(IoSize.bytes(1 << 20))
                                .transactions(16)
                                .operations(100)
                                .build());
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        try (Pipeline pipeline = new Pipeline(folder)) {
            pipeline.listener(
                    new InitiatorListener() {
                        @Override
                        public void phaseStarted(Phase phase) {
                            heard.add("+" + phase.name());
                        }

                        @Override
                        public void phaseFinished(PhaseReport report) {
                            heard.add("-" + report.name());
                        }
                    });
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, new Workload(phases));

            initiator.run();

            InitiatorReport report = initiator.initiatorReport();
            assertWentWell(pipeline, report);
            assertThat(heard)
                    .containsExactlyElementsOf(
                            phases.stream()
                                    .flatMap(p -> List.of("+" + p.name(), "-" + p.name()).stream())
                                    .toList());
            assertThat(report.bytesVerified()).isEqualTo(2L * VOLUME_BYTES);
            PhaseReport timed = report.phases().get(3);
            assertThat(timed.duration()).isGreaterThanOrEqualTo(Duration.ofMillis(50));
            assertThat(timed.transactions()).isEqualTo(32);
            assertThat(timed.latency().count()).isEqualTo(timed.operations()).isPositive();
            assertThat(timed.latency().minNanos())
                    .isPositive()
                    .isLessThanOrEqualTo(timed.latency().p50Nanos());
            assertThat(timed.latency().p999Nanos())
                    .isGreaterThanOrEqualTo(timed.latency().p99Nanos())
                    .isLessThanOrEqualTo(timed.latency().maxNanos());
            assertThat(report.phases().get(4).operations()).isEqualTo(500);
            assertThat(report.phases().get(5).payloadBytes()).isEqualTo(100L << 20);
        }
    }

    @Test
    @Clause({"sto-018", "sto-061", "sto-065"})
    void shouldShareTheVolumeBetweenCores() {
        Content other = Content.pattern(6);
        Workload workload =
                new Workload(
                        List.of(
                                Phase.write("write all").transactions(8).fill(other).build(),
                                Phase.read("read back")
                                        .transactions(8)
                                        .fill(Content.zeros())
                                        .expect(other)
                                        .build(),
                                Phase.read("random")
                                        .transactions(4)
                                        .random(3)
                                        .operations(200)
                                        .build()));
        try (Pipeline pipeline = new Pipeline(folder).cores(3, 4)) {
            StorageInitiator initiator = pipeline.start(100 * 4096, workload);

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            for (SessionReport report :
                    List.of(
                            initiator.report(),
                            pipeline.serviceReport(),
                            pipeline.targetReport())) {
                // 100 blocks are 34, 33 and 33: written, read back, and 200 of each core.
                assertThat(report.workers())
                        .extracting(WorkerReport::operations)
                        .containsExactly(268L, 266L, 266L);
            }
        }
    }

    @Test
    @Clause("sto-118")
    void shouldMoveTheSameDataWhileAllDataPathThreadsPoll() {
        Content other = Content.pattern(8);
        Workload workload =
                new Workload(
                        List.of(
                                Phase.write("write all").transactions(8).fill(other).build(),
                                Phase.read("paced")
                                        .random(1)
                                        .operations(3)
                                        .pace(Duration.ofMillis(2))
                                        .build(),
                                Phase.read("read back")
                                        .transactions(8)
                                        .fill(Content.zeros())
                                        .expect(other)
                                        .build()));
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 2).waitMode(WaitMode.BUSY)) {
            StorageInitiator initiator = pipeline.start(64 * 4096, workload);

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            assertThat(initiator.initiatorReport().phases().get(1).duration())
                    .isGreaterThanOrEqualTo(Duration.ofMillis(4));
        }
    }

    @Test
    @Clause("sto-118")
    void shouldPollWithoutASleepInAllRolesThatAreToldTo() {
        Phase slow = Phase.read("slow").random(1).pace(Duration.ofHours(1)).build();
        try (Pipeline pipeline = new Pipeline(folder).waitMode(WaitMode.BUSY)) {
            StorageInitiator initiator = pipeline.start(64 * 4096, new Workload(List.of(slow)));
            CompletableFuture<SessionReport> end = Pipeline.begin(initiator);

            assertPolls("softdpu-0-initi", initiator::report);
            assertPolls("softdpu-0-zero-", pipeline::serviceReport);
            assertPolls("softdpu-0-targe", pipeline::targetReport);

            initiator.abort("seen enough");
            assertThatThrownBy(() -> Pipeline.await(end)).isInstanceOf(DpuException.class);
        }
    }

    /**
     * Many rounds in a row without a sleep; the thread waits for a lock of the process at times.
     */
    private static void assertPolls(String thread, Supplier<SessionReport> report) {
        long rounds = 20_000;
        Await.byStep(
                "rounds without a sleep: thread=" + thread,
                () -> {
                    List<WorkerReport> before = report.get().workers();
                    if (before.isEmpty()) {
                        return false;
                    }
                    long misses = before.getFirst().progressMisses();
                    long sleeps = Pipeline.sleepsOfThreads(thread);
                    Await.until("rounds", () -> report.get().progressMisses() >= misses + rounds);
                    return misses > 0 && Pipeline.sleepsOfThreads(thread) == sleeps;
                },
                () -> {});
    }

    @Test
    @Clause("sto-111")
    void shouldMoveDataWhileOthersHoldTheLocksOfTheCommandsOfAllWorkers() {
        Content other = Content.pattern(9);
        List<Phase> phases =
                List.of(
                        Phase.write("write all").transactions(4).fill(other).build(),
                        Phase.read("read back")
                                .transactions(4)
                                .fill(Content.zeros())
                                .expect(other)
                                .build());
        List<HeldCommandSlots> held = new ArrayList<>();
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 2)) {
            pipeline.listener(
                    new InitiatorListener() {
                        @Override
                        public void phaseStarted(Phase phase) {
                            held.add(new HeldCommandSlots(pipeline.workers()));
                        }

                        @Override
                        public void phaseFinished(PhaseReport report) {
                            held.getLast().close();
                        }
                    });
            StorageInitiator initiator = pipeline.start(64 * 4096, new Workload(phases));

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            assertThat(initiator.initiatorReport().bytesVerified()).isEqualTo(64 * 4096);
            assertThat(held).hasSize(2);
        } finally {
            held.forEach(HeldCommandSlots::close);
        }
    }

    @Test
    void shouldReportOperationsByKindAndThePartOfEachCore() {
        List<Phase> phases =
                List.of(
                        Phase.write("write all").transactions(4).build(),
                        Phase.read("some").transactions(4).operations(10).build());
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 2)) {
            StorageInitiator initiator = pipeline.start(64 * 4096, new Workload(phases));

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            for (SessionReport report : List.of(initiator.report(), pipeline.targetReport())) {
                assertThat(report.writes()).as(report.role()).isEqualTo(64);
                assertThat(report.reads()).as(report.role()).isEqualTo(2 * 10);
                assertThat(report.payloadBytes()).as(report.role()).isEqualTo(84 * 4096);
                assertThat(report.workers()).extracting(WorkerReport::reads).containsOnly(10L);
            }
            assertThat(pipeline.serviceReport().operations()).isEqualTo(84);
            assertThat(pipeline.serviceReport().reads()).isZero();
            for (PhaseReport phase : initiator.initiatorReport().phases()) {
                assertThat(phase.cores()).extracting(CoreReport::index).containsExactly(0, 1);
                assertThat(phase.cores())
                        .allSatisfy(core -> {
                            assertThat(core.operations()).isEqualTo(phase.operations() / 2);
                            assertThat(core.payloadBytes()).isEqualTo(phase.payloadBytes() / 2);
                            assertThat(core.latency().count()).isEqualTo(core.operations());
                            assertThat(core.progressHits()).isPositive();
                            assertThat(core.duration()).isPositive();
                        });
                assertThat(phase.latency().count()).isEqualTo(phase.operations());
                assertThat(phase.latency().maxNanos())
                        .isEqualTo(
                                Math.max(
                                        phase.cores().get(0).latency().maxNanos(),
                                        phase.cores().get(1).latency().maxNanos()));
            }
            assertThat(initiator.latencyCounts().count()).isEqualTo(84);
        }
    }

    /** The parts of the storage are 34, 33 and 33 blocks, those of the memory 33 each. */
    @Test
    void shouldKeepALargeOperationWithinTheMemoryOfItsCore() {
        Phase large =
                Phase.read("large")
                        .ioSize(IoSize.bytes(1 << 20))
                        .transactions(2)
                        .operations(5)
                        .build();
        try (Pipeline pipeline = new Pipeline(folder).cores(3, 3)) {
            StorageInitiator initiator = pipeline.start(100 * 4096, new Workload(List.of(large)));

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            assertThat(initiator.initiatorReport().phases().getFirst().ioSizeBytes())
                    .isEqualTo(33 * 4096);
        }
    }

    @Test
    @Clause("sto-007")
    void shouldHaveADataPathThreadForEachCoreOnTheCpuOfItsNumber() throws Exception {
        int last = Affinity.allowed().length() - 1;
        List<CpuBinding> cpus = List.of(CpuBinding.any(), CpuBinding.hard(last));
        Phase read = Phase.read("read").transactions(4).build();
        for (List<CpuBinding> order : List.of(cpus, cpus.reversed())) {
            List<String> threads = Collections.synchronizedList(new ArrayList<>());
            List<String> allowed = Collections.synchronizedList(new ArrayList<>());
            try (Pipeline pipeline = new Pipeline(folder).cores(2, 2).serviceCpus(order)) {
                pipeline.serviceListener(
                        new SessionListener() {
                            @Override
                            public void step(SessionStep step, String detail) {
                                if (step == SessionStep.DATA_PATH) {
                                    threads.add(Thread.currentThread().getName());
                                    threads.addAll(threadsOf("-zero-copy"));
                                    allowed.addAll(Pipeline.cpusOfThreads("softdpu-0-zero-"));
                                    allowed.addAll(Pipeline.cpusOfThreads("softdpu-1-zero-"));
                                }
                            }
                        });
                pipeline.start(VOLUME_BYTES, new Workload(List.of(read))).run();
                pipeline.awaitService();
                pipeline.awaitTarget();
                assertThat(pipeline.serviceReport().workers())
                        .extracting(WorkerReport::cpu)
                        .isEqualTo(order.stream().map(CpuBinding::toString).toList());
            }
            assertThat(threads)
                    .containsExactly(
                            "control-zero-copy", "softdpu-0-zero-copy", "softdpu-1-zero-copy");
            assertThat(allowed).hasSize(2);
            assertThat(allowed.get(order.equals(cpus) ? 1 : 0)).isEqualTo(String.valueOf(last));
        }
    }

    private static List<String> threadsOf(String suffix) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("softdpu-") && name.endsWith(suffix))
                .sorted()
                .toList();
    }

    @Test
    void shouldServeOneSessionAfterTheOtherUnderTheSameNamesAndPort() {
        Phase read = Phase.read("read").transactions(4).build();
        try (Pipeline first = new Pipeline(folder)) {
            StorageInitiator initiator = first.start(64 << 10, new Workload(List.of(read)));
            initiator.run();
            assertWentWell(first, initiator.initiatorReport());
        }
        try (Pipeline second = new Pipeline(folder)) {
            StorageInitiator initiator = second.start(64 << 10, new Workload(List.of(read)));
            initiator.run();
            assertWentWell(second, initiator.initiatorReport());
        }
    }

    @Test
    void shouldWorkWithLessMemoryThanTheStorageHasWhereNothingIsMirrored() {
        Phase random = Phase.write("random").transactions(8).random(1).operations(300).build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            int port = pipeline.startTarget(BlockDevice.open("memory:1MiB", 4096)).port();
            pipeline.startService(port);
            StorageInitiator initiator =
                    pipeline.openInitiator(
                            new Workload(List.of(random)),
                            options -> options.localIoRegionSizeBytes(8192));

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
        }
    }

    @Test
    @Clause({"sto-084", "sto-116"})
    void shouldCountHitsAndMissesOfEachWorker() {
        try (Pipeline pipeline = new Pipeline(folder)) {
            List<WorkerReport> stopped = Collections.synchronizedList(new ArrayList<>());
            pipeline.serviceListener(
                    new SessionListener() {
                        @Override
                        public void step(SessionStep step, String detail) {
                            if (step == SessionStep.SHUTDOWN) {
                                stopped.addAll(pipeline.serviceReport().workers());
                            }
                        }
                    });
            StorageInitiator initiator =
                    pipeline.start(
                            VOLUME_BYTES,
                            new Workload(List.of(Phase.read("read").transactions(8).build())));

            initiator.run();

            assertWentWell(pipeline, initiator.initiatorReport());
            assertThat(stopped).isEqualTo(pipeline.serviceReport().workers());
            for (SessionReport report :
                    List.of(
                            initiator.report(),
                            pipeline.serviceReport(),
                            pipeline.targetReport())) {
                WorkerReport worker = report.workers().getFirst();
                assertThat(worker.progressHits()).isPositive();
                assertThat(worker.dataPathDuration()).isPositive();
                assertThat(worker.messageBytesCopied()).isPositive();
            }
        }
    }

    /**
     * One object per operation would be at least 16 bytes; the measured allocation is warm-up of
     * the JVM.
     */
    @ParameterizedTest
    @ValueSource(strings = {"memory:2MiB", "fault:seed=1:memory:2MiB"}) // in place, and staged
    void shouldAllocateLessThanAnObjectAnOperation(String volume) {
        long operations = 100_000;
        Phase load = Phase.read("load").transactions(32).random(1).operations(operations).build();
        try (Pipeline pipeline = new Pipeline(folder)) {
            pipeline.startService(pipeline.startTarget(BlockDevice.open(volume)).port());
            StorageInitiator initiator = pipeline.openInitiator(new Workload(List.of(load, load)));

            initiator.run();

            assertThat(pipeline.awaitService().operations()).isEqualTo(2 * operations);
            assertThat(pipeline.awaitTarget().operations()).isEqualTo(2 * operations);
            for (SessionReport report :
                    List.of(
                            initiator.report(),
                            pipeline.serviceReport(),
                            pipeline.targetReport())) {
                assertThat(report.allocatedBytes())
                        .as(report.role())
                        .isNotNegative() // a JVM that is warm from other tests allocates nothing
                        .isLessThan(2 * operations * 16);
            }
        }
    }

    private PhaseReport runAlone(Phase phase) {
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = pipeline.start(VOLUME_BYTES, new Workload(List.of(phase)));
            initiator.run();
            assertWentWell(pipeline, initiator.initiatorReport());
            return initiator.initiatorReport().phases().getFirst();
        }
    }

    /** All three succeeded with the same counts, and each byte was copied once, by the target. */
    private static void assertWentWell(Pipeline pipeline, InitiatorReport report) {
        SessionReport service = pipeline.awaitService();
        SessionReport target = pipeline.awaitTarget();
        assertThat(report.session().status()).isEqualTo(Status.SUCCESS);
        assertThat(service.status()).isEqualTo(Status.SUCCESS);
        assertThat(target.status()).isEqualTo(Status.SUCCESS);
        assertThat(report.session().operations()).isEqualTo(report.operations());
        assertThat(service.operations()).isEqualTo(report.operations());
        assertThat(target.operations()).isEqualTo(report.operations());
        assertThat(report.phases()).allMatch(phase -> phase.errors() == 0);
        assertThat(report.phases()).allMatch(phase -> phase.operation() != IoType.RESULT);

        assertThat(target.payloadBytesCopied()).isEqualTo(report.payloadBytesMoved());
        assertThat(service.payloadBytesCopied()).isZero();
        assertThat(report.session().payloadBytesCopied()).isZero();
    }
}

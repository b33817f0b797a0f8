package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.Status;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.initiator.ScriptedInitiator;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of what a service does, by its log and by what its target answers. */
class ServiceLogTest {
    private static final String SHUTDOWN = SessionStep.SHUTDOWN.toString();
    private static final Workload READ =
            new Workload(List.of(Phase.read("read").transactions(4).build()));

    @TempDir private Path folder;
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final List<String> atInfo = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch workerFailed = new CountDownLatch(1);
    private final Logger logger = Logger.getLogger("io.softdpu.storage.zero-copy");
    private final Handler handler =
            new Handler() {
                @Override
                public void publish(LogRecord line) {
                    events.add(line.getMessage());
                    if (line.getLevel() == Level.INFO) {
                        atInfo.add(line.getMessage());
                    }
                    if (line.getMessage().startsWith("Core: 0 failed")) {
                        workerFailed.countDown();
                    }
                    if (line.getMessage().equals("objects closed: worker=0")) {
                        whenClosed.run();
                    }
                }

                @Override
                public void flush() {}

                @Override
                public void close() {}
            };
    private volatile Runnable whenClosed = () -> {};
    private Level level;

    @BeforeEach
    void listen() {
        level = logger.getLevel();
        logger.setLevel(Level.FINE);
        handler.setLevel(Level.FINE);
        logger.addHandler(handler);
    }

    @AfterEach
    void listenNoMore() {
        logger.removeHandler(handler);
        logger.setLevel(level);
    }

    @Test
    @Clause({"sto-045", "sto-122", "sto-123"})
    void shouldOpenItsDevicesAndMakeBothControlChannelsBeforeItConnects() {
        List<LiveObjects> moments = new ArrayList<>();
        try (Pipeline pipeline = new Pipeline(folder)) {
            pipeline.serviceListener(
                    new SessionListener() {
                        @Override
                        public void step(SessionStep step, String detail) {
                            events.add("step: " + step);
                            if (step == SessionStep.CONNECTING_TO_STORAGE) {
                                moments.add(LiveObjects.now());
                            }
                        }
                    });
            pipeline.start(64 << 10, READ).run();
            pipeline.awaitService();
            pipeline.awaitTarget();
        }
        assertThat(events)
                .startsWith("Open doca_dev: p0", "Open doca_dev_rep: 0b:00.0")
                .containsSubsequence("Open doca_dev_rep: 0b:00.0", "step: CONNECTING_TO_STORAGE");
        assertThat(atInfo).startsWith("Open doca_dev: p0", "Open doca_dev_rep: 0b:00.0");
        assertThat(moments).hasSize(1);
        for (String channel : List.of("ComchServer", "TcpClient")) {
            assertThat(
                            moments.getFirst()
                                    .instances(
                                            ControlChannel.class.getPackageName()
                                                    + "."
                                                    + channel
                                                    + "ControlChannel"))
                    .as(channel)
                    .isOne();
        }
    }

    @Test
    @Clause({"sto-008", "sto-015", "sto-083"})
    @Clause({"sto-081", "sto-115"})
    @Clause("sto-013")
    void shouldBeginAndEndTheDataPathOfAllWorkersAfterTheTargetHasAnswered() {
        try (Pipeline pipeline = new Pipeline(folder).cores(2, 2)) {
            int port = pipeline.startTarget(BlockDevice.open("memory:64KiB", 4096)).port();
            try (ControlProxy proxy = new ControlProxy(port, this::answered)) {
                pipeline.startService(proxy.port());
                pipeline.openInitiator(READ).run();
                pipeline.awaitService();
                pipeline.awaitTarget();
            }
        }
        List<String> order =
                events.stream()
                        .filter(e ->
                                e.startsWith("Core: ")
                                        || e.startsWith("target: ")
                                        || e.equals(SHUTDOWN))
                        .toList();
        assertThat(order).hasSize(7);
        assertThat(order.getFirst())
                .isEqualTo("target: " + ControlMessageType.START_STORAGE_RESPONSE);
        assertThat(order.subList(1, 3))
                .containsExactlyInAnyOrder("Core: 0 running", "Core: 1 running");
        assertThat(order.get(3)).isEqualTo("target: " + ControlMessageType.STOP_STORAGE_RESPONSE);
        assertThat(order.subList(4, 6))
                .containsExactlyInAnyOrder("Core: 0 complete", "Core: 1 complete");
        assertThat(order.getLast()).as("the next step").isEqualTo(SHUTDOWN);
    }

    private ControlMessage answered(ControlMessage answer) {
        if (answer.type() == ControlMessageType.START_STORAGE_RESPONSE
                || answer.type() == ControlMessageType.STOP_STORAGE_RESPONSE) {
            events.add("target: " + answer.type());
        }
        return answer;
    }

    /** Its worker is held for a while when it has closed them: no answer may come meanwhile. */
    @Test
    @Clause("sto-088")
    void shouldCloseTheObjectsOfItsWorkersBeforeItAnswersAShutdown() throws Exception {
        CompletableFuture<ControlMessage> answer = new CompletableFuture<>();
        CompletableFuture<Boolean> answeredBefore = new CompletableFuture<>();
        whenClosed = () -> answeredBefore.complete(isDoneWithin(200, answer));
        try (ScriptedTarget target = new ScriptedTarget(folder);
                Pipeline pipeline = new Pipeline(folder)) {
            pipeline.startService(target.port());
            try (ScriptedInitiator initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL)) {
                for (int step = 0; step <= 3; step++) {
                    initiator.proceed(step);
                }

                answer.complete(initiator.proceed(4));
            }
            assertThat(Pipeline.await(answer).payload())
                    .isEqualTo(new ControlPayload.ShutdownResponse());
            assertThat(Pipeline.await(answeredBefore)).isFalse();
            assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
        }
    }

    private static boolean isDoneWithin(long millis, CompletableFuture<?> future) {
        try {
            future.get(millis, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @Clause({"sto-091", "sto-092", "sto-093"})
    void shouldCloseChannelsThenMemoryThenRepresentor() {
        runAlone();
        assertThat(closed())
                .containsSubsequence(
                        "control channel to the storage target",
                        "control channel to the initiator",
                        "mmap of the initiator's memory",
                        "representor");
        assertThat(closed().getFirst()).startsWith("control channel");
    }

    @Test
    @Clause("sto-094")
    void shouldCloseTheDeviceLast() {
        runAlone(); // its machine closes, so the device is closed
        assertThat(closed()).endsWith("device");
    }

    /** The target sends a response without a request while its answer to the stop is held. */
    @Test
    @Clause("sto-086")
    void shouldAnswerAStopWithTheFailureOfAWorker() throws Exception {
        try (ScriptedTarget target = new ScriptedTarget(folder);
                ControlProxy proxy =
                        new ControlProxy(
                                target.port(),
                                answer -> {
                                    if (answer.type() == ControlMessageType.STOP_STORAGE_RESPONSE) {
                                        target.answer(new byte[IoMessageView.WIRE_BYTES]);
                                        Pipeline.await(workerFailed);
                                    }
                                    return answer;
                                });
                Pipeline pipeline = new Pipeline(folder)) {
            pipeline.startService(proxy.port());
            try (ScriptedInitiator initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL)) {
                for (int step = 0; step <= 2; step++) {
                    initiator.proceed(step);
                }

                ControlMessage answer = initiator.proceed(3);

                assertThat(answer.messageId()).as("a reply").isNotZero();
                assertThat(answer.payload())
                        .isInstanceOfSatisfying(
                                ControlPayload.ErrorResponse.class,
                                error -> {
                                    assertThat(error.status()).isEqualTo(Status.UNEXPECTED);
                                    assertThat(error.message())
                                            .contains("sent a response without a request");
                                });
            }
        }
    }

    private void runAlone() {
        try (Pipeline pipeline = new Pipeline(folder)) {
            StorageInitiator initiator = pipeline.start(64 << 10, READ);
            initiator.run();
            pipeline.awaitService();
            pipeline.awaitTarget();
        }
    }

    private List<String> closed() {
        String closing = "closing: ";
        return events.stream()
                .filter(e -> e.startsWith(closing))
                .map(e -> e.substring(closing.length()))
                .toList();
    }
}

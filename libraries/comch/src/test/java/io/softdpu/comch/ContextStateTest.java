package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** States of the four contexts, beyond those of connecting and disconnecting. */
class ContextStateTest {
    @TempDir Path folder;
    private Card card;
    private Card.Pair pair;

    @BeforeEach
    void open() {
        card = new Card(folder);
        pair = card.pair();
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    /** The four contexts. */
    private enum Kind {
        SERVER,
        CLIENT,
        PRODUCER,
        CONSUMER
    }

    /** A context on an engine of its own, reached as a context alone, with a task to do. */
    private final class Subject {
        final Context context;
        final ProgressEngine engine = card.engine();
        final List<ContextState> states = new ArrayList<>();
        final List<Task> completed = new ArrayList<>();
        private final Supplier<Task> tasks;
        private final Runnable peerStart;
        private final Runnable peerPart;
        private final BooleanSupplier peerEnd;
        private final List<Buf> bufs = new ArrayList<>();
        private ComchConnection connection;

        Subject(Kind kind) {
            switch (kind) {
                case SERVER -> {
                    ComchServer server =
                            card.keep(ComchServer.create(card.p0, card.hpf0, "subject"));
                    server.setSendTasks(2, completed::add, completed::add);
                    server.setMessageCallback((from, message) -> {});
                    server.setConnectedCallback(c -> connection = c);
                    Peer client = Peer.client(card, "subject");
                    peerStart =
                            () -> {
                                Peer.stop(card, client.endpoint);
                                client.endpoint.start();
                            };
                    peerPart = () -> {};
                    peerEnd = () -> false; // ends its connection and goes on
                    tasks = () -> messageTask(server, connection);
                    context = server;
                }
                case CLIENT -> {
                    Peer server = Peer.server(card, "subject");
                    server.endpoint.start();
                    ComchClient client = card.keep(ComchClient.create(card.pf0, "subject"));
                    client.setSendTasks(2, completed::add, completed::add);
                    client.setMessageCallback((from, message) -> {});
                    peerStart = () -> {};
                    peerPart = () -> {};
                    peerEnd = () -> disconnected(server);
                    tasks = () -> messageTask(client, connection);
                    context = client;
                }
                case PRODUCER -> {
                    Queue.Receiving to =
                            new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 8).run(card);
                    to.post(0, 64);
                    to.post(64, 64);
                    Card.Memory memory = card.memory(card.pf0, 4096);
                    ComchProducer producer =
                            card.keep(ComchProducer.create(pair.client().connection()));
                    producer.setSendTasks(2, completed::add, completed::add);
                    peerStart = () -> {};
                    peerPart = () -> {};
                    peerEnd =
                            () -> {
                                Peer.stop(card, to.consumer);
                                return disconnected(pair.server());
                            };
                    tasks =
                            () -> {
                                Buf buf = memory.inventory().bufByData(memory.mmap(), 0, 8);
                                bufs.add(buf);
                                return producer.allocateSendTask(buf, to.consumer.id());
                            };
                    context = producer;
                }
                case CONSUMER -> {
                    Queue.Sending from =
                            new Queue.Sending(pair.client(), card.hostEngine, 4096, 8).run(card);
                    Card.Memory memory = card.memory(card.p0, 4096);
                    ComchConsumer consumer =
                            card.keep(
                                    ComchConsumer.create(pair.server().connection, memory.mmap()));
                    consumer.setPostReceiveTasks(2, completed::add, completed::add);
                    peerStart = () -> {};
                    peerPart = () -> from.send(consumer.id(), new byte[8], new byte[0]);
                    peerEnd =
                            () -> {
                                Peer.stop(card, from.producer);
                                return disconnected(pair.client());
                            };
                    tasks =
                            () -> {
                                Buf buf = memory.inventory().bufByAddress(memory.mmap(), 0, 64);
                                bufs.add(buf);
                                return consumer.allocatePostReceiveTask(buf);
                            };
                    context = consumer;
                }
                default -> throw new IllegalArgumentException("kind=" + kind);
            }
            engine.connect(context);
            context.setStateChangedCallback((of, from, to) -> states.add(to));
            card.atEnd(() -> Peer.stop(card, context));
        }

        Subject run() {
            connection = null;
            boolean serves = context instanceof ComchServer;
            context.start();
            peerStart.run();
            card.until(
                    "runs",
                    () ->
                            context.state() == ContextState.RUNNING
                                    && (!serves || connection != null));
            if (context instanceof ComchClient client) {
                connection = client.connection();
            }
            return this;
        }

        Task allocate() {
            return tasks.get();
        }

        /** Drives the other engines, long enough that something would have happened. */
        void progressOthers() {
            for (int i = 0; i < 2000; i++) {
                card.hostEngine.progress();
                card.dpuEngine.progress();
            }
        }

        /** Frees a task, and what it was given. */
        void free(Task task) {
            task.free();
            bufs.forEach(Buf::release);
            bufs.clear();
        }

        private static boolean disconnected(Peer peer) {
            return peer.connection().disconnect() == Status.SUCCESS;
        }

        private static Task messageTask(ComchEndpoint endpoint, ComchConnection to) {
            ComchSendTask task = endpoint.allocateSendTask(to);
            task.setMessage(new byte[8]);
            return task;
        }
    }

    @Clause({"cc-024", "cc-148", "cc-150"})
    @ParameterizedTest
    @EnumSource
    void shouldGoThroughTheStatesOfTheCoreAndBeStartedAgain(Kind kind) {
        Subject subject = new Subject(kind);
        List<ContextState> expected = new ArrayList<>();
        if (kind != Kind.SERVER) {
            expected.add(ContextState.STARTING);
        }
        expected.addAll(List.of(ContextState.RUNNING, ContextState.STOPPING, ContextState.IDLE));
        for (int round = 0; round < 2; round++) {
            subject.states.clear();
            assertThat(subject.context.state()).isEqualTo(ContextState.IDLE);
            subject.run();
            subject.context.stop();
            card.until("told", () -> subject.states.contains(ContextState.IDLE));
            assertThat(subject.states).isEqualTo(expected);
        }
    }

    @Clause("cc-152")
    @ParameterizedTest
    @EnumSource
    void shouldBecomeIdleOnStopWhenAllTasksAreFreed(Kind kind) {
        Subject subject = new Subject(kind).run();
        subject.free(subject.allocate());
        Task task = subject.allocate();
        task.submit();
        subject.peerPart.run();
        card.until("completed", () -> !subject.completed.isEmpty());
        subject.free(task);
        subject.context.stop();
        card.until("idle", () -> subject.context.state() == ContextState.IDLE);
    }

    @Clause({"cc-025", "cc-156", "cc-157"})
    @ParameterizedTest
    @EnumSource
    void shouldTakeTasksInRunningAndCompleteThemInProgress(Kind kind) {
        Subject subject = new Subject(kind).run();
        Task first = subject.allocate();
        Task second = subject.allocate();
        for (Task task : List.of(first, second)) {
            assertThat(task.trySubmit()).isEqualTo(Status.SUCCESS);
            subject.peerPart.run();
        }
        subject.progressOthers();
        assertThat(subject.completed).as("without progress").isEmpty();
        card.until("completed", () -> subject.completed.size() == 2);
        assertThat(subject.completed).containsExactlyInAnyOrder(first, second);
        for (Task task : List.of(first, second)) {
            assertThat(task.status()).isEqualTo(Status.SUCCESS);
            subject.free(task);
        }
    }

    @Clause({"cc-153", "cc-158", "cc-161"})
    @ParameterizedTest
    @EnumSource
    void shouldStayInStoppingUntilItsCompletedTasksAreFreed(Kind kind) {
        Subject subject = new Subject(kind).run();
        Task task = subject.allocate();
        task.submit();
        assertThat(subject.context.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(subject.context.state()).isEqualTo(ContextState.STOPPING);
        card.until("completed", () -> !subject.completed.isEmpty());
        card.settle();
        assertThat(subject.context.state()).as("not freed").isEqualTo(ContextState.STOPPING);
        subject.free(task);
        card.until("idle", () -> subject.context.state() == ContextState.IDLE);
    }

    @Clause({"cc-162", "cc-163"})
    @ParameterizedTest
    @EnumSource
    void shouldTakeNoTasksInStoppingAndJoinASecondStop(Kind kind) {
        Subject subject = new Subject(kind).run();
        Task kept = subject.allocate();
        subject.context.stop();
        card.settle();
        assertThat(kept.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertRefused(Status.BAD_STATE, subject::allocate);
        assertThat(subject.context.stop()).isEqualTo(Status.IN_PROGRESS);
        assertRefused(Status.BAD_STATE, subject.context::start);
        assertThat(subject.context.state()).isEqualTo(ContextState.STOPPING);
        subject.free(kept);
        card.until("idle", () -> subject.context.state() == ContextState.IDLE);
    }

    @Clause({"cc-162", "cc-164"})
    @ParameterizedTest
    @EnumSource(names = "SERVER", mode = EnumSource.Mode.EXCLUDE)
    void shouldTakeNoTasksWhileItStopsAfterItsConnectionHasEnded(Kind kind) {
        Subject subject = new Subject(kind).run();
        Task kept = subject.allocate();
        card.until("peer ends it", subject.peerEnd);
        card.until("stopping", () -> subject.context.state() == ContextState.STOPPING);
        card.settle();
        assertThat(kept.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertRefused(Status.BAD_STATE, subject::allocate);
        assertThat(subject.context.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        subject.free(kept);
        card.until("idle", () -> subject.states.contains(ContextState.IDLE));
        assertThat(subject.states)
                .containsExactly(
                        ContextState.STARTING,
                        ContextState.RUNNING,
                        ContextState.STOPPING,
                        ContextState.IDLE);
    }

    @Clause({"cc-154", "cc-155", "cc-160"})
    @Test
    void shouldReportEachStateOfConsumerAndProducerOnce() {
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        ComchProducer producer = card.keep(ComchProducer.create(pair.server().connection));
        card.dpuEngine.connect(consumer);
        card.dpuEngine.connect(producer);
        List<ContextState> ofConsumer = new ArrayList<>();
        List<ContextState> ofProducer = new ArrayList<>();
        consumer.setStateChangedCallback((context, from, to) -> ofConsumer.add(to));
        producer.setStateChangedCallback((context, from, to) -> ofProducer.add(to));
        consumer.setPostReceiveTasks(1, task -> {}, task -> {});
        producer.setSendTasks(1, task -> {}, task -> {});
        for (int round = 0; round < 2; round++) {
            ofConsumer.clear();
            ofProducer.clear();
            assertThat(consumer.start()).isEqualTo(Status.IN_PROGRESS);
            assertThat(producer.start()).isEqualTo(Status.IN_PROGRESS);
            assertThat(consumer.state()).isEqualTo(ContextState.STARTING);
            assertThat(producer.state()).isEqualTo(ContextState.STARTING);
            card.until("run", () -> consumer.state() == ContextState.RUNNING);
            card.until("run", () -> producer.state() == ContextState.RUNNING);
            consumer.stop();
            assertThat(producer.stop()).isEqualTo(Status.SUCCESS); // nothing is in flight
            card.until("idle", () -> ofConsumer.contains(ContextState.IDLE));
            card.until("idle", () -> ofProducer.contains(ContextState.IDLE));
            assertThat(ofConsumer)
                    .isEqualTo(ofProducer)
                    .containsExactly(
                            ContextState.STARTING,
                            ContextState.RUNNING,
                            ContextState.STOPPING,
                            ContextState.IDLE);
        }
    }

    @Test
    void shouldStopConsumerAndProducerThatAreStarting() {
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        sending.producer.start();
        receiving.consumer.stop();
        sending.producer.stop();
        card.until("consumer", () -> receiving.consumer.state() == ContextState.IDLE);
        card.until("producer", () -> sending.producer.state() == ContextState.IDLE);
        card.settle();
        assertThat(pair.client().consumers).isEmpty();
        receiving.run(card);
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.RUNNING);
        card.settle();
        assertThat(pair.client().consumers).containsExactly(receiving.consumer.id());
    }

    @Test
    void shouldTimeOutRegistrationAtPeerThatDoesNotProgress() {
        Peer.limitReplies(pair.client().connection());
        Queue.Receiving receiving = new Queue.Receiving(pair.client(), card.hostEngine, 4096, 1);
        receiving.consumer.start();
        long begin = System.nanoTime();
        while (receiving.consumer.state() != ContextState.IDLE) {
            card.hostEngine.await(Patience.LIMIT);
            assertThat(System.nanoTime() - begin)
                    .as("woken by the time limit of the registration")
                    .isLessThan(Patience.DEADLINE.toNanos());
        }
        assertThat(receiving.consumer.failure().status()).isEqualTo(Status.TIME_OUT);
    }
}

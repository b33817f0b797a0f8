package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both sides on threads of their own, which sleep while idle. */
@SoftDpuTest(sanitized = false)
class ThreadsTest {
    private static final Permissions SHARED =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE);

    /** Messages that go to one consumer before the next ones go to the other. */
    private static final int RUN = 8;

    private Device pf0;
    private Device p0;

    @BeforeEach
    void open(SoftDpu card) {
        pf0 = card.hostDevice();
        p0 = card.dpuDevice();
    }

    @Test
    void shouldWakeThePeerForEachMessageOfPingPong() throws Exception {
        int rounds = 2000;
        runBoth(
                (device, engine) -> {
                    AtomicInteger received = new AtomicInteger();
                    ComchServer server = server(device, engine);
                    server.setMessageCallback((from, message) -> {
                        received.incrementAndGet();
                        ComchSendTask task = server.allocateSendTask(from);
                        task.setMessage(message, 0, (int) message.byteSize());
                        task.submit();
                    });
                    AtomicReference<Boolean> ended = new AtomicReference<>();
                    server.setDisconnectedCallback((c, reason) -> ended.set(reason == null));
                    server.start();
                    awaitWoken(engine, "client has gone", () -> ended.get() != null);
                    assertThat(ended.get()).isTrue();
                    stop(engine, server);
                    return received.get();
                },
                (device, engine) -> {
                    AtomicInteger answers = new AtomicInteger();
                    ComchClient client = client(device, engine);
                    client.setMessageCallback((from, message) -> answers.incrementAndGet());
                    client.start();
                    awaitWoken(engine, "runs", () -> client.state() == ContextState.RUNNING);
                    for (int i = 1; i <= rounds; i++) {
                        int wanted = i;
                        ComchSendTask task = client.allocateSendTask(client.connection());
                        task.setMessage(new byte[] {(byte) i});
                        task.submit();
                        awaitWoken(engine, "answer " + i, () -> answers.get() == wanted);
                    }
                    stop(engine, client);
                    return answers.get();
                },
                rounds);
    }

    @Clause({"cc-012", "cc-016"})
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDriveProducersAndConsumersOnThreadsOfTheirOwn(boolean several) throws Exception {
        int messages = 200 * 2 * RUN;
        AtomicReference<ComchConnection> serverConnection = new AtomicReference<>();
        AtomicReference<ComchConnection> clientConnection = new AtomicReference<>();
        List<Integer> consumerIds = new CopyOnWriteArrayList<>();
        AtomicInteger finished = new AtomicInteger();
        runAll(
                () -> {
                    try (ProgressEngine engine = ProgressEngine.create();
                            var hpf0 = p0.findRepresentor("hpf0").open()) {
                        ComchServer server = ComchServer.create(p0, hpf0, Card.NAME);
                        configure(server, engine);
                        server.setConnectedCallback(serverConnection::set);
                        server.start();
                        await(engine, "all done", () -> finished.get() == 4);
                        stop(engine, server);
                    }
                    return 0;
                },
                () -> {
                    try (ProgressEngine engine = ProgressEngine.create()) {
                        ComchClient client = ComchClient.create(pf0, Card.NAME);
                        configure(client, engine);
                        client.setConsumerCallbacks((c, id) -> consumerIds.add(id), (c, id) -> {});
                        client.start();
                        awaitWoken(engine, "runs", () -> client.state() == ContextState.RUNNING);
                        clientConnection.set(client.connection());
                        await(engine, "all done", () -> finished.get() == 4);
                        awaitWoken(engine, "idle", () -> client.state() == ContextState.IDLE);
                        client.close();
                    }
                    return 0;
                },
                () -> consume(p0, serverConnection, messages, finished),
                () -> consume(p0, serverConnection, messages, finished),
                () -> produce(pf0, clientConnection, consumerIds, messages, several, finished),
                () -> produce(pf0, clientConnection, consumerIds, messages, several, finished));
    }

    private static int consume(
            Device device,
            AtomicReference<ComchConnection> connection,
            int messages,
            AtomicInteger finished) {
        try (ProgressEngine engine = ProgressEngine.create();
                SharedMemory memory = SharedMemory.allocate(64 * 1024);
                Mmap mmap = mmap(memory, device);
                BufInventory inventory = BufInventory.create(64)) {
            inventory.start();
            await(engine, "connection", () -> connection.get() != null);
            Map<Integer, Long> last = new HashMap<>();
            Set<Long> runs = new HashSet<>();
            int[] received = {0};
            ComchConsumer consumer = ComchConsumer.create(connection.get(), mmap);
            engine.connect(consumer);
            consumer.setPostReceiveTasks(
                    64,
                    task -> {
                        received[0]++;
                        long value =
                                mmap.segment().get(ValueLayout.JAVA_LONG, task.buf().dataOffset());
                        Long before = last.put(task.producerId(), value);
                        assertThat(before == null ? -1 : before).as("in order").isLessThan(value);
                        runs.add(value / RUN % 2);
                        task.buf().resetDataLength();
                        task.submit();
                    },
                    task -> {
                        task.buf().release();
                        task.free();
                    });
            consumer.start();
            awaitWoken(engine, "consumer runs", () -> consumer.state() == ContextState.RUNNING);
            for (int i = 0; i < 64; i++) {
                consumer.allocatePostReceiveTask(inventory.bufByAddress(mmap, i * 1024L, 1024))
                        .submit();
            }
            awaitWoken(engine, "all messages", () -> received[0] == messages);
            assertThat(last).as("producers").hasSize(2);
            assertThat(runs).as("only what was sent to it").hasSize(1);
            stop(engine, consumer);
            finished.incrementAndGet();
        }
        return messages;
    }

    private static int produce(
            Device device,
            AtomicReference<ComchConnection> connection,
            List<Integer> consumerIds,
            int messages,
            boolean several,
            AtomicInteger finished) {
        try (ProgressEngine engine = ProgressEngine.create();
                SharedMemory memory = SharedMemory.allocate(64 * 1024);
                Mmap mmap = mmap(memory, device);
                BufInventory inventory = BufInventory.create(16)) {
            inventory.start();
            await(engine, "connection", () -> connection.get() != null);
            ComchProducer producer = ComchProducer.create(connection.get());
            engine.connect(producer);
            List<ComchProducerSendTask> idle = new ArrayList<>();
            if (several) {
                producer.setSendTasks(
                        16, (tasks, count) -> idle.addAll(Arrays.asList(tasks).subList(0, count)));
            } else {
                producer.setSendTasks(16, idle::add, idle::add);
            }
            producer.start();
            awaitWoken(engine, "producer runs", () -> producer.state() == ContextState.RUNNING);
            await(engine, "consumers known", () -> consumerIds.size() == 2);
            for (int i = 0; i < 16; i++) {
                idle.add(
                        producer.allocateSendTask(
                                inventory.bufByData(mmap, i * 1024L, i % 2 == 0 ? 32 : 512),
                                consumerIds.getFirst()));
            }
            long deadline = System.nanoTime() + Patience.DEADLINE.toNanos();
            for (int i = 0; i < messages; ) {
                while (idle.isEmpty()) {
                    engine.progress();
                    assertThat(System.nanoTime()).as("all sent").isLessThan(deadline);
                }
                int count = several ? Math.min(idle.size(), messages - i) : 1;
                ComchProducerSendTask[] tasks = new ComchProducerSendTask[count];
                for (int next = 0; next < count; next++, i++) {
                    tasks[next] = idle.removeLast();
                    mmap.segment()
                            .set(ValueLayout.JAVA_LONG, tasks[next].buf().dataOffset(), (long) i);
                    tasks[next].setConsumerId(consumerIds.get(i / RUN % 2));
                }
                for (int next = 0; next < count; ) {
                    int submitted = submit(producer, tasks, next, several);
                    next += submitted;
                    if (submitted == 0) {
                        engine.await(Duration.ofNanos(100000)); // no buffer is posted just now
                    }
                    assertThat(System.nanoTime()).as("all taken").isLessThan(deadline);
                }
            }
            awaitWoken(engine, "all sent", () -> idle.size() == 16);
            assertThat(idle).allMatch(task -> task.status() == Status.SUCCESS);
            idle.forEach(task -> {
                task.buf().release();
                task.free();
            });
            stop(engine, producer);
            finished.incrementAndGet();
        }
        return messages;
    }

    private static int submit(
            ComchProducer producer, ComchProducerSendTask[] tasks, int from, boolean several) {
        if (several) {
            return producer.trySubmitAll(tasks, from, tasks.length);
        }
        return tasks[from].trySubmit() == Status.AGAIN ? 0 : 1;
    }

    // ---- scaffolding ----

    private interface Role {
        int run(Device device, ProgressEngine engine) throws Exception;
    }

    private void runBoth(Role server, Role client, int expected) throws Exception {
        runAll(
                () -> {
                    try (ProgressEngine engine = ProgressEngine.create()) {
                        assertThat(server.run(p0, engine)).isEqualTo(expected);
                    }
                    return 0;
                },
                () -> {
                    try (ProgressEngine engine = ProgressEngine.create()) {
                        assertThat(client.run(pf0, engine)).isEqualTo(expected);
                    }
                    return 0;
                });
    }

    @SafeVarargs
    private static void runAll(Callable<Integer>... roles) throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<Integer>> running = new ArrayList<>();
            for (Callable<Integer> role : roles) {
                running.add(threads.submit(role));
            }
            for (Future<Integer> role : running) {
                role.get(Patience.SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static Mmap mmap(SharedMemory memory, Device device) {
        return Mmap.create().setMemory(memory).setPermissions(SHARED).addDevice(device).start();
    }

    private static ComchServer server(Device device, ProgressEngine engine) {
        ComchServer server =
                ComchServer.create(device, device.findRepresentor("hpf0").open(), Card.NAME);
        configure(server, engine);
        return server;
    }

    private static ComchClient client(Device device, ProgressEngine engine) {
        ComchClient client = ComchClient.create(device, Card.NAME);
        configure(client, engine);
        return client;
    }

    private static void configure(ComchEndpoint endpoint, ProgressEngine engine) {
        engine.connect(endpoint);
        endpoint.setSendTasks(4, ComchSendTask::free, ComchSendTask::free);
        endpoint.setMessageCallback((from, message) -> {});
        endpoint.setConsumerCallbacks((c, id) -> {}, (c, id) -> {});
        if (endpoint instanceof ComchServer server) {
            server.setConnectedCallback(c -> {});
        }
    }

    /** Waits for a condition set by other threads, without waking the engine. */
    private static void await(ProgressEngine engine, String what, BooleanSupplier condition) {
        await(engine, what, TimeUnit.MILLISECONDS.toNanos(5), condition);
    }

    /** Waits for an event of the peer; a lost wake-up ends at the deadline. */
    private static void awaitWoken(ProgressEngine engine, String what, BooleanSupplier condition) {
        await(engine, what, Patience.NANOS, condition);
    }

    private static void await(
            ProgressEngine engine, String what, long sleepNanos, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            engine.await(Duration.ofNanos(sleepNanos));
            assertThat(System.nanoTime() - begin).as(what).isLessThan(Patience.DEADLINE.toNanos());
        }
    }

    private static void stop(ProgressEngine engine, Context context) {
        if (context.state() != ContextState.IDLE) {
            context.stop();
        }
        awaitWoken(engine, "idle: " + context, () -> context.state() == ContextState.IDLE);
        context.close();
        if (context instanceof ComchServer server) {
            server.representor().close();
        }
    }
}

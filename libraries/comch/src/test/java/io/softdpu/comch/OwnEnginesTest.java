package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
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
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/**
 * The four contexts, each on an engine and a thread of its own, which the test drives one pass at a
 * time.
 */
@SoftDpuTest(sanitized = false)
class OwnEnginesTest {
    private static final int PASSES = 300;

    /** A thread with an engine, and the events of the context on it. */
    private static final class Worker {
        final List<String> events = new CopyOnWriteArrayList<>();
        final List<String> elsewhere = new CopyOnWriteArrayList<>();
        private final ExecutorService executor = Executors.newSingleThreadExecutor();
        private final Thread thread = call(Thread::currentThread);
        private final ProgressEngine engine = call(ProgressEngine::create);
        private volatile boolean progressing;

        <T> T call(Callable<T> work) {
            try {
                return executor.submit(work).get(Patience.SECONDS, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                throw new AssertionError(e.getCause());
            } catch (TimeoutException | InterruptedException e) {
                throw new AssertionError("thread of an engine does not answer", e);
            }
        }

        /** A context, connected to the engine; its changes of state are events. */
        <C extends Context> C connected(Callable<C> maker) {
            return call(() -> {
                C context = maker.call();
                context.setStateChangedCallback((of, from, to) -> event(to.toString()));
                engine.connect(context);
                return context;
            });
        }

        /** Called by callbacks of the context. */
        void event(String what) {
            boolean inside = Thread.currentThread() == thread && progressing;
            (inside ? events : elsewhere).add(what);
        }

        void progress() {
            call(() -> {
                progressing = true;
                try {
                    return engine.progress();
                } finally {
                    progressing = false;
                }
            });
        }

        boolean has(String event) {
            return events.contains(event);
        }

        /** Closes objects and the engine, on its thread, which ends. */
        void end(AutoCloseable... objects) {
            call(() -> {
                for (AutoCloseable object : objects) {
                    object.close();
                }
                engine.close();
                return null;
            });
            executor.close();
        }
    }

    private final Worker ofServer = new Worker();
    private final Worker ofClient = new Worker();
    private final Worker ofConsumer = new Worker();
    private final Worker ofProducer = new Worker();
    private volatile ComchConnection serverConnection;

    /** Drives some of the engines until a condition holds. */
    private static void until(String what, BooleanSupplier condition, Worker... driven) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            for (Worker worker : driven) {
                worker.progress();
            }
            assertThat(System.nanoTime() - begin).as(what).isLessThan(Patience.DEADLINE.toNanos());
        }
    }

    /** Drives some of the engines, long enough that something would have happened. */
    private static void drive(Worker... driven) {
        for (int i = 0; i < PASSES; i++) {
            for (Worker worker : driven) {
                worker.progress();
            }
        }
    }

    @Clause("cc-025")
    @Test
    void shouldCompleteTasksAndDeliverEventsInCallsOfTheirOwnEngineOnly(SoftDpu card)
            throws Exception {
        Device p0 = card.dpuDevice();
        Device pf0 = card.hostDevice();
        try (Representor hpf0 = p0.findRepresentor("hpf0").open()) {
            ComchServer server =
                    ofServer.connected(() -> configured(ComchServer.create(p0, hpf0, Card.NAME)));
            ComchClient client =
                    ofClient.connected(
                            () -> configured(ComchClient.create(pf0, Card.NAME), ofClient));
            connect(server, client);
            exchange(server, client);
            Memory to = ofConsumer.call(() -> new Memory(p0));
            Memory from = ofProducer.call(() -> new Memory(pf0));
            ComchConsumer consumer = ofConsumer.connected(() -> consumer(to));
            ComchProducer producer =
                    ofProducer.connected(() -> producer(ofClient.call(client::connection)));
            startConsumer(consumer);
            startProducer(producer);
            sendData(producer, from, consumer, to);

            stop(ofProducer, producer);
            stop(ofConsumer, consumer);
            stop(ofClient, client);
            drive(ofClient, ofConsumer, ofProducer);
            assertThat(ofServer.events).doesNotContain("disconnected");
            until("told", () -> ofServer.has("disconnected"), ofServer);
            stop(ofServer, server);
            ofProducer.end(producer, from);
            ofConsumer.end(consumer, to);
            ofClient.end(client);
            ofServer.end(server);
        }
        for (Worker worker : List.of(ofServer, ofClient, ofConsumer, ofProducer)) {
            assertThat(worker.elsewhere).as("outside of calls of its engine").isEmpty();
        }
    }

    /** Two messages; the producer's side is told of the first before, of the second after. */
    private void sendData(ComchProducer producer, Memory from, ComchConsumer consumer, Memory to) {
        for (int message = 1; message <= 2; message++) {
            int wanted = message;
            ofConsumer.call(() -> {
                consumer.allocatePostReceiveTask(to.inventory.bufByAddress(to.mmap, 0, 64))
                        .submit();
                return null;
            });
            int id = ofConsumer.call(consumer::id);
            ofProducer.call(() -> {
                producer.allocateSendTask(from.inventory.bufByData(from.mmap, 0, 8), id).submit();
                return null;
            });
            drive(ofServer, ofClient);
            assertThat(count(ofProducer, "sent")).as("no progress").isEqualTo(message - 1);
            assertThat(count(ofConsumer, "received")).as("no progress").isEqualTo(message - 1);
            Worker first = message == 1 ? ofProducer : ofConsumer;
            Worker second = message == 1 ? ofConsumer : ofProducer;
            until("first", () -> count(first, taskOf(first)) == wanted, first);
            drive(first, ofServer, ofClient);
            assertThat(count(second, taskOf(second))).as("no progress").isEqualTo(message - 1);
            until("second", () -> count(second, taskOf(second)) == wanted, second);
        }
    }

    private void connect(ComchServer server, ComchClient client) {
        ofServer.call(server::start);
        ofClient.call(client::start);
        drive(ofServer);
        assertThat(ofClient.events).isEmpty();
        assertThat(client.state()).isEqualTo(ContextState.STARTING);
        until(
                "connected",
                () -> ofClient.has("RUNNING") && ofServer.has("connected"),
                ofServer,
                ofClient);
    }

    /** A message in each direction. */
    private void exchange(ComchServer server, ComchClient client) {
        ofClient.call(() -> submit(client, client.connection()));
        drive(ofClient);
        assertThat(ofServer.events).doesNotContain("message");
        until("message", () -> ofServer.has("message"), ofServer);
        drive(ofServer);
        assertThat(ofClient.events).doesNotContain("sent", "message");
        until("sent", () -> ofClient.has("sent"), ofClient);

        ofServer.call(() -> submit(server, serverConnection));
        drive(ofServer);
        assertThat(ofClient.events).doesNotContain("message");
        until("message", () -> ofClient.has("message"), ofClient);
        drive(ofClient);
        assertThat(ofServer.events).doesNotContain("sent");
        until("sent", () -> ofServer.has("sent"), ofServer);
    }

    private void startConsumer(ComchConsumer consumer) {
        ofConsumer.call(consumer::start);
        drive(ofConsumer);
        assertThat(ofClient.events).doesNotContain("consumer");
        until("announced", () -> ofClient.has("consumer"), ofServer, ofClient);
        assertThat(ofConsumer.events).containsExactly("STARTING");
        until("runs", () -> ofConsumer.has("RUNNING"), ofConsumer, ofServer, ofClient);
    }

    private void startProducer(ComchProducer producer) {
        ofProducer.call(producer::start);
        drive(ofServer, ofClient, ofConsumer);
        assertThat(ofProducer.events).isEmpty();
        until("runs", () -> ofProducer.has("RUNNING"), ofProducer, ofClient);
    }

    private String taskOf(Worker worker) {
        return worker == ofProducer ? "sent" : "received";
    }

    private static long count(Worker worker, String event) {
        return worker.events.stream().filter(event::equals).count();
    }

    private void stop(Worker worker, Context context) {
        worker.call(context::stop);
        drive(worker == ofServer ? ofClient : ofServer);
        assertThat(worker.events).doesNotContain("STOPPING", "IDLE");
        until("idle", () -> worker.has("IDLE"), worker, ofServer, ofClient);
    }

    private ComchServer configured(ComchServer server) {
        server.setConnectedCallback(connection -> {
            serverConnection = connection;
            ofServer.event("connected");
        });
        server.setDisconnectedCallback((connection, reason) -> ofServer.event("disconnected"));
        return configured(server, ofServer);
    }

    private static <E extends ComchEndpoint> E configured(E endpoint, Worker worker) {
        endpoint.setSendTasks(
                1,
                task -> {
                    worker.event("sent");
                    task.free();
                },
                task -> {
                    worker.event("not sent " + task.status());
                    task.free();
                });
        endpoint.setMessageCallback((from, message) -> worker.event("message"));
        endpoint.setConsumerCallbacks(
                (connection, id) -> worker.event("consumer"),
                (connection, id) -> worker.event("expired"));
        return endpoint;
    }

    private static Status submit(ComchEndpoint endpoint, ComchConnection to) {
        ComchSendTask task = endpoint.allocateSendTask(to);
        task.setMessage(new byte[] {1});
        return task.trySubmit();
    }

    private ComchConsumer consumer(Memory memory) {
        return ComchConsumer.create(serverConnection, memory.mmap)
                .setPostReceiveTasks(1, this::received, this::received);
    }

    private void received(ComchPostReceiveTask task) {
        ofConsumer.event(task.status() == Status.SUCCESS ? "received" : "not received");
        task.buf().release();
        task.free();
    }

    private ComchProducer producer(ComchConnection connection) {
        return ComchProducer.create(connection).setSendTasks(1, this::sent, this::sent);
    }

    private void sent(ComchProducerSendTask task) {
        ofProducer.event(task.status() == Status.SUCCESS ? "sent" : "not sent");
        task.buf().release();
        task.free();
    }

    /** Memory that the peer may use, and bufs for it. */
    private static final class Memory implements AutoCloseable {
        final SharedMemory memory = SharedMemory.allocate(4096);
        final Mmap mmap;
        final BufInventory inventory = BufInventory.create(2);

        Memory(Device device) {
            mmap =
                    Mmap.create()
                            .setMemory(memory)
                            .setPermissions(
                                    Permissions.of(
                                            AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_WRITE))
                            .addDevice(device)
                            .start();
            inventory.start();
        }

        @Override
        public void close() {
            inventory.close();
            mmap.close();
            memory.close();
        }
    }
}

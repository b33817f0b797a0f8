package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.comch.ComchBatchCallback;
import io.softdpu.comch.ComchCapabilities;
import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConnectionCallback;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchConsumerCallback;
import io.softdpu.comch.ComchDisconnectCallback;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchMessageCallback;
import io.softdpu.comch.ComchPeer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.comch.ComchReceiveBuffer;
import io.softdpu.comch.ComchRefusalCallback;
import io.softdpu.comch.ComchSendBuffer;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchStream;
import io.softdpu.comch.ComchStreamCallback;
import io.softdpu.comch.ComchTaskCallback;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import java.time.Duration;
import java.util.List;

/** The Comm Channel's contexts, connections and tasks. */
final class ComchFixtures {
    private static final List<String> OF_TASK =
            List.of("allocated", "in flight", "done", "freed", "context closed");

    private ComchFixtures() {}

    static void register(Registry registry) {
        String callback = "implemented by users, called by libraries only";
        registry.none(ComchBatchCallback.class, callback);
        registry.none(ComchConnectionCallback.class, callback);
        registry.none(ComchConsumerCallback.class, callback);
        registry.none(ComchDisconnectCallback.class, callback);
        registry.none(ComchMessageCallback.class, callback);
        registry.none(ComchRefusalCallback.class, callback);
        registry.none(ComchStreamCallback.class, callback);
        registry.none(ComchTaskCallback.class, callback);
        registry.none(
                ComchEndpoint.class, "abstract and sealed: called on the client and the server");
        registry.add(
                ComchCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> ComchCapabilities.of(scope.environment.p0.info()));
        registry.add(
                ComchClient.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "configured",
                        "starting",
                        "running",
                        "stopping",
                        "stopped",
                        "failed",
                        "closed"),
                ComchFixtures::client);
        registry.add(
                ComchServer.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "configured",
                        "running",
                        "stopping",
                        "stopped",
                        "closed"),
                ComchFixtures::server);
        registry.add(
                ComchConnection.class,
                Threads.OF_ENGINE,
                List.of("connected", "at server", "closing", "ended"),
                ComchFixtures::connection);
        registry.add(
                ComchPeer.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> connection(scope, "connected").peer());
        registry.add(
                ComchProducer.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "starting",
                        "running",
                        "stopping",
                        "stopped",
                        "lost",
                        "closed"),
                ComchFixtures::producer);
        registry.add(
                ComchConsumer.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "starting",
                        "running",
                        "stopping",
                        "stopped",
                        "lost",
                        "closed"),
                ComchFixtures::consumer);
        registry.add(
                ComchStream.class,
                Threads.OF_ENGINE,
                List.of(
                        "running",
                        "ready",
                        "created",
                        "starting",
                        "stopping",
                        "stopped",
                        "ended",
                        "closed"),
                ComchFixtures::stream);
        registry.add(
                ComchSendBuffer.class,
                Threads.OF_ENGINE,
                List.of("claimed", "sent", "stream stopped", "stream closed"),
                ComchFixtures::sendBuffer);
        registry.add(
                ComchReceiveBuffer.class,
                Threads.OF_ENGINE,
                List.of("taken", "posted", "stream stopped", "stream closed"),
                ComchFixtures::receiveBuffer);
        registry.add(ComchSendTask.class, Threads.OF_ENGINE, OF_TASK, ComchFixtures::sendTask);
        registry.add(
                ComchProducerSendTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                ComchFixtures::producerTask);
        registry.add(
                ComchPostReceiveTask.class, Threads.OF_ENGINE, OF_TASK, ComchFixtures::receiveTask);
    }

    /** The client's stream; beside the server's, unless it is not started. */
    private static ComchStream stream(FixtureScope scope, String state) {
        FixtureScope.Pair pair = scope.pair();
        ComchStream stream = scope.keep(ComchStream.create(pair.atClient()));
        if (state.equals("created")) {
            return stream;
        }
        scope.engine().connect(stream);
        switch (state) {
            case "ready" -> {
                return stream;
            }
            case "closed" -> {
                stream.close();
                return stream;
            }
            default -> stream.start();
        }
        if (state.equals("starting")) {
            return stream;
        }
        ComchStream peer = scope.keep(ComchStream.create(pair.atServer()));
        scope.engine().connect(peer);
        peer.start();
        scope.until(
                "streams run",
                () ->
                        stream.state() == ContextState.RUNNING
                                && peer.state() == ContextState.RUNNING);
        peer.tryClaim().send(8);
        for (int i = 0; i < 100; i++) { // the message has arrived then
            scope.progress();
        }
        switch (state) {
            case "stopping" -> stream.stop();
            case "stopped" -> scope.stop(stream);
            case "ended" -> {
                scope.stop(peer);
                scope.until("ended", () -> stream.state() == ContextState.IDLE);
            }
            default -> {}
        }
        return stream;
    }

    private static ComchSendBuffer sendBuffer(FixtureScope scope, String state) {
        ComchStream stream = stream(scope, "running");
        ComchSendBuffer buffer = stream.tryClaim();
        switch (state) {
            case "sent" -> buffer.send(8);
            case "stream stopped" -> scope.stop(stream);
            case "stream closed" -> {
                scope.stop(stream);
                stream.close();
            }
            default -> {}
        }
        return buffer;
    }

    private static ComchReceiveBuffer receiveBuffer(FixtureScope scope, String state) {
        ComchStream stream = stream(scope, "running");
        ComchReceiveBuffer buffer = stream.tryReceive();
        switch (state) {
            case "posted" -> buffer.close();
            case "stream stopped" -> scope.stop(stream);
            case "stream closed" -> {
                scope.stop(stream);
                stream.close();
            }
            default -> {}
        }
        return buffer;
    }

    private static ComchClient client(FixtureScope scope, String state) {
        switch (state) {
            case "running", "stopping", "stopped" -> {
                FixtureScope.Pair pair = scope.pair();
                if (state.equals("stopping")) {
                    scope.keep(pair.client().allocateSendTask(pair.atClient()));
                    pair.client().stop();
                } else if (state.equals("stopped")) {
                    scope.stop(pair.client());
                }
                return pair.client();
            }
            default -> {}
        }
        ComchClient client =
                scope.keep(
                        ComchClient.create(scope.environment.pf0, scope.environment.freshName()));
        if (state.equals("created")) {
            return client;
        }
        FixtureScope.configure(client);
        if (state.equals("configured")) {
            return client;
        }
        scope.engine().connect(client);
        switch (state) {
            case "starting" -> client.start(); // its name is not served
            case "failed" -> {
                client.setConnectTimeout(Duration.ofNanos(1));
                client.start();
                scope.until(
                        "failed",
                        () -> client.state() == ContextState.IDLE && client.failure() != null);
            }
            case "closed" -> client.close();
            default -> {}
        }
        return client;
    }

    private static ComchServer server(FixtureScope scope, String state) {
        switch (state) {
            case "running", "stopping", "stopped" -> {
                FixtureScope.Pair pair = scope.pair();
                if (state.equals("stopping")) {
                    scope.keep(pair.server().allocateSendTask(pair.atServer()));
                    pair.server().stop();
                } else if (state.equals("stopped")) {
                    scope.stop(pair.server());
                }
                return pair.server();
            }
            default -> {}
        }
        ComchServer server =
                scope.keep(
                        ComchServer.create(
                                scope.environment.p0,
                                scope.environment.hpf0,
                                scope.environment.freshName()));
        if (state.equals("created")) {
            return server;
        }
        FixtureScope.configure(server, connection -> {});
        if (state.equals("configured")) {
            return server;
        }
        scope.engine().connect(server);
        if (state.equals("closed")) {
            server.close();
        }
        return server;
    }

    private static ComchConnection connection(FixtureScope scope, String state) {
        FixtureScope.Pair pair = scope.pair();
        switch (state) {
            case "closing" -> pair.atClient().disconnect();
            case "ended" -> scope.stop(pair.client());
            default -> {}
        }
        return state.equals("at server") ? pair.atServer() : pair.atClient();
    }

    private static ComchProducer producer(FixtureScope scope, String state) {
        FixtureScope.Pair pair = scope.pair();
        ComchProducer producer = scope.keep(ComchProducer.create(pair.atClient()));
        if (state.equals("created")) {
            return producer;
        }
        scope.engine().connect(producer);
        producer.setSendTasks(1, task -> {}, task -> {});
        switch (state) {
            case "ready" -> {
                return producer;
            }
            case "closed" -> {
                producer.close();
                return producer;
            }
            default -> producer.start();
        }
        if (state.equals("starting")) {
            return producer;
        }
        scope.until("producer runs", () -> producer.state() == ContextState.RUNNING);
        switch (state) {
            case "stopping" -> {
                Buf buf = scope.buf(scope.environment.pf0, 64, 16);
                scope.keep(producer.allocateSendTask(buf, 1));
                producer.stop();
            }
            case "stopped" -> scope.stop(producer);
            case "lost" -> lose(scope, pair, producer);
            default -> {}
        }
        return producer;
    }

    private static ComchConsumer consumer(FixtureScope scope, String state) {
        FixtureScope.Pair pair = scope.pair();
        ComchConsumer consumer =
                scope.keep(ComchConsumer.create(pair.atServer(), scope.mmap(scope.environment.p0)));
        if (state.equals("created")) {
            return consumer;
        }
        scope.engine().connect(consumer);
        consumer.setPostReceiveTasks(1, task -> {}, task -> {});
        switch (state) {
            case "ready" -> {
                return consumer;
            }
            case "closed" -> {
                consumer.close();
                return consumer;
            }
            default -> consumer.start();
        }
        if (state.equals("starting")) {
            return consumer;
        }
        scope.until("consumer runs", () -> consumer.state() == ContextState.RUNNING);
        switch (state) {
            case "stopping" -> {
                scope.keep(
                        consumer.allocatePostReceiveTask(scope.buf(scope.environment.p0, 64, 0)));
                consumer.stop();
            }
            case "stopped" -> scope.stop(consumer);
            case "lost" -> lose(scope, pair, consumer);
            default -> {}
        }
        return consumer;
    }

    /** The other side leaves: it has nothing active on the connection. */
    private static void lose(
            FixtureScope scope, FixtureScope.Pair pair, io.softdpu.core.execution.Context left) {
        if (left instanceof ComchProducer) {
            scope.stop(pair.server());
        } else {
            scope.stop(pair.client());
        }
        scope.until("lost", () -> left.state() == ContextState.IDLE && left.failure() != null);
    }

    private static ComchSendTask sendTask(FixtureScope scope, String state) {
        FixtureScope.Pair pair = scope.pair();
        ComchSendTask task = scope.keep(pair.client().allocateSendTask(pair.atClient()));
        task.setMessage(new byte[16]);
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scope.until("sent", () -> pair.client().inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scope.stop(pair.client());
                pair.client().close();
            }
            default -> {}
        }
        return task;
    }

    private static ComchProducerSendTask producerTask(FixtureScope scope, String state) {
        Flow flow = flow(scope);
        ComchProducerSendTask task =
                scope.keep(
                        flow.producer.allocateSendTask(
                                scope.buf(scope.environment.pf0, 4096, 4096), flow.consumer.id()));
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scope.until("sent", () -> flow.producer.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scope.stop(flow.producer);
                flow.producer.close();
            }
            default -> {}
        }
        return task;
    }

    private static ComchPostReceiveTask receiveTask(FixtureScope scope, String state) {
        Flow flow = flow(scope);
        if (state.equals("in flight")) {
            return flow.posted;
        }
        ComchProducerSendTask send =
                scope.keep(
                        flow.producer.allocateSendTask(
                                scope.buf(scope.environment.pf0, 16, 16), flow.consumer.id()));
        send.submit();
        scope.until("received", () -> flow.consumer.inFlightTasks() == 0);
        switch (state) {
            case "freed" -> flow.posted.free();
            case "context closed" -> {
                flow.posted.free();
                scope.stop(flow.consumer);
                flow.consumer.close();
            }
            default -> {} // allocated and done are the same: it has been used before
        }
        return flow.posted;
    }

    /** A producer on the host, a consumer on the DPU, and one buffer that it has posted. */
    record Flow(ComchProducer producer, ComchConsumer consumer, ComchPostReceiveTask posted) {}

    static Flow flow(FixtureScope scope) {
        FixtureScope.Pair pair = scope.pair();
        ComchProducer producer = scope.keep(ComchProducer.create(pair.atClient()));
        Mmap mmap = scope.mmap(scope.environment.p0);
        ComchConsumer consumer = scope.keep(ComchConsumer.create(pair.atServer(), mmap));
        producer.setSendTasks(1, task -> {}, task -> {});
        consumer.setPostReceiveTasks(1, task -> {}, task -> {});
        scope.engine().connect(producer);
        scope.engine().connect(consumer);
        producer.start();
        consumer.start();
        scope.until(
                "flow",
                () ->
                        producer.state() == ContextState.RUNNING
                                && consumer.state() == ContextState.RUNNING
                                && pair.atClient().remoteConsumers().length == 1);
        ComchPostReceiveTask posted =
                scope.keep(consumer.allocatePostReceiveTask(scope.buf(mmap, 8192, 0)));
        posted.submit();
        return new Flow(producer, consumer, posted);
    }
}

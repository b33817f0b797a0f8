package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.comch.ComchCapabilities;
import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConnectionCallback;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchConsumerCallback;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchMessageCallback;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.comch.ComchProducerSendTask;
import io.softdpu.comch.ComchSendTask;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchTaskCallback;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import java.util.List;

/** The Comm Channel's contexts, connections and tasks. */
final class ComchFixtures {
    private static final List<String> OF_TASK =
            List.of("allocated", "in flight", "done", "freed", "context closed");

    private ComchFixtures() {}

    static void register(Registry registry) {
        String callback = "the user's to implement, nobody's to call";
        registry.none(ComchConnectionCallback.class, callback);
        registry.none(ComchConsumerCallback.class, callback);
        registry.none(ComchMessageCallback.class, callback);
        registry.none(ComchTaskCallback.class, callback);
        registry.none(
                ComchEndpoint.class, "abstract and sealed: called on the client and the server");
        registry.add(
                ComchCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scene, state) -> ComchCapabilities.of(scene.world.p0.info()));
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
        registry.add(ComchSendTask.class, Threads.OF_ENGINE, OF_TASK, ComchFixtures::sendTask);
        registry.add(
                ComchProducerSendTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                ComchFixtures::producerTask);
        registry.add(
                ComchPostReceiveTask.class, Threads.OF_ENGINE, OF_TASK, ComchFixtures::receiveTask);
    }

    private static ComchClient client(Scene scene, String state) {
        switch (state) {
            case "running", "stopping", "stopped" -> {
                Scene.Pair pair = scene.pair();
                if (state.equals("stopping")) {
                    scene.keep(pair.client().allocateSendTask(pair.atClient()));
                    pair.client().stop();
                } else if (state.equals("stopped")) {
                    scene.stop(pair.client());
                }
                return pair.client();
            }
            default -> {}
        }
        ComchClient client =
                scene.keep(ComchClient.create(scene.world.pf0, scene.world.freshName()));
        if (state.equals("created")) {
            return client;
        }
        Scene.configure(client);
        if (state.equals("configured")) {
            return client;
        }
        scene.engine().connect(client);
        switch (state) {
            case "starting" -> client.start(); // nobody serves its name
            case "failed" -> {
                client.setConnectTimeout(1);
                client.start();
                scene.until(
                        "failed",
                        () -> client.state() == ContextState.IDLE && client.failure() != null);
            }
            case "closed" -> client.close();
            default -> {}
        }
        return client;
    }

    private static ComchServer server(Scene scene, String state) {
        switch (state) {
            case "running", "stopping", "stopped" -> {
                Scene.Pair pair = scene.pair();
                if (state.equals("stopping")) {
                    scene.keep(pair.server().allocateSendTask(pair.atServer()));
                    pair.server().stop();
                } else if (state.equals("stopped")) {
                    scene.stop(pair.server());
                }
                return pair.server();
            }
            default -> {}
        }
        ComchServer server =
                scene.keep(
                        ComchServer.create(
                                scene.world.p0, scene.world.hpf0, scene.world.freshName()));
        if (state.equals("created")) {
            return server;
        }
        Scene.configure(server, (connection, successful) -> {});
        if (state.equals("configured")) {
            return server;
        }
        scene.engine().connect(server);
        if (state.equals("closed")) {
            server.close();
        }
        return server;
    }

    private static ComchConnection connection(Scene scene, String state) {
        Scene.Pair pair = scene.pair();
        switch (state) {
            case "closing" -> pair.atClient().disconnect();
            case "ended" -> scene.stop(pair.client());
            default -> {}
        }
        return state.equals("at server") ? pair.atServer() : pair.atClient();
    }

    private static ComchProducer producer(Scene scene, String state) {
        Scene.Pair pair = scene.pair();
        ComchProducer producer = scene.keep(ComchProducer.create(pair.atClient()));
        if (state.equals("created")) {
            return producer;
        }
        scene.engine().connect(producer);
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
        scene.until("producer runs", () -> producer.state() == ContextState.RUNNING);
        switch (state) {
            case "stopping" -> {
                Buf buf = scene.buf(scene.world.pf0, 64, 16);
                scene.keep(producer.allocateSendTask(buf, 1));
                producer.stop();
            }
            case "stopped" -> scene.stop(producer);
            case "lost" -> lose(scene, pair, producer);
            default -> {}
        }
        return producer;
    }

    private static ComchConsumer consumer(Scene scene, String state) {
        Scene.Pair pair = scene.pair();
        ComchConsumer consumer =
                scene.keep(ComchConsumer.create(pair.atServer(), scene.mmap(scene.world.p0)));
        if (state.equals("created")) {
            return consumer;
        }
        scene.engine().connect(consumer);
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
        scene.until("consumer runs", () -> consumer.state() == ContextState.RUNNING);
        switch (state) {
            case "stopping" -> {
                scene.keep(consumer.allocatePostReceiveTask(scene.buf(scene.world.p0, 64, 0)));
                consumer.stop();
            }
            case "stopped" -> scene.stop(consumer);
            case "lost" -> lose(scene, pair, consumer);
            default -> {}
        }
        return consumer;
    }

    /** The other side leaves: it has nothing active on the connection. */
    private static void lose(Scene scene, Scene.Pair pair, io.softdpu.core.execution.Context left) {
        if (left instanceof ComchProducer) {
            scene.stop(pair.server());
        } else {
            scene.stop(pair.client());
        }
        scene.until("lost", () -> left.state() == ContextState.IDLE && left.failure() != null);
    }

    private static ComchSendTask sendTask(Scene scene, String state) {
        Scene.Pair pair = scene.pair();
        ComchSendTask task = scene.keep(pair.client().allocateSendTask(pair.atClient()));
        task.setMessage(new byte[16]);
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scene.until("sent", () -> pair.client().inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scene.stop(pair.client());
                pair.client().close();
            }
            default -> {}
        }
        return task;
    }

    private static ComchProducerSendTask producerTask(Scene scene, String state) {
        Flow flow = flow(scene);
        ComchProducerSendTask task =
                scene.keep(
                        flow.producer.allocateSendTask(
                                scene.buf(scene.world.pf0, 4096, 4096), flow.consumer.id()));
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scene.until("sent", () -> flow.producer.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scene.stop(flow.producer);
                flow.producer.close();
            }
            default -> {}
        }
        return task;
    }

    private static ComchPostReceiveTask receiveTask(Scene scene, String state) {
        Flow flow = flow(scene);
        if (state.equals("in flight")) {
            return flow.posted;
        }
        ComchProducerSendTask send =
                scene.keep(
                        flow.producer.allocateSendTask(
                                scene.buf(scene.world.pf0, 16, 16), flow.consumer.id()));
        send.submit();
        scene.until("received", () -> flow.consumer.inFlightTasks() == 0);
        switch (state) {
            case "freed" -> flow.posted.free();
            case "context closed" -> {
                flow.posted.free();
                scene.stop(flow.consumer);
                flow.consumer.close();
            }
            default -> {} // allocated and done are the same: it has been used before
        }
        return flow.posted;
    }

    /** A producer on the host, a consumer on the DPU, and one buffer that it has posted. */
    private record Flow(
            ComchProducer producer, ComchConsumer consumer, ComchPostReceiveTask posted) {}

    private static Flow flow(Scene scene) {
        Scene.Pair pair = scene.pair();
        ComchProducer producer = scene.keep(ComchProducer.create(pair.atClient()));
        Mmap mmap = scene.mmap(scene.world.p0);
        ComchConsumer consumer = scene.keep(ComchConsumer.create(pair.atServer(), mmap));
        producer.setSendTasks(1, task -> {}, task -> {});
        consumer.setPostReceiveTasks(1, task -> {}, task -> {});
        scene.engine().connect(producer);
        scene.engine().connect(consumer);
        producer.start();
        consumer.start();
        scene.until(
                "flow",
                () ->
                        producer.state() == ContextState.RUNNING
                                && consumer.state() == ContextState.RUNNING
                                && pair.atClient().remoteConsumers().length == 1);
        ComchPostReceiveTask posted =
                scene.keep(consumer.allocatePostReceiveTask(scene.buf(mmap, 8192, 0)));
        posted.submit();
        return new Flow(producer, consumer, posted);
    }
}

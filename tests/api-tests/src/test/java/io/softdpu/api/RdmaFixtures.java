package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionCallback;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaTaskCallback;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaWriteTask;
import java.util.List;

/** RDMA instances, connections and tasks. */
final class RdmaFixtures {
    private static final List<String> OF_TASK =
            List.of("allocated", "in flight", "done", "freed", "context closed");

    private RdmaFixtures() {}

    static void register(Registry registry) {
        registry.value(RdmaOpcode.class, RdmaOpcode.SEND);
        registry.value(RdmaTaskType.class, RdmaTaskType.SEND);
        registry.value(RdmaConnection.State.class, RdmaConnection.State.EXPORTED);
        registry.none(RdmaConnectionCallback.class, "the user's to implement, nobody's to call");
        registry.none(RdmaTaskCallback.class, "the user's to implement, nobody's to call");
        registry.add(
                RdmaCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scene, state) -> RdmaCapabilities.of(scene.world.p0.info()));
        registry.add(
                Rdma.class,
                Threads.OF_ENGINE,
                List.of(
                        "ready",
                        "created",
                        "configured",
                        "starting",
                        "running",
                        "stopping",
                        "stopped",
                        "closed"),
                RdmaFixtures::rdma);
        registry.add(
                RdmaConnection.class,
                Threads.OF_ENGINE,
                List.of(
                        "connected",
                        "exported",
                        "connecting",
                        "disconnected",
                        "failed",
                        "instance closed"),
                RdmaFixtures::connection);
        registry.add(RdmaSendTask.class, Threads.OF_ENGINE, OF_TASK, RdmaFixtures::sendTask);
        registry.add(RdmaReceiveTask.class, Threads.OF_ENGINE, OF_TASK, RdmaFixtures::receiveTask);
        registry.add(RdmaReadTask.class, Threads.OF_ENGINE, OF_TASK, RdmaFixtures::readTask);
        registry.add(RdmaWriteTask.class, Threads.OF_ENGINE, OF_TASK, RdmaFixtures::writeTask);
    }

    private static Rdma rdma(Scene scene, String state) {
        switch (state) {
            case "running", "stopping", "stopped" -> {
                Scene.Link link = scene.link();
                if (state.equals("stopping")) {
                    scene.keep(link.near().allocateReceive(null));
                    link.near().stop();
                } else if (state.equals("stopped")) {
                    scene.stop(link.near());
                }
                return link.near();
            }
            case "created" -> {
                return scene.keep(Rdma.create(scene.world.p0));
            }
            default -> {}
        }
        Rdma rdma = scene.rdma(scene.world.p0);
        if (state.equals("configured")) {
            return rdma;
        }
        scene.engine().connect(rdma);
        switch (state) {
            case "starting" -> rdma.start();
            case "closed" -> rdma.close();
            default -> {}
        }
        return rdma;
    }

    private static RdmaConnection connection(Scene scene, String state) {
        switch (state) {
            case "exported" -> {
                return rdma(scene, "starting").exportConnection();
            }
            case "connecting" -> {
                Rdma rdma = rdma(scene, "starting");
                RdmaConnection connection = rdma.exportConnection();
                rdma.connect(scene.peerBlob(), connection);
                return connection;
            }
            default -> {}
        }
        Scene.Link link = scene.link();
        RdmaConnection connection = link.here();
        switch (state) {
            case "disconnected" -> {
                connection.disconnect();
                scene.until("ended", () -> connection.state() != RdmaConnection.State.CONNECTED);
            }
            case "failed" -> fail(scene, link);
            case "instance closed" -> {
                scene.stop(link.near());
                link.near().close();
            }
            default -> {}
        }
        return connection;
    }

    /** The peer's receive is too small for the message. */
    private static void fail(Scene scene, Scene.Link link) {
        scene.keep(link.far().allocateReceive(null)).submit();
        Buf message = scene.buf(scene.world.p0, 16, 16);
        RdmaSendTask task = scene.keep(link.near().allocateSend(link.here(), message));
        task.submit();
        scene.until("failed", () -> link.here().state() == RdmaConnection.State.FAILED);
        scene.until("task is back", () -> link.near().inFlightTasks() == 0);
    }

    private static RdmaSendTask sendTask(Scene scene, String state) {
        Scene.Link link = scene.link();
        Buf message = scene.buf(scene.world.p0, 16, 16);
        RdmaSendTask task = scene.keep(link.near().allocateSend(link.here(), message));
        if (state.equals("done")) {
            scene.keep(link.far().allocateReceive(scene.buf(scene.world.t0, 64, 0))).submit();
        }
        bring(scene, link.near(), task, state);
        return task;
    }

    private static RdmaReceiveTask receiveTask(Scene scene, String state) {
        Scene.Link link = scene.link();
        RdmaReceiveTask task =
                scene.keep(link.near().allocateReceive(scene.buf(scene.world.p0, 64, 0)));
        if (state.equals("done")) {
            scene.keep(link.far().allocateSend(link.there(), null)).submit();
        }
        bring(scene, link.near(), task, state);
        return task;
    }

    private static RdmaReadTask readTask(Scene scene, String state) {
        Scene.Link link = scene.link();
        Buf remote = scene.buf(scene.remoteMemory(), 64, 16);
        Buf local = scene.buf(scene.world.p0, 64, 0);
        RdmaReadTask task = scene.keep(link.near().allocateRead(link.here(), remote, local));
        bring(scene, link.near(), task, state);
        return task;
    }

    private static RdmaWriteTask writeTask(Scene scene, String state) {
        Scene.Link link = scene.link();
        Buf remote = scene.buf(scene.remoteMemory(), 64, 0);
        Buf local = scene.buf(scene.world.p0, 64, 16);
        RdmaWriteTask task = scene.keep(link.near().allocateWrite(link.here(), local, remote));
        bring(scene, link.near(), task, state);
        return task;
    }

    private static void bring(Scene scene, Rdma rdma, Task task, String state) {
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scene.until("done", () -> rdma.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scene.stop(rdma);
                scene.until("idle", () -> rdma.state() == ContextState.IDLE);
                rdma.close();
            }
            default -> {}
        }
    }
}

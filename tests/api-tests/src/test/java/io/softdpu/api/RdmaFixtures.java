package io.softdpu.api;

import io.softdpu.api.Registry.Threads;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaCompareAndSwapTask;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionCallback;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.rdma.RdmaConnectionRequestCallback;
import io.softdpu.rdma.RdmaFetchAndAddTask;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaRemoteSyncEventGetTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifyAddTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifySetTask;
import io.softdpu.rdma.RdmaSendImmediateTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaTaskCallback;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaTransportType;
import io.softdpu.rdma.RdmaWriteImmediateTask;
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
        registry.value(RdmaTransportType.class, RdmaTransportType.RC);
        registry.value(RdmaConnection.State.class, RdmaConnection.State.EXPORTED);
        registry.value(RdmaAddress.Type.class, RdmaAddress.Type.IPV4);
        registry.add(
                RdmaAddress.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> scope.addressOfTarget());
        registry.add(
                RdmaConnectionRequest.class,
                Threads.OF_ENGINE,
                List.of("pending", "accepted", "rejected", "ended", "instance closed"),
                RdmaFixtures::request);
        registry.none(
                RdmaConnectionRequestCallback.class,
                "implemented by users, called by libraries only");
        registry.none(
                RdmaConnectionCallback.class, "implemented by users, called by libraries only");
        registry.none(RdmaTaskCallback.class, "implemented by users, called by libraries only");
        registry.add(
                RdmaCapabilities.class,
                Threads.ANY,
                List.of("value"),
                (scope, state) -> RdmaCapabilities.of(scope.environment.p0.info()));
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
        registry.add(
                RdmaSendImmediateTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::sendImmediateTask);
        registry.add(
                RdmaWriteImmediateTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::writeImmediateTask);
        registry.add(
                RdmaCompareAndSwapTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::compareAndSwapTask);
        registry.add(
                RdmaFetchAndAddTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::fetchAndAddTask);
        registry.add(
                RdmaRemoteSyncEventGetTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::remoteSyncEventGetTask);
        registry.add(
                RdmaRemoteSyncEventNotifySetTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::remoteSyncEventNotifySetTask);
        registry.add(
                RdmaRemoteSyncEventNotifyAddTask.class,
                Threads.OF_ENGINE,
                OF_TASK,
                RdmaFixtures::remoteSyncEventNotifyAddTask);
    }

    private static Rdma rdma(FixtureScope scope, String state) {
        switch (state) {
            case "running", "stopping", "stopped" -> {
                FixtureScope.Link link = scope.link();
                if (state.equals("stopping")) {
                    scope.keep(link.near().allocateReceive(null));
                    link.near().stop();
                } else if (state.equals("stopped")) {
                    scope.stop(link.near());
                }
                return link.near();
            }
            case "created" -> {
                return scope.keep(Rdma.create(scope.environment.p0));
            }
            default -> {}
        }
        Rdma rdma = scope.rdma(scope.environment.p0);
        if (state.equals("configured")) {
            return rdma;
        }
        scope.engine().connect(rdma);
        switch (state) {
            case "starting" -> rdma.start();
            case "closed" -> rdma.close();
            default -> {}
        }
        return rdma;
    }

    private static RdmaConnectionRequest request(FixtureScope scope, String state) {
        FixtureScope.Asked asked = scope.asked();
        switch (state) {
            case "accepted" -> asked.request().accept(new byte[0]);
            case "rejected" -> asked.request().reject(new byte[0]);
            case "ended" -> {
                scope.stop(asked.peer());
                scope.until("ended", () -> !asked.request().isPending());
            }
            case "instance closed" -> {
                scope.stop(asked.listener());
                asked.listener().close();
            }
            default -> {}
        }
        return asked.request();
    }

    private static RdmaConnection connection(FixtureScope scope, String state) {
        switch (state) {
            case "exported" -> {
                return rdma(scope, "starting").exportConnection();
            }
            case "connecting" -> {
                Rdma rdma = rdma(scope, "starting");
                RdmaConnection connection = rdma.exportConnection();
                rdma.connect(scope.peerBlob(), connection);
                return connection;
            }
            default -> {}
        }
        FixtureScope.Link link = scope.link();
        RdmaConnection connection = link.here();
        switch (state) {
            case "disconnected" -> {
                connection.disconnect();
                scope.until("ended", () -> connection.state() != RdmaConnection.State.CONNECTED);
            }
            case "failed" -> fail(scope, link);
            case "instance closed" -> {
                scope.stop(link.near());
                link.near().close();
            }
            default -> {}
        }
        return connection;
    }

    /** The peer's receive is too small for the message. */
    private static void fail(FixtureScope scope, FixtureScope.Link link) {
        scope.keep(link.far().allocateReceive(null)).submit();
        Buf message = scope.buf(scope.environment.p0, 16, 16);
        RdmaSendTask task = scope.keep(link.near().allocateSend(link.here(), message));
        task.submit();
        scope.until("failed", () -> link.here().state() == RdmaConnection.State.FAILED);
        scope.until("task is back", () -> link.near().inFlightTasks() == 0);
    }

    private static RdmaSendTask sendTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf message = scope.buf(scope.environment.p0, 16, 16);
        RdmaSendTask task = scope.keep(link.near().allocateSend(link.here(), message));
        if (state.equals("done")) {
            scope.keep(link.far().allocateReceive(scope.buf(scope.environment.t0, 64, 0))).submit();
        }
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaReceiveTask receiveTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        RdmaReceiveTask task =
                scope.keep(link.near().allocateReceive(scope.buf(scope.environment.p0, 64, 0)));
        if (state.equals("done")) {
            scope.keep(link.far().allocateSend(link.there(), null)).submit();
        }
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaReadTask readTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf remote = scope.buf(scope.remoteMemory(), 64, 16);
        Buf local = scope.buf(scope.environment.p0, 64, 0);
        RdmaReadTask task = scope.keep(link.near().allocateRead(link.here(), remote, local));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaWriteTask writeTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf remote = scope.buf(scope.remoteMemory(), 64, 0);
        Buf local = scope.buf(scope.environment.p0, 64, 16);
        RdmaWriteTask task = scope.keep(link.near().allocateWrite(link.here(), local, remote));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaSendImmediateTask sendImmediateTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf message = scope.buf(scope.environment.p0, 16, 16);
        RdmaSendImmediateTask task =
                scope.keep(link.near().allocateSendImmediate(link.here(), message, 1));
        if (state.equals("done")) {
            scope.keep(link.far().allocateReceive(scope.buf(scope.environment.t0, 64, 0))).submit();
        }
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaWriteImmediateTask writeImmediateTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf remote = scope.buf(scope.remoteMemory(), 64, 0);
        Buf local = scope.buf(scope.environment.p0, 64, 16);
        RdmaWriteImmediateTask task =
                scope.keep(link.near().allocateWriteImmediate(link.here(), local, remote, 1));
        if (state.equals("done")) {
            scope.keep(link.far().allocateReceive(null)).submit();
        }
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaCompareAndSwapTask compareAndSwapTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf remote = scope.buf(scope.remoteMemory(), 64, 8);
        Buf local = scope.buf(scope.environment.p0, 64, 0);
        RdmaCompareAndSwapTask task =
                scope.keep(link.near().allocateCompareAndSwap(link.here(), remote, local, 0, 1));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaFetchAndAddTask fetchAndAddTask(FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        Buf remote = scope.buf(scope.remoteMemory(), 64, 8);
        Buf local = scope.buf(scope.environment.p0, 64, 0);
        RdmaFetchAndAddTask task =
                scope.keep(link.near().allocateFetchAndAdd(link.here(), remote, local, 1));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaRemoteSyncEventGetTask remoteSyncEventGetTask(
            FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        RemoteSyncEvent event = scope.remoteEvent();
        Buf local = scope.buf(scope.environment.p0, 64, 0);
        RdmaRemoteSyncEventGetTask task =
                scope.keep(link.near().allocateRemoteSyncEventGet(link.here(), event, local));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaRemoteSyncEventNotifySetTask remoteSyncEventNotifySetTask(
            FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        RemoteSyncEvent event = scope.remoteEvent();
        Buf local = scope.buf(scope.environment.p0, 64, 8);
        RdmaRemoteSyncEventNotifySetTask task =
                scope.keep(link.near().allocateRemoteSyncEventNotifySet(link.here(), event, local));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static RdmaRemoteSyncEventNotifyAddTask remoteSyncEventNotifyAddTask(
            FixtureScope scope, String state) {
        FixtureScope.Link link = scope.link();
        RemoteSyncEvent event = scope.remoteEvent();
        Buf local = scope.buf(scope.environment.p0, 64, 0);
        RdmaRemoteSyncEventNotifyAddTask task =
                scope.keep(
                        link.near().allocateRemoteSyncEventNotifyAdd(link.here(), event, local, 1));
        bring(scope, link.near(), task, state);
        return task;
    }

    private static void bring(FixtureScope scope, Rdma rdma, Task task, String state) {
        switch (state) {
            case "in flight" -> task.submit();
            case "done" -> {
                task.submit();
                scope.until("done", () -> rdma.inFlightTasks() == 0);
            }
            case "freed" -> task.free();
            case "context closed" -> {
                task.free();
                scope.stop(rdma);
                scope.until("idle", () -> rdma.state() == ContextState.IDLE);
                rdma.close();
            }
            default -> {}
        }
    }
}

package io.softdpu.rdma.shm;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base of the tests of listeners and of connects by address beside a rogue member of the folder.
 */
abstract class ListenFixture {
    static final byte[] NO_DATA = {};

    @TempDir Path folder;
    final ProgressEngine engine = ProgressEngine.create();
    final Deque<RdmaConnectionRequest> requests = new ArrayDeque<>();
    private final List<Rdma> instances = new ArrayList<>();
    Machine machine;
    Machine target;
    Device device;
    Device targetDevice;
    RogueBus rogue;

    @BeforeEach
    final void open() {
        Path fabric = folder.resolve("f");
        machine = Machine.builder(Side.DPU).fabricFolder(fabric).open();
        target = Machine.builder(Side.TARGET).fabricFolder(fabric).open();
        device = machine.findDevice("03:00.0").open();
        targetDevice = target.findDevice("t0").open();
        rogue = new RogueBus(fabric);
    }

    @AfterEach
    final void close() {
        for (Rdma instance : instances) {
            stop(instance);
            instance.close();
        }
        rogue.close();
        engine.close();
        device.close();
        targetDevice.close();
        machine.close();
        target.close();
    }

    /** A started instance, which puts the requests of peers into {@link #requests}. */
    final Rdma start(Device on, int maxConnections, Consumer<Rdma> configure) {
        Rdma rdma = Rdma.create(on);
        instances.add(rdma);
        rdma.setMaxConnections(maxConnections)
                .setConnectTimeout(Patience.LIMIT)
                .setConnectionRequestCallback(requests::add)
                .setSendTasks(1, task -> task.free(), task -> task.free());
        configure.accept(rdma);
        engine.connect(rdma);
        rdma.start();
        return rdma;
    }

    /** Stops an instance in any state. */
    final void stop(Rdma instance) {
        if (instance.state() == ContextState.STARTING || instance.state() == ContextState.RUNNING) {
            instance.stop();
        }
        until("idle", () -> instance.state() == ContextState.IDLE);
    }

    /** Listens on the port of the rogue's requests, on the DPU's device. */
    final Rdma listener(int maxConnections) {
        return listener(maxConnections, rdma -> {});
    }

    final Rdma listener(int maxConnections, Consumer<Rdma> configure) {
        Rdma rdma = start(device, maxConnections, configure);
        rdma.listen(RogueBus.PORT);
        return rdma;
    }

    /** Address of that listener. */
    final RdmaAddress address() {
        return new RdmaAddress(RdmaAddress.Type.IPV4, device.info().ipv4(), RogueBus.PORT);
    }

    final RdmaConnectionRequest nextRequest() {
        until("a request", () -> !requests.isEmpty());
        return requests.remove();
    }

    /** A peer that keeps to the protocol is served, and no other request waits. */
    final void requireServing() {
        Rdma peer = start(targetDevice, 1, rdma -> {});
        RdmaConnection here = peer.connect(address(), NO_DATA);
        RdmaConnection there = nextRequest().accept(NO_DATA);
        until(
                "connected",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED);
        here.disconnect();
        until("disconnected", () -> there.state() == RdmaConnection.State.DISCONNECTED);
    }

    final void until(String what, BooleanSupplier condition) {
        Await.byStep(
                what,
                condition,
                () -> {
                    if (!engine.progress()) {
                        engine.await(Duration.ofMillis(1));
                    }
                });
    }
}

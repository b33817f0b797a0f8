package io.softdpu.rdma.roce;

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

/** Base of the tests of listeners and of connects by address, on one engine. */
abstract class ListenFixture {
    static final int PORT = 7174;
    static final byte[] NO_DATA = {};

    @TempDir Path folder;
    final ProgressEngine engine = ProgressEngine.create();
    final Deque<RdmaConnectionRequest> requests = new ArrayDeque<>();
    private final List<Rdma> instances = new ArrayList<>();
    Machine machine;
    Machine target;
    Device device;
    Device targetDevice;

    @BeforeEach
    final void open() {
        RoceTestEnvironment site = new RoceTestEnvironment();
        machine = site.openMachine(folder, Side.DPU);
        target = site.openMachine(folder, Side.TARGET);
        device = machine.findDevice(site.device(Side.DPU)).open();
        targetDevice = target.findDevice(site.device(Side.TARGET)).open();
    }

    @AfterEach
    final void close() {
        for (Rdma instance : instances) {
            stop(instance);
            instance.close();
        }
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

    /** Listens on the DPU's device. */
    final Rdma listener(int maxConnections) {
        return listener(maxConnections, rdma -> {});
    }

    final Rdma listener(int maxConnections, Consumer<Rdma> configure) {
        Rdma rdma = start(device, maxConnections, configure);
        rdma.listen(PORT);
        return rdma;
    }

    /** Address of that listener. */
    final RdmaAddress address() {
        return new RdmaAddress(RdmaAddress.Type.IPV4, device.info().ipv4(), PORT);
    }

    final RdmaConnectionRequest nextRequest() {
        until("a request", () -> !requests.isEmpty());
        return requests.remove();
    }

    /** Connects an instance to the listener, which accepts. */
    final RdmaConnection[] establish(Rdma connector) {
        RdmaConnection here = connector.connect(address(), NO_DATA);
        RdmaConnection there = nextRequest().accept(NO_DATA);
        until(
                "connected",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED);
        return new RdmaConnection[] {here, there};
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

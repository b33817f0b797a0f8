package io.softdpu.rdma.contract;

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
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;

/**
 * Base of tests of listeners and of connects by address with all instances on one engine: those of
 * the contract, and those of a provider that need more than its environment. Instances that a test
 * has started are stopped and closed after it.
 */
public abstract class RdmaListenFixture extends RdmaContract {
    /** Port of the listener, and of what a test puts into its place. */
    public static final int PORT = 4711;

    /** Private data of a program that passes none. */
    protected static final byte[] NO_DATA = {};

    /** Engine of all instances. */
    protected final ProgressEngine engine = ProgressEngine.create();

    /** Requests that were reported and that {@link #nextRequest} has not returned, oldest first. */
    protected final Deque<RdmaConnectionRequest> requests = new ArrayDeque<>();

    /** Device of the far side, which listens. */
    protected Device device;

    /** Device of the near side, which connects. */
    protected Device nearDevice;

    private final List<Rdma> instances = new ArrayList<>();
    private Machine far;
    private Machine near;

    /** For subclasses. */
    protected RdmaListenFixture() {}

    @BeforeEach
    final void openDevices() {
        far = environment().openMachine(folder(), environment().farSide());
        near = environment().openMachine(folder(), environment().nearSide());
        device = far.findDevice(environment().device(far.side())).open();
        nearDevice = near.findDevice(environment().device(near.side())).open();
    }

    @Override
    final void endOthers() {
        for (Rdma instance : instances) {
            stop(instance);
            instance.close();
        }
        closeOthers();
        engine.close();
        device.close();
        nearDevice.close();
        far.close();
        near.close();
    }

    /** Closes what a subclass has opened; called when the instances are closed. */
    protected void closeOthers() {}

    /** A started instance, which puts the requests of peers into {@link #requests}. */
    protected final Rdma start(Device on, int maxConnections, Consumer<Rdma> configure) {
        Rdma rdma = Rdma.create(on);
        instances.add(rdma);
        rdma.setGidIndex(environment().gidIndex())
                .setMaxConnections(maxConnections)
                .setConnectTimeout(Patience.LIMIT)
                .setConnectionRequestCallback(requests::add)
                .setSendTasks(1, task -> task.free(), task -> task.free());
        configure.accept(rdma);
        engine.connect(rdma);
        rdma.start();
        return rdma;
    }

    /** Stops an instance in any state. */
    protected final void stop(Rdma instance) {
        if (instance.state() == ContextState.STARTING || instance.state() == ContextState.RUNNING) {
            instance.stop();
        }
        until("idle", () -> instance.state() == ContextState.IDLE);
    }

    /** A started instance of the far side that listens on {@link #PORT}. */
    protected final Rdma listener(int maxConnections) {
        return listener(maxConnections, rdma -> {});
    }

    /** As {@link #listener(int)}, with a configuration of its own. */
    protected final Rdma listener(int maxConnections, Consumer<Rdma> configure) {
        Rdma rdma = start(device, maxConnections, configure);
        rdma.listen(PORT);
        return rdma;
    }

    /** Address of that listener. */
    protected final RdmaAddress address() {
        return environment().gidIndex() == 0
                ? new RdmaAddress(RdmaAddress.Type.IPV4, device.info().ipv4(), PORT)
                : new RdmaAddress(RdmaAddress.Type.IPV6, device.info().ipv6(), PORT);
    }

    /** Waits for a request of a peer, and takes it out of {@link #requests}. */
    protected final RdmaConnectionRequest nextRequest() {
        until("a request", () -> !requests.isEmpty());
        return requests.remove();
    }

    /**
     * Connects an instance to the listener, which accepts.
     *
     * @return the end of the instance, and that of the listener
     */
    protected final RdmaConnection[] establish(Rdma connector) {
        RdmaConnection here = connector.connect(address(), NO_DATA);
        RdmaConnection there = nextRequest().accept(NO_DATA);
        untilConnected(here, there);
        return new RdmaConnection[] {here, there};
    }

    /** Waits until both ends of a connection are established. */
    protected final void untilConnected(RdmaConnection here, RdmaConnection there) {
        until(
                "connected",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED);
    }

    /** A peer that keeps to the protocol is served, and no other request waits. */
    protected final void requireServing() {
        Rdma peer = start(nearDevice, 1, rdma -> {});
        RdmaConnection[] ends = establish(peer);
        ends[0].disconnect();
        until("disconnected", () -> ends[1].state() == RdmaConnection.State.DISCONNECTED);
    }

    /** Makes progress until the condition holds; fails at the deadline of the tests. */
    protected final void until(String what, BooleanSupplier condition) {
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

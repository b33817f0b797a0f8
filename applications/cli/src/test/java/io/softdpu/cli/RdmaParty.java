package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/** Side with an instance that may use both providers, which belongs to the thread of the test. */
final class RdmaParty implements AutoCloseable {
    /** The UDP port that connections by address need. */
    static final int ROCE_PORT = 4791;

    /** Addresses for the sides that no other JVM of tests and no program uses. */
    static final String DPU = ownAddress(0);

    static final String TARGET = ownAddress(1);

    static final byte[] NO_DATA = {};

    private static final int PORT = 7174;
    private static final Duration PASS = Duration.ofMillis(1);

    final Machine machine;
    final Device device;
    final ProgressEngine engine = ProgressEngine.create();
    final Rdma rdma;

    /** Requests of peers, oldest first, and the number of all. */
    final Deque<RdmaConnectionRequest> requests = new ArrayDeque<>();

    int requested;

    /** States of its connections, as its callback was told. */
    final List<RdmaConnection.State> states = new ArrayList<>();

    RdmaParty(Path folder, Side side) {
        this(folder, side, TARGET);
    }

    RdmaParty(Path folder, Side side, String targetAddress) {
        machine =
                Machine.builder(side).fabricFolder(folder).topology(topology(targetAddress)).open();
        device = machine.findDevice(side == Side.DPU ? "p0" : "t0").open();
        rdma = Rdma.create(device);
        rdma.setReceiveTasks(1, _ -> {}, _ -> {})
                .setConnectTimeout(Patience.LIMIT)
                .setConnectionCallback((_, _, next) -> states.add(next))
                .setConnectionRequestCallback(request -> {
                    requested++;
                    requests.add(request);
                });
        engine.connect(rdma);
    }

    private static String ownAddress(int side) {
        long own = ProcessHandle.current().pid();
        return "127.98." + (own >>> 7 & 0xff) + "." + (own << 1 & 0xfe | side);
    }

    private static Topology topology(String targetAddress) {
        Topology.Builder builder = Topology.builder("addresses");
        for (PciFunction each : Topology.builtin().functions()) {
            builder.add(
                    switch (each.interfaceName()) {
                        case "p0" -> each.toBuilder().ipv4(DPU).build();
                        case "t0" -> each.toBuilder().ipv4(targetAddress).build();
                        default -> each;
                    });
        }
        return builder.build();
    }

    RdmaConnection export() {
        rdma.start();
        return rdma.exportConnection();
    }

    /** Starts it, and listens with both providers. */
    RdmaParty listening() {
        rdma.start();
        rdma.listen(PORT);
        return this;
    }

    void stopListening() {
        rdma.stopListening(PORT);
    }

    RdmaParty started() {
        rdma.start();
        return this;
    }

    /** Connects to the address of a side, whether it listens or not. */
    RdmaConnection connect(RdmaParty to) {
        InetAddress address = to.device.info().ipv4();
        return rdma.connect(new RdmaAddress(RdmaAddress.Type.IPV4, address, PORT), NO_DATA);
    }

    /** The oldest request, while it and others are driven. */
    RdmaConnectionRequest next(RdmaParty... others) {
        List<RdmaParty> all = new ArrayList<>(List.of(others));
        all.add(this);
        until("a request", () -> !requests.isEmpty(), all.toArray(RdmaParty[]::new));
        return requests.remove();
    }

    /** Drives until a connection has the state; one that has failed meanwhile says why at once. */
    static void until(RdmaConnection connection, RdmaConnection.State state, RdmaParty... parties) {
        until(
                "connection " + connection.id() + " is " + state,
                () -> connection.state() == state || hasFailed(connection),
                parties);
        assertThat(connection.state()).as("%s", connection.failureReason()).isEqualTo(state);
    }

    private static boolean hasFailed(RdmaConnection connection) {
        return connection.state() == RdmaConnection.State.FAILED;
    }

    static void until(String what, BooleanSupplier condition, RdmaParty... parties) {
        Await.byStep(
                what,
                condition,
                () -> {
                    boolean progressed = false;
                    for (RdmaParty party : parties) {
                        progressed |= party.engine.progress();
                    }
                    if (!progressed) {
                        parties[0].engine.await(PASS);
                    }
                });
    }

    static boolean isPortFree(String address) throws IOException {
        try (DatagramSocket socket = holdPort(address)) {
            return socket.isBound();
        } catch (BindException e) {
            return false;
        }
    }

    static DatagramSocket holdPort(String address) throws IOException {
        return new DatagramSocket(new InetSocketAddress(InetAddress.getByName(address), ROCE_PORT));
    }

    static List<String> threadsOfNics() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("softdpu-nic-"))
                .toList();
    }

    /** Stops the instance, in any state. */
    void stop() {
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        until("the end of the instance", () -> rdma.state() == ContextState.IDLE, this);
    }

    @Override
    public void close() {
        try {
            stop();
        } finally { // what is left open would be waited for, and hide why
            rdma.close();
            engine.close();
            device.close();
            machine.close();
        }
    }
}

package io.softdpu.rdma.contract;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Far side of a connection by address, which executes one step at a time. Argument: the port of the
 * side that listens. Each line of its input is a step; {@link #DONE} and the step is printed after
 * it.
 */
final class ListenProgram {
    /** Listens on the port. */
    static final String LISTEN = "listen";

    /** Waits for a request, and does not answer it. */
    static final String AWAIT_REQUEST = "await request";

    /** Accepts the request, without progress. */
    static final String ACCEPT = "accept";

    /** Makes the passes of progress that send the answer. */
    static final String ANSWER = "answer";

    /** Requests a connection from the near side, without progress. */
    static final String CONNECT = "connect";

    /** Progresses until the connection is established. */
    static final String ESTABLISH = "establish";

    /** Receives a message with the bytes of {@link #MESSAGE_SEED}. */
    static final String RECEIVE = "receive";

    static final String DONE = "done ";
    static final int MESSAGE_BYTES = 64;
    static final int MESSAGE_SEED = 5;

    /** Length of the private data of requests that are not answered. */
    static final int IGNORED_BYTES = 3;

    private ListenProgram() {}

    /** Runs until its input ends. */
    static void run(Console console) throws Exception {
        RdmaTestEnvironment site = console.site();
        int port = Integer.parseInt(console.arguments().getFirst());
        List<RdmaConnectionRequest> requests = new ArrayList<>();
        List<RdmaConnection> connections = new ArrayList<>();
        try (Peer self =
                Peer.open(
                        site,
                        console.folder(),
                        site.farSide(),
                        Peer.ALL,
                        rdma ->
                                rdma.setMaxConnections(2)
                                        .setConnectTimeout(Patience.LIMIT)
                                        .setConnectionRequestCallback(request -> {
                                            if (request.privateData().length != IGNORED_BYTES) {
                                                requests.add(request);
                                            }
                                        }))) {
            self.start();
            for (String step = console.read(); step != null; step = console.read()) {
                switch (step) {
                    case LISTEN -> self.rdma.listen(port);
                    case AWAIT_REQUEST -> Peer.drive("a request", () -> !requests.isEmpty(), self);
                    case ACCEPT -> connections.add(requests.removeFirst().accept(new byte[] {1}));
                    case ANSWER -> {
                        self.engine.progress();
                        self.engine.progress();
                    }
                    case CONNECT ->
                            connections.add(
                                    self.rdma.connect(
                                            near(site, console.folder(), port), new byte[] {2}));
                    case ESTABLISH ->
                            Peer.drive(
                                    "connected",
                                    () ->
                                            connections.getLast().state()
                                                            == RdmaConnection.State.CONNECTED
                                                    && self.rdma.state() == ContextState.RUNNING,
                                    self);
                    case RECEIVE -> receive(self);
                    default -> throw new IllegalArgumentException("no step: step=" + step);
                }
                console.print(DONE + step);
            }
        }
    }

    private static void receive(Peer self) {
        self.receive(self.room(0, MESSAGE_BYTES), 0);
        Peer.Outcome received = self.next();
        if (received.status() != Status.SUCCESS
                || received.length() != MESSAGE_BYTES
                || self.mismatch(0, MESSAGE_BYTES, MESSAGE_SEED) >= 0) {
            throw new IllegalStateException("another message: received=" + received);
        }
    }

    /** Address of the near side's listener. */
    private static RdmaAddress near(RdmaTestEnvironment site, Path folder, int port) {
        try (var machine = site.openMachine(folder, site.nearSide())) {
            return new RdmaAddress(
                    RdmaAddress.Type.IPV4,
                    machine.findDevice(site.device(site.nearSide())).ipv4(),
                    port);
        }
    }
}

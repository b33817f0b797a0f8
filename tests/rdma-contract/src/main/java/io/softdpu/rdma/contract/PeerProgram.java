package io.softdpu.rdma.contract;

import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import java.time.Duration;
import java.util.HexFormat;

/**
 * Far side of a test. Argument: {@link #ECHO} or {@link #NOTHING}. It prints the blobs of its
 * connection, its mmap and a sync event, reads the peer's blob, prints that it is connected, and
 * then does what the argument says until its input ends.
 */
final class PeerProgram {
    /** Progresses and sends every message back. */
    static final String ECHO = "echo";

    /** Revokes the memory; for a program that is otherwise idle. */
    static final String STOP_MMAP = "stop mmap";

    /** Disconnects in an orderly way; for a program that is otherwise idle. */
    static final String DISCONNECT = "disconnect";

    static final String DONE = "done ";

    /** Makes no calls but those it is told to make. */
    static final String NOTHING = "nothing";

    /** Of the bytes in its memory. */
    static final int SEED = 77;

    static final String CONNECTION = "connection ";
    static final String MMAP = "mmap ";
    static final String EVENT = "event ";
    static final String CONNECTED = "connected";

    private static final int RECEIVES = 64;
    private static final int SLOT_BYTES = 4096;
    private static final Duration SLEEP = Duration.ofMillis(10);

    private PeerProgram() {}

    /** Runs until its input ends, or the connection when it sends messages back. */
    static void run(Console console) throws Exception {
        RdmaTestEnvironment site = console.site();
        try (Peer self = Peer.open(site, console.folder(), site.farSide())) {
            self.fill(0, Peer.MEMORY_BYTES, SEED);
            self.start();
            RdmaConnection connection = self.rdma.exportConnection();
            console.print(CONNECTION, connection.blob());
            console.print(MMAP, self.mmap.exportRdma(self.device));
            console.print(EVENT, self.event().exportRdma(self.device));
            String blob = console.read();
            if (blob == null) {
                return;
            }
            self.rdma.connect(HexFormat.of().parseHex(blob), connection);
            Peer.drive(
                    "connection", () -> connection.state() == RdmaConnection.State.CONNECTED, self);
            if (console.arguments().getFirst().equals(ECHO)) {
                postAll(self);
                console.print(CONNECTED);
                echo(self, connection, console);
            } else {
                console.print(CONNECTED);
                obey(self, connection, console);
            }
        }
    }

    /** Does nothing but what is said. */
    private static void obey(Peer self, RdmaConnection connection, Console console)
            throws InterruptedException {
        for (String line = console.read(); line != null; line = console.read()) {
            switch (line) {
                case STOP_MMAP -> self.mmap.stop();
                case DISCONNECT -> {
                    connection.disconnect();
                    self.engine.progress();
                }
                default -> throw new IllegalArgumentException("no command: line=" + line);
            }
            console.print(DONE + line);
        }
    }

    private static void postAll(Peer self) {
        for (int i = 0; i < RECEIVES; i++) {
            post(self, i);
        }
    }

    private static void post(Peer self, long slot) {
        Status posted = self.receive(self.room(slot * SLOT_BYTES, SLOT_BYTES), slot);
        if (posted != Status.SUCCESS) {
            throw new AssertionError("receive not posted: " + posted);
        }
    }

    private static void echo(Peer self, RdmaConnection connection, Console console) {
        while (connection.state() == RdmaConnection.State.CONNECTED && !console.hasEnded()) {
            self.engine.await(SLEEP);
            while (!self.outcomes.isEmpty()
                    && connection.state() == RdmaConnection.State.CONNECTED) {
                Peer.Outcome outcome = self.outcomes.remove();
                long slot = outcome.userData();
                if (outcome.status() != Status.SUCCESS) {
                    continue; // the end of the connection, which ends the loop
                }
                if (outcome.kind().equals("receive")) {
                    self.send(connection, self.data(slot * SLOT_BYTES, outcome.length()), slot);
                } else {
                    post(self, slot);
                }
            }
        }
    }
}

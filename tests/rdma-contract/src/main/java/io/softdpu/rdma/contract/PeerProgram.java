package io.softdpu.rdma.contract;

import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;

/**
 * Far side of a test in a process of its own. Arguments: class of the test environment, folder,
 * command. It prints the blobs of its connection, its mmap and a sync event, reads the peer's blob
 * from standard input, prints that it is connected, and then executes the command until standard
 * input ends.
 */
public final class PeerProgram {
    /** Progresses and sends every message back. */
    static final String ECHO = "echo";

    /** Revokes the memory; for a program that is otherwise idle. */
    static final String STOP_MMAP = "stop mmap";

    /** Disconnects in an orderly way; for a program that is otherwise idle. */
    static final String DISCONNECT = "disconnect";

    static final String DONE = "done ";

    /** Makes no calls until it reads a command from standard input. */
    static final String NOTHING = "nothing";

    static final String CONNECTION = "connection ";
    static final String MMAP = "mmap ";
    static final String EVENT = "event ";
    static final String CONNECTED = "connected";

    private static final int RECEIVES = 64;
    private static final int SLOT_BYTES = 4096;
    private static final Duration SLEEP = Duration.ofMillis(10);

    private PeerProgram() {}

    /** Runs until standard input ends. */
    public static void main(String[] arguments) throws Exception {
        RdmaTestEnvironment site =
                Class.forName(arguments[0])
                        .asSubclass(RdmaTestEnvironment.class)
                        .getDeclaredConstructor()
                        .newInstance();
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream output = System.out;
        try (Peer self = Peer.open(site, Path.of(arguments[1]), site.farSide())) {
            self.fill(0, Peer.MEMORY_BYTES, 77);
            self.start();
            RdmaConnection connection = self.rdma.exportConnection();
            output.println(CONNECTION + HexFormat.of().formatHex(connection.blob()));
            output.println(MMAP + HexFormat.of().formatHex(self.mmap.exportRdma(self.device)));
            output.println(EVENT + HexFormat.of().formatHex(self.event().exportRdma(self.device)));
            output.flush();
            self.rdma.connect(HexFormat.of().parseHex(input.readLine()), connection);
            Peer.drive(
                    "connection", () -> connection.state() == RdmaConnection.State.CONNECTED, self);
            if (arguments[2].equals(ECHO)) {
                postAll(self);
                output.println(CONNECTED);
                output.flush();
                echo(self, connection, input);
            } else {
                output.println(CONNECTED);
                output.flush();
                String line;
                while ((line = input.readLine()) != null) { // nothing but what is said
                    if (line.equals(STOP_MMAP)) {
                        self.mmap.stop();
                    } else if (line.equals(DISCONNECT)) {
                        connection.disconnect();
                        self.engine.progress();
                    }
                    output.println(DONE + line);
                    output.flush();
                }
            }
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

    private static void echo(Peer self, RdmaConnection connection, BufferedReader input)
            throws IOException {
        while (connection.state() == RdmaConnection.State.CONNECTED) {
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
            if (input.ready() && input.readLine() == null) {
                return;
            }
        }
    }
}

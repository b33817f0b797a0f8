package io.softdpu.rdma.contract;

import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaConnection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * The far side of a test in a process of its own. Arguments: class of the site, folder, what to do.
 * It prints its connection's blob and its mmap's, reads the peer's blob from standard input, prints
 * that it is connected, and then does what it was told until standard input ends.
 */
public final class PeerProgram {
    /** Progresses and sends every message back. */
    static final String ECHO = "echo";

    /** Withdraws the memory; for a program that else does nothing. */
    static final String STOP_MMAP = "stop mmap";

    /** Ends the connection in good order; for a program that else does nothing. */
    static final String DISCONNECT = "disconnect";

    static final String DONE = "done ";

    /** Calls nothing at all, until a line of standard input says what to do. */
    static final String NOTHING = "nothing";

    static final String CONNECTION = "connection ";
    static final String MMAP = "mmap ";
    static final String CONNECTED = "connected";

    private static final int RECEIVES = 64;
    private static final int SLOT_BYTES = 4096;
    private static final long SLEEP_NANOS = 10_000_000;

    private PeerProgram() {}

    /** Runs until standard input ends. */
    public static void main(String[] arguments) throws Exception {
        RdmaSite site =
                Class.forName(arguments[0])
                        .asSubclass(RdmaSite.class)
                        .getDeclaredConstructor()
                        .newInstance();
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream output = System.out;
        try (Party self = Party.open(site, Path.of(arguments[1]), site.farSide())) {
            self.fill(0, Party.MEMORY_BYTES, 77);
            self.start();
            RdmaConnection connection = self.rdma.exportConnection();
            output.println(CONNECTION + HexFormat.of().formatHex(connection.blob()));
            output.println(MMAP + HexFormat.of().formatHex(self.mmap.exportRdma(self.device)));
            output.flush();
            self.rdma.connect(HexFormat.of().parseHex(input.readLine()), connection);
            Party.drive(
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

    private static void postAll(Party self) {
        for (int i = 0; i < RECEIVES; i++) {
            post(self, i);
        }
    }

    private static void post(Party self, long slot) {
        Status posted = self.receive(self.room(slot * SLOT_BYTES, SLOT_BYTES), slot);
        if (posted != Status.SUCCESS) {
            throw new AssertionError("receive not posted: " + posted);
        }
    }

    private static void echo(Party self, RdmaConnection connection, BufferedReader input)
            throws IOException {
        while (connection.state() == RdmaConnection.State.CONNECTED) {
            self.engine.await(SLEEP_NANOS);
            while (!self.outcomes.isEmpty()
                    && connection.state() == RdmaConnection.State.CONNECTED) {
                Party.Outcome outcome = self.outcomes.remove();
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

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Revocation of memory, disconnect, or death of the peer during an operation. */
@StartsProcesses
@Tag(Soak.TAG)
public abstract class RdmaRevocationContract extends RdmaContract {

    /** For subclasses. */
    protected RdmaRevocationContract() {}

    private enum Operation {
        READ(RdmaTaskType.READ),
        WRITE(RdmaTaskType.WRITE),
        WRITE_IMMEDIATE(RdmaTaskType.WRITE_IMMEDIATE),
        SEND(RdmaTaskType.SEND),
        SEND_IMMEDIATE(RdmaTaskType.SEND_IMMEDIATE);

        private final RdmaTaskType type;

        Operation(RdmaTaskType type) {
            this.type = type;
        }
    }

    /** Scenarios, one per row of the tables in {@code docs/wire/mmap-export.md}. */
    @SuppressWarnings("ImmutableEnumChecker") // a record of two of Status cannot change either
    private enum Way {
        MEMORY_WITHDRAWN(
                PeerProgram.STOP_MMAP,
                new Seen(Status.SHUTDOWN, Status.SHUTDOWN),
                Seen.NOTHING), // no memory of the peer's is in a send
        DISCONNECTED(
                PeerProgram.DISCONNECT,
                new Seen(Status.CONNECTION_RESET, Status.NOT_CONNECTED),
                new Seen(Status.CONNECTION_RESET, Status.NOT_CONNECTED)),
        PROCESS_KILLED(
                "kill",
                new Seen(Status.CONNECTION_RESET, Status.CONNECTION_RESET),
                new Seen(Status.CONNECTION_RESET, Status.NOT_CONNECTED));

        private final String line;
        private final Seen readOrWrite;
        private final Seen send;

        Way(String line, Seen readOrWrite, Seen send) {
            this.line = line;
            this.readOrWrite = readOrWrite;
            this.send = send;
        }

        Seen by(Operation operation) {
            return operation.type.isRemote() ? readOrWrite : send;
        }
    }

    /** Status of the operation in flight, and of the submission of the next one. */
    private record Seen(@Nullable Status inFlight, Status next) {
        /** The operation in flight continues, and the next one is accepted. */
        private static final Seen NOTHING = new Seen(null, Status.SUCCESS);
    }

    @Test
    void shouldEndWhatIsInFlightAndTheNextWithAStatusThatTellsWhatHappened(
            Processes processes, SeededRandom random) throws IOException {
        long began = System.nanoTime();
        int rounds = Soak.count(1, 1, 12);
        int rows = 0;
        for (int round = 0; round < rounds; round++) {
            for (Way way : Way.values()) {
                for (Operation operation : Operation.values()) {
                    run(way, operation, processes);
                    rows++;
                }
            }
        }
        Soak.report(
                "rdma-revocation",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                "rounds=%d, rows=%d".formatted(rounds, rows));
    }

    private void run(Way way, Operation operation, Processes processes) throws IOException {
        Peer near =
                Peer.open(
                        environment(),
                        folder(),
                        environment().nearSide(),
                        Peer.ALL,
                        rdma -> rdma.setMaxConnections(2)); // one failure does not end the context
        try (near) {
            near.start();
            RdmaConnection connection = near.rdma.exportConnection();
            ChildProcess peer =
                    processes.start(
                            JavaCommand.ofClass(PeerProgram.class)
                                    .withJvmOptions("-XX:TieredStopAtLevel=1")
                                    .withArguments(
                                            environment().getClass().getName(),
                                            folder().toString(),
                                            PeerProgram.NOTHING));
            near.rdma.connect(blob(peer, PeerProgram.CONNECTION), connection);
            tell(peer, HexFormat.of().formatHex(connection.blob()));
            Peer.drive(
                    "connection", () -> connection.state() == RdmaConnection.State.CONNECTED, near);
            peer.awaitLine("^" + PeerProgram.CONNECTED);
            Mmap memory = near.importRdma(blob(peer, PeerProgram.MMAP));

            assertThat(submit(operation, near, connection, memory)).isEqualTo(Status.SUCCESS);
            near.engine.progress();
            assertThat(near.outcomes).as("in the middle").isEmpty();
            if (way == Way.PROCESS_KILLED) {
                peer.kill();
                Await.until(
                        "the bus has noticed",
                        () -> // asked for another reason it would be NOT_SUPPORTED
                        Refusals.statusOf(() -> memory.exportRdma(near.device))
                                        == Status.CONNECTION_RESET);
            } else {
                tell(peer, way.line);
                peer.awaitLine("^" + PeerProgram.DONE + way.line);
            }

            Seen expected = way.by(operation);
            if (expected.inFlight() == null) {
                requireGoingOn(near, connection, way + ", " + operation + " in flight");
            } else {
                Peer.drive("the end", () -> !near.outcomes.isEmpty(), near);
                assertThat(near.outcomes.remove().status())
                        .as("%s, %s in flight", way, operation)
                        .isEqualTo(expected.inFlight());
                Peer.drive("the connection has ended", () -> hasEnded(connection), near);
            }
            assertThat(submit(operation, near, connection, memory))
                    .as("%s, %s afterwards", way, operation)
                    .isEqualTo(expected.next());
            peer.close();
        }
    }

    /** The peer has confirmed its action, so the result is visible. */
    private static void requireGoingOn(Peer near, RdmaConnection connection, String what) {
        for (int i = 0; i < 1000; i++) {
            near.engine.progress();
        }
        assertThat(near.outcomes).as(what).isEmpty();
        assertThat(connection.state()).as(what).isEqualTo(RdmaConnection.State.CONNECTED);
    }

    private static boolean hasEnded(RdmaConnection connection) {
        return connection.state() == RdmaConnection.State.FAILED
                || connection.state() == RdmaConnection.State.DISCONNECTED;
    }

    /** A read or write of many slices; a send that finds no receive. */
    private static Status submit(
            Operation operation, Peer near, RdmaConnection connection, Mmap memory) {
        RdmaTaskType type = operation.type;
        long size = type.isRemote() ? Peer.MEMORY_BYTES : 64;
        return Submissions.submit(
                type,
                near,
                connection,
                Submissions.local(type, near, near.mmap, 0, size),
                type.isRemote() ? Submissions.remote(type, near, memory, 0, size) : null,
                1);
    }

    private static void tell(ChildProcess process, String line) throws IOException {
        process.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        process.standardInput().flush();
    }

    private static byte[] blob(ChildProcess process, String prefix) {
        String line = process.awaitLine("^" + prefix);
        return HexFormat.of().parseHex(line.substring(prefix.length()));
    }
}

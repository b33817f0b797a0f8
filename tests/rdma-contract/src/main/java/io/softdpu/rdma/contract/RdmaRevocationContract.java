package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Mmap;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Revocation of memory, disconnect, or death of the peer during an operation. */
@Tag(Soak.TAG)
public abstract class RdmaRevocationContract extends RdmaProgramContract {

    /** For subclasses. */
    protected RdmaRevocationContract() {}

    private enum Operation {
        READ(BufTaskType.READ),
        WRITE(BufTaskType.WRITE),
        WRITE_IMMEDIATE(BufTaskType.WRITE_IMMEDIATE),
        SEND(BufTaskType.SEND),
        SEND_IMMEDIATE(BufTaskType.SEND_IMMEDIATE);

        private final BufTaskType type;

        Operation(BufTaskType type) {
            this.type = type;
        }
    }

    /** Scenarios, one per row of the tables in {@code docs/wire/mmap-export.md}. */
    private enum Way {
        MEMORY_WITHDRAWN(PeerProgram.STOP_MMAP),
        DISCONNECTED(PeerProgram.DISCONNECT),
        PROCESS_KILLED("kill");

        private final String line;

        Way(String line) {
            this.line = line;
        }
    }

    /** Status of the operation in flight, and of the submission of the next one. */
    private record Seen(@Nullable Status inFlight, Status next) {
        /** The operation in flight continues, and the next one is accepted. */
        private static final Seen NOTHING = new Seen(null, Status.SUCCESS);
    }

    private Seen expected(Way way, Operation operation) {
        boolean remote = operation.type.isRemote();
        return switch (way) {
            case MEMORY_WITHDRAWN ->
                    remote
                            ? new Seen(
                                    statusOfWithdrawn(),
                                    has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)
                                            ? Status.SHUTDOWN
                                            : Status.NOT_CONNECTED)
                            : Seen.NOTHING; // no memory of the peer's is in a send
            case DISCONNECTED -> new Seen(Status.CONNECTION_RESET, Status.NOT_CONNECTED);
            case PROCESS_KILLED ->
                    new Seen(
                            Status.CONNECTION_RESET,
                            remote && has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)
                                    ? Status.CONNECTION_RESET
                                    : Status.NOT_CONNECTED);
        };
    }

    @Test
    void shouldEndWhatIsInFlightAndTheNextWithAStatusThatTellsWhatHappened(
            Processes processes, SeededRandom random) {
        long began = System.nanoTime();
        int rounds = Soak.count(1, 1, 12);
        int rows = 0;
        for (int round = 0; round < rounds; round++) {
            for (Way way : Way.values()) {
                rows += run(way, processes);
            }
        }
        Soak.report(
                "rdma-revocation",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format("rounds=%d, rows=%d", rounds, rows));
    }

    /** Operation in flight between two peers of its own. */
    private record Row(
            Operation operation,
            Peer near,
            FarProgram far,
            RdmaConnection connection,
            Mmap memory) {}

    /** All operations at once, with a process of their own where it is killed. */
    private int run(Way way, Processes processes) {
        List<Row> rows = new ArrayList<>();
        assertAll(
                () -> openAndEnd(way, processes, rows),
                () -> assertAll(rows.stream().<Executable>map(row -> row.near()::close)),
                () -> rows.forEach(row -> row.far().process().endPrograms()));
        return rows.size();
    }

    private void openAndEnd(Way way, Processes processes, List<Row> rows) {
        @Nullable FarProcess killed = way == Way.PROCESS_KILLED ? startProcess(processes) : null;
        for (Operation operation : Operation.values()) {
            rows.add(open(operation, killed));
        }
        environment().hold();
        rows.forEach(RdmaRevocationContract::begin);
        if (killed != null) {
            killed.kill();
        } else {
            rows.forEach(row -> row.far().tell(way.line));
            rows.forEach(row -> row.far().awaitLine(PeerProgram.DONE + way.line));
        }
        environment().release();
        if (killed != null && has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)) {
            rows.forEach(RdmaRevocationContract::awaitDeath);
        }
        assertAll(rows.stream().<Executable>map(row -> () -> assertSeen(way, row)));
    }

    private Row open(Operation operation, @Nullable FarProcess process) {
        Peer near =
                Peer.open(
                        environment(),
                        folder(),
                        environment().nearSide(),
                        Peer.ALL,
                        // One failure does not end the context, and the send stays in flight.
                        rdma ->
                                rdma.setMaxConnections(2)
                                        .setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED));
        FarProgram far =
                process == null
                        ? run(Program.PEER, PeerProgram.NOTHING)
                        : runIn(process, Program.PEER, PeerProgram.NOTHING);
        RdmaConnection connection = connectTo(near, far, PeerProgram.CONNECTED);
        Mmap memory = near.importRdma(far.awaitBytes(PeerProgram.MMAP));
        return new Row(operation, near, far, connection, memory);
    }

    private static void begin(Row row) {
        assertThat(submit(row)).as("%s", row.operation()).isEqualTo(Status.SUCCESS);
        row.near().engine.progress();
        assertThat(row.near().outcomes).as("%s, in the middle", row.operation()).isEmpty();
    }

    private static void awaitDeath(Row row) {
        Await.until(
                "the bus has noticed", () -> isReset(row.near(), row.connection(), row.memory()));
    }

    private void assertSeen(Way way, Row row) {
        String what = way + ", " + row.operation();
        Peer near = row.near();
        RdmaConnection connection = row.connection();
        Seen expected = expected(way, row.operation());
        if (expected.inFlight() == null) {
            requireGoingOn(near, connection, what + " in flight");
        } else {
            Peer.drive("the end", () -> !near.outcomes.isEmpty(), near);
            assertThat(near.outcomes.remove().status())
                    .as("%s in flight", what)
                    .isEqualTo(expected.inFlight());
            Peer.drive("the connection has ended", () -> hasEnded(connection), near);
        }
        assertThat(submit(row)).as("%s afterwards", what).isEqualTo(expected.next());
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
    private static Status submit(Row row) {
        BufTaskType type = row.operation().type;
        Peer near = row.near();
        long size = type.isRemote() ? Peer.MEMORY_BYTES : 64;
        return Submissions.submit(
                type,
                near,
                row.connection(),
                Submissions.local(type, near, near.mmap, 0, size),
                type.isRemote() ? Submissions.remote(type, near, row.memory(), 0, size) : null,
                1);
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections between two processes, one of which may be frozen or killed. */
public abstract class RdmaProcessContract extends RdmaProgramContract {

    /** For subclasses. */
    protected RdmaProcessContract() {}

    /** Program of the other process, the connection to it, and its memory. */
    private record Remote(FarProgram program, RdmaConnection connection, Mmap memory) {}

    @Smoke
    @Test
    @Clause("rdma-005")
    void shouldExchangeMessagesWithAnotherProcess() {
        Peer near = openNear();
        Remote far = connect(near, PeerProgram.ECHO);
        for (int i = 0; i < 2000; i++) {
            near.fill(0, 64, i);
            near.receive(near.room(4096, 64), i);
            near.send(far.connection(), near.data(0, 64), i);
            Peer.drive("echo", () -> near.outcomes.size() == 2, near);
            assertThat(near.outcomes).allMatch(outcome -> outcome.status() == Status.SUCCESS);
            near.outcomes.clear();
            assertThat(near.mismatch(4096, 64, i)).isEqualTo(-1);
        }
        near.stop();
        far.program().awaitEnd();
    }

    @Test
    @Clause({"rdma-002", "core-086", "core-088"})
    void shouldReadAndWriteWhileThePeersProcessStandsStill() {
        Peer near = openNear();
        Remote far = connect(near, PeerProgram.NOTHING);

        near.read(
                far.connection(),
                near.inventory.bufByData(far.memory(), 0, 100_000),
                near.room(0, 100_000),
                1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 100_000, 77)).isEqualTo(-1);

        near.fill(0, 5000, 3);
        near.write(
                far.connection(),
                near.data(0, 5000),
                near.inventory.bufByAddress(far.memory(), 8192, 5000),
                2);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        near.read(
                far.connection(),
                near.inventory.bufByData(far.memory(), 8192, 5000),
                near.room(1_000_000, 5000),
                3);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(1_000_000, 5000, 3)).isEqualTo(-1);
    }

    @Test
    void shouldNotReachAThirdProcessesMemoryThroughAConnection() {
        Peer near = openNear();
        Remote far = connect(near, PeerProgram.NOTHING);
        Peer third = openFar();
        Mmap remote = near.importRdma(third);
        third.fill(0, 64, 9);

        Status submitted =
                near.read(
                        far.connection(),
                        near.inventory.bufByData(remote, 0, 64),
                        near.room(0, 64),
                        1);

        Status ended = submitted == Status.SUCCESS ? near.next().status() : submitted;
        assertThat(ended).isNotEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 64, 9)).isNotEqualTo(-1);
    }

    /** Process ids are reused, so they do not distinguish the two. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"rdma-021", "rdma-025"})
    void shouldNotReachAThirdMachinesMemoryThoughItIsInTheProcessOfThePeer(boolean read) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer third = openFar();
        Mmap remote = near.importRdma(third);
        third.fill(0, 64, 9);

        Status submitted =
                read
                        ? near.read(
                                pair.toFar(),
                                near.inventory.bufByData(remote, 0, 64),
                                near.room(0, 64),
                                1)
                        : near.write(
                                pair.toFar(),
                                near.data(64, 64),
                                near.inventory.bufByAddress(remote, 0, 64),
                                2);

        Status ended = submitted == Status.SUCCESS ? near.next(pair.far()).status() : submitted;
        assertThat(ended).isNotEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 64, 9)).isNotEqualTo(-1);
        assertThat(third.mismatch(0, 64, 9)).isEqualTo(-1);
    }

    @Test
    void shouldKeepASendWaitingForAPeerThatIsFrozen() {
        Peer near = openPatientNear();
        Remote far = connect(near, PeerProgram.ECHO);
        far.program().process().freeze();
        near.receive(near.room(4096, 64), 1);
        near.send(far.connection(), near.data(0, 64), 2);
        if (!has(RdmaTrait.FROZEN_PEER_IS_SLOW)) {
            Peer.drive("the failure", () -> near.rdma.state() == ContextState.IDLE, near);
            assertThat(near.outcomes).noneMatch(outcome -> outcome.status() == Status.SUCCESS);
            return;
        }
        for (int i = 0; i < 1000; i++) {
            near.engine.progress();
        }
        assertThat(near.outcomes).isEmpty();

        far.program().process().thaw();
        Peer.drive("echo", () -> near.outcomes.size() == 2, near);
        assertThat(near.outcomes).allMatch(outcome -> outcome.status() == Status.SUCCESS);
    }

    @Smoke
    @Test
    void shouldEndAWaitWithConnectionResetWhenThePeerIsKilled(Processes processes) {
        Peer near = openNear();
        Remote far = connectToOwn(near, processes);
        near.receive(near.room(0, 64), 1);
        boolean[] killed = new boolean[1];
        assertThatThrownBy(() ->
                        near.engine.runUntil(
                                () -> {
                                    if (!killed[0]) { // the program is in its wait
                                        killed[0] = true;
                                        far.program().process().kill();
                                    }
                                    return false;
                                },
                                Patience.LIMIT,
                                near.rdma))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_RESET));
    }

    @Test
    @Clause({"rdma-069", "rdma-083", "rdma-195"})
    void shouldFailEverythingInFlightWhenThePeerIsKilled(Processes processes) {
        Peer near = openPatientNear();
        Remote far = connectToOwn(near, processes);
        for (int i = 0; i < 300; i++) {
            near.send(far.connection(), near.data(0, 64), i);
        }
        near.receive(near.room(0, 64), 300);
        near.read(
                far.connection(),
                near.inventory.bufByData(far.memory(), 0, 64),
                near.room(0, 64),
                301);
        for (BufTaskType type :
                new BufTaskType[] {
                    BufTaskType.SEND_IMMEDIATE,
                    BufTaskType.WRITE_IMMEDIATE,
                    BufTaskType.COMPARE_AND_SWAP,
                    BufTaskType.FETCH_AND_ADD
                }) {
            Status submitted =
                    Submissions.submit(
                            type,
                            near,
                            far.connection(),
                            Submissions.local(type, near, near.mmap, 0, 64),
                            type.isRemote()
                                    ? Submissions.remote(type, near, far.memory(), 0, 64)
                                    : null,
                            302);
            assertThat(submitted).as("%s", type).isEqualTo(Status.SUCCESS);
        }
        near.engine.progress();
        assertThat(near.rdma.inFlightTasks()).isEqualTo(306);

        far.program().process().kill();
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near);

        assertThat(near.states).endsWith(ContextState.STOPPING, ContextState.IDLE);
        assertThat(near.outcomes).hasSize(306);
        assertThat(near.outcomes)
                .filteredOn(outcome -> !outcome.kind().equals("receive"))
                .allMatch(outcome -> outcome.status() == Status.CONNECTION_RESET);
        assertThat(far.connection().state()).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(far.connection().failure()).isEqualTo(Status.CONNECTION_RESET);
    }

    @Test
    void shouldNoticeThePeersDeathWhileItSleepsAndRefuseItsMemoryAfterwards(Processes processes) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Remote far = connectToOwn(near, processes);

        far.program().process().kill();
        Await.byStep(
                "the failure",
                () -> far.connection().state() == RdmaConnection.State.FAILED,
                near::sleep);

        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        Status submitted =
                near.read(
                        far.connection(),
                        near.inventory.bufByData(far.memory(), 0, 64),
                        near.room(0, 64),
                        0);
        // The connection has ended before, by what the provider has noticed.
        assertThat(submitted)
                .isEqualTo(
                        has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)
                                ? Status.CONNECTION_RESET
                                : Status.NOT_CONNECTED);
    }

    @Test
    void shouldFailToConnectToAPeerThatHasGone(Processes processes) {
        Peer near = openNear();
        near.start();
        RdmaConnection connection = near.rdma.exportConnection();
        FarProgram gone = runIn(startProcess(processes), Program.PEER, PeerProgram.NOTHING);
        byte[] blob = gone.awaitBytes(PeerProgram.CONNECTION);
        gone.process().kill();

        near.rdma.connect(blob, connection);
        Peer.drive("the failure", () -> near.rdma.state() == ContextState.IDLE, near);

        assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
        if (has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)) {
            assertThat(connection.failure()).isEqualTo(Status.NOT_FOUND);
        } else { // this side may be the one that waits for the other
            assertThat(connection.failure()).isIn(Status.NOT_FOUND, Status.TIME_OUT);
        }
    }

    @Test
    @Clause("rdma-038")
    void shouldWaitForTheMachineOfAFrozenPeerNoLongerThanWasSet() {
        Peer patient = openConfigured(rdma -> rdma.setConnectTimeout(Patience.LIMIT));
        Peer hasty = openConfigured(rdma -> rdma.setConnectTimeout(Duration.ofNanos(1)));
        FarProgram frozen = run(Program.PEER, PeerProgram.NOTHING);
        byte[] blob = frozen.awaitBytes(PeerProgram.CONNECTION);
        frozen.process().freeze();
        patient.start();
        hasty.start();
        RdmaConnection waiting = patient.rdma.exportConnection();
        RdmaConnection failing = hasty.rdma.exportConnection();

        patient.rdma.connect(blob, waiting);
        hasty.rdma.connect(blob, failing);

        Peer.drive("the failure", () -> hasty.rdma.state() == ContextState.IDLE, hasty);
        assertThat(failing.failure()).isEqualTo(Status.TIME_OUT);
        patient.engine.progress();
        assertThat(waiting.state()).isEqualTo(RdmaConnection.State.CONNECTING);
    }

    private Remote connect(Peer near, String task) {
        return connect(near, run(Program.PEER, task));
    }

    /** Connects to a process that the test may kill. */
    private Remote connectToOwn(Peer near, Processes processes) {
        return connect(near, runIn(startProcess(processes), Program.PEER, PeerProgram.NOTHING));
    }

    private static Remote connect(Peer near, FarProgram program) {
        RdmaConnection connection = connectTo(near, program, PeerProgram.CONNECTED);
        Mmap memory = near.importRdma(program.awaitBytes(PeerProgram.MMAP));
        return new Remote(program, connection, memory);
    }
}

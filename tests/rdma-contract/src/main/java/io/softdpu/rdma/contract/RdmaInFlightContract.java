package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.FarProcess.FarProgram;
import io.softdpu.rdma.contract.ProgramProcess.Program;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Processes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/**
 * One operation in flight, with nothing before it, while the peer's process is killed, or stopped
 * and continued. Copies of several slices are half done then.
 */
public abstract class RdmaInFlightContract extends RdmaProgramContract {

    private static final int NEAR_SEED = 5;

    /** Of many slices. */
    private static final long LARGE = 1 << 20;

    private static final long SMALL = 64;

    // Places in the memory of the near side.
    private static final long SOURCE = 0;
    private static final long ROOM = 2 << 20;

    // Places in the memory of the far side, whose first bytes are those of its receives.
    private static final long READ_FROM = 1 << 20; // where the bytes are those from 0
    private static final long WRITTEN_TO = 2 << 20;

    /** Place of values in the memory of both sides. */
    private static final long WORD = 3 << 20;

    private static final long OF_EVENT = 41;

    /** For subclasses. */
    protected RdmaInFlightContract() {}

    /** Operations, and how far each is when something happens to the peer. */
    enum InFlight {
        SEND_IMMEDIATE(true, false),
        SEND_LIST(true, false),
        READ_LIST(false, true),
        WRITE_LIST(false, true),
        WRITE_IMMEDIATE(true, true),
        WRITE_IMMEDIATE_LIST(true, true),
        /** All of its data is written, and the message waits for a receive. */
        WRITE_IMMEDIATE_WRITTEN(true, false),
        COMPARE_AND_SWAP(false, false),
        FETCH_AND_ADD(false, false),
        EVENT_GET(false, false),
        EVENT_SET(false, false),
        EVENT_ADD(false, false);

        /** Whether it needs calls of the peer to be completed. */
        private final boolean needsPeer;

        /** Whether one pass of an engine does a part of it. */
        private final boolean sliced;

        InFlight(boolean needsPeer, boolean sliced) {
            this.needsPeer = needsPeer;
            this.sliced = sliced;
        }

        /** Whether it is done in one step, which the peer's program has no part in. */
        private boolean isOneStep() {
            return !needsPeer && !sliced;
        }
    }

    /** Program of the other process, the connection to it, its memory and its event. */
    private record Remote(
            FarProgram program, RdmaConnection connection, Mmap memory, RemoteSyncEvent event) {}

    /** An operation between two peers of its own. */
    private record Attempt(InFlight operation, Peer near, Remote far) {}

    /**
     * Each operation has a connection of its own; all of them are to the process that is killed.
     */
    @Test
    void shouldFailWithAResetUnlessItWasDoneWhenThePeerIsKilled(Processes processes) {
        FarProcess process = startProcess(processes);
        List<Attempt> attempts = new ArrayList<>();
        for (InFlight operation : InFlight.values()) {
            Peer near = openPatientWithLists();
            Remote far = connect(near, runIn(process, Program.PEER, PeerProgram.NOTHING));
            attempts.add(new Attempt(operation, near, far));
        }
        for (Attempt attempt : attempts) { // the others stay in flight by themselves
            if (!attempt.operation().sliced) {
                begin(attempt);
            }
        }
        environment().hold();
        for (Attempt attempt : attempts) {
            if (attempt.operation().sliced) {
                begin(attempt);
            }
        }

        process.kill();
        environment().release();
        assertAll(attempts.stream().<Executable>map(attempt -> () -> assertReset(attempt)));
    }

    private static void begin(Attempt attempt) {
        InFlight operation = attempt.operation();
        assertThat(submit(operation, attempt.near(), attempt.far()))
                .as("%s", operation)
                .isEqualTo(Status.SUCCESS);
        if (!operation.isOneStep()) {
            attempt.near().engine.progress();
        }
        assertThat(attempt.near().outcomes).as("%s, in the middle", operation).isEmpty();
    }

    /** A message without a receive stays in flight, however slow the machine is. */
    private Peer openPatientWithLists() {
        return openConfigured(rdma ->
                rdma.setMaxSendBufferListLength(2).setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED));
    }

    private void assertReset(Attempt attempt) {
        Peer near = attempt.near();
        Remote far = attempt.far();
        String what = attempt.operation().toString();
        if (has(RdmaTrait.DEATH_IS_NOTICED_AT_ONCE)) {
            Await.until("the bus has noticed: " + what, () -> isRefused(near, far));
        }
        Peer.drive("the end: " + what, () -> near.rdma.state() == ContextState.IDLE, near);

        boolean done =
                attempt.operation().isOneStep()
                        && has(RdmaTrait.OPERATION_IS_EXECUTED_AT_SUBMISSION);
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .as(what)
                .containsExactly(done ? Status.SUCCESS : Status.CONNECTION_RESET);
        assertThat(far.connection().state()).as(what).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(far.connection().failure()).as(what).isEqualTo(Status.CONNECTION_RESET);
    }

    /**
     * Whether the end of the process has reached both the memory and the event, of which each has a
     * link of its own. Until then both tasks are refused for another reason, without an effect.
     */
    private static boolean isRefused(Peer near, Remote far) {
        Buf tooLong = near.room(ROOM, 8);
        tooLong.chain(near.room(ROOM, 8));
        tooLong.chain(near.room(ROOM, 8));
        return near.getEvent(far.connection(), far.event(), tooLong, 2) == Status.CONNECTION_RESET
                && isReset(near, far.connection(), far.memory());
    }

    /** Operations on memory go on; a message waits until the process is continued. */
    @Test
    void shouldSucceedAlthoughThePeerIsStoppedAndContinued() {
        Peer near = openPatientWithLists();
        Remote far = connect(near, run(Program.PEER, PeerProgram.ECHO));
        FarProcess process = far.program().process();
        for (InFlight operation : InFlight.values()) {
            prepare(near, far);
            if (operation.sliced) {
                environment().hold();
            } else {
                process.freeze();
            }
            assertThat(submit(operation, near, far)).as("%s", operation).isEqualTo(Status.SUCCESS);
            if (operation.sliced) {
                near.engine.progress();
                assertThat(near.outcomes).as("%s, in the middle", operation).isEmpty();
                process.freeze();
                environment().release();
            }
            if (!has(RdmaTrait.FROZEN_PEER_IS_SLOW)) {
                Peer.drive("the failure", () -> near.rdma.state() == ContextState.IDLE, near);
                assertThat(near.outcomes).noneMatch(it -> it.status() == Status.SUCCESS);
                return;
            }
            if (operation.needsPeer) {
                for (int i = 0; i < 1000; i++) {
                    near.engine.progress();
                }
                assertThat(near.outcomes).as("%s, stopped", operation).isEmpty();
                process.thaw();
                assertThat(near.next().status()).as("%s", operation).isEqualTo(Status.SUCCESS);
            } else {
                assertThat(near.next().status()).as("%s", operation).isEqualTo(Status.SUCCESS);
                process.thaw();
            }
            assertDone(operation, near, far);
        }
        near.stop();
        far.program().awaitEnd();
    }

    /** Gives all that an operation may modify the values that {@link #assertDone} expects. */
    private static void prepare(Peer near, Remote far) {
        near.setWord(WORD, 0);
        near.write(
                far.connection(),
                near.data(WORD, 8),
                near.inventory.bufByAddress(far.memory(), WORD, 8),
                0);
        near.fill(ROOM, LARGE, NEAR_SEED + 1);
        near.write(
                far.connection(),
                near.data(ROOM, LARGE),
                near.inventory.bufByAddress(far.memory(), WRITTEN_TO, LARGE),
                0);
        near.setWord(WORD + 8, OF_EVENT);
        near.setEvent(far.connection(), far.event(), near.data(WORD + 8, 8), 0);
        for (int i = 0; i < 3; i++) {
            assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        }
        near.fill(SOURCE, LARGE, NEAR_SEED);
    }

    private static Status submit(InFlight operation, Peer near, Remote far) {
        return switch (operation) {
            case SEND_IMMEDIATE -> message(BufTaskType.SEND_IMMEDIATE, near, far);
            case SEND_LIST -> message(BufTaskType.SEND, near, far);
            case READ_LIST -> copy(BufTaskType.READ, true, LARGE, near, far);
            case WRITE_LIST -> copy(BufTaskType.WRITE, true, LARGE, near, far);
            case WRITE_IMMEDIATE -> copy(BufTaskType.WRITE_IMMEDIATE, false, LARGE, near, far);
            case WRITE_IMMEDIATE_LIST -> copy(BufTaskType.WRITE_IMMEDIATE, true, LARGE, near, far);
            case WRITE_IMMEDIATE_WRITTEN ->
                    copy(BufTaskType.WRITE_IMMEDIATE, false, SMALL, near, far);
            case COMPARE_AND_SWAP -> atomic(BufTaskType.COMPARE_AND_SWAP, near, far);
            case FETCH_AND_ADD -> atomic(BufTaskType.FETCH_AND_ADD, near, far);
            case EVENT_GET -> near.getEvent(far.connection(), far.event(), near.room(ROOM, 8), 1);
            case EVENT_SET -> near.setEvent(far.connection(), far.event(), near.data(SOURCE, 8), 1);
            case EVENT_ADD ->
                    near.addEvent(far.connection(), far.event(), near.room(ROOM, 8), 1, 1);
        };
    }

    private static Status message(BufTaskType type, Peer near, Remote far) {
        Buf source = list(type, near, SOURCE, SMALL, true);
        return Submissions.submit(type, near, far.connection(), source, null, 1);
    }

    private static Status atomic(BufTaskType type, Peer near, Remote far) {
        Buf there = near.inventory.bufByData(far.memory(), WORD, 8);
        return Submissions.submit(type, near, far.connection(), near.room(ROOM, 8), there, 1);
    }

    private static Status copy(
            BufTaskType type, boolean several, long length, Peer near, Remote far) {
        boolean read = type == BufTaskType.READ;
        Buf here = list(type, near, read ? ROOM : SOURCE, length, several);
        long at = read ? READ_FROM : WRITTEN_TO;
        Buf there = Submissions.remote(type, near, far.memory(), at, length);
        return Submissions.submit(type, near, far.connection(), here, there, 1);
    }

    /** A range as one buf, or as a list of two that are one behind the other. */
    private static Buf list(
            BufTaskType type, Peer near, long offset, long length, boolean several) {
        long first = several ? length / 4 : length;
        Buf head = Submissions.local(type, near, near.mmap, offset, first);
        if (several) {
            head.chain(Submissions.local(type, near, near.mmap, offset + first, length - first));
        }
        return head;
    }

    private static void assertDone(InFlight operation, Peer near, Remote far) {
        String what = operation.toString();
        switch (operation) {
            case SEND_IMMEDIATE -> {}
            case SEND_LIST -> { // sent back
                near.receive(near.room(ROOM, SMALL), 2);
                assertThat(near.next().length()).as(what).isEqualTo(SMALL);
                assertThat(near.mismatch(ROOM, SMALL, NEAR_SEED)).as(what).isEqualTo(-1);
            }
            case READ_LIST ->
                    assertThat(near.mismatch(ROOM, LARGE, PeerProgram.SEED)).as(what).isEqualTo(-1);
            case WRITE_LIST, WRITE_IMMEDIATE, WRITE_IMMEDIATE_LIST, WRITE_IMMEDIATE_WRITTEN -> {
                long length = operation.sliced ? LARGE : SMALL;
                readBack(near, far, WRITTEN_TO, length);
                assertThat(near.mismatch(ROOM, length, NEAR_SEED)).as(what).isEqualTo(-1);
            }
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> {
                assertThat(near.word(ROOM)).as(what).isZero();
                readBack(near, far, WORD, 8);
                assertThat(near.word(ROOM)).as(what).isEqualTo(Submissions.OPERAND);
            }
            case EVENT_GET -> assertThat(near.word(ROOM)).as(what).isEqualTo(OF_EVENT);
            case EVENT_SET -> assertEvent(near, far, near.word(SOURCE));
            case EVENT_ADD -> {
                assertThat(near.word(ROOM)).as(what).isEqualTo(OF_EVENT);
                assertEvent(near, far, OF_EVENT + 1);
            }
        }
    }

    private static void readBack(Peer near, Remote far, long offset, long length) {
        near.read(
                far.connection(),
                near.inventory.bufByData(far.memory(), offset, length),
                near.room(ROOM, length),
                3);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
    }

    private static void assertEvent(Peer near, Remote far, long value) {
        near.getEvent(far.connection(), far.event(), near.room(ROOM, 8), 3);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(near.word(ROOM)).isEqualTo(value);
    }

    private static Remote connect(Peer near, FarProgram program) {
        RdmaConnection connection = connectTo(near, program, PeerProgram.CONNECTED);
        Mmap memory = near.importRdma(program.awaitBytes(PeerProgram.MMAP));
        RemoteSyncEvent event = near.remoteEvent(program.awaitBytes(PeerProgram.EVENT));
        return new Remote(program, connection, memory, event);
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Meaning of a completion: what a success promises, and what a failure leaves behind. */
public abstract class RdmaCompletionContract extends RdmaContract {
    // Words at the begin of the memory of each side.
    private static final long NEAR_WORD = 7;
    private static final long FAR_WORD = 0; // which a compare and swap expects

    /** For subclasses. */
    protected RdmaCompletionContract() {}

    // ---- success ----

    /** A sanitizer holds the callbacks of the far side back, as its program could be slow. */
    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"SEND", "SEND_IMMEDIATE"})
    @Clause({"rdma-082", "rdma-094"})
    void shouldCompleteASendBeforeTheProgramOfThePeerHasTheMessage(
            BufTaskType type, SeededRandom random) {
        Peer near = openNear();
        Peer far;
        try (Sanitizer _ = Sanitizer.startForThread(random.nextLong())) {
            far = openFar();
        }
        Pair pair = connect(near, far);
        boolean[] before = {false};
        Await.byStep(
                "a send completes before the callback of its receive",
                () -> before[0],
                () -> {
                    far.receive(far.room(0, 64), 1);
                    Submissions.submit(type, near, pair.toFar(), near.data(0, 64), null, 2);
                    Peer.drive("the send", () -> !near.outcomes.isEmpty(), near, far);
                    assertThat(near.outcomes.remove().status()).isEqualTo(Status.SUCCESS);
                    before[0] = far.outcomes.isEmpty();
                    assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
                });
    }

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "WRITE_IMMEDIATE"})
    @Clause("rdma-054")
    void shouldShowALargeTransferHalfDone(BufTaskType type) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        long size = Peer.MEMORY_BYTES;
        Mmap remote = near.importRdma(far);
        Peer target = type == BufTaskType.READ ? near : far;
        (type == BufTaskType.READ ? far : near).bytes.fill((byte) 1);
        boolean[] halfDone = {false};
        Await.byStep(
                "the owner sees old and new bytes at a time",
                () -> halfDone[0],
                () -> {
                    target.bytes.fill((byte) 2);
                    if (type == BufTaskType.WRITE_IMMEDIATE) {
                        far.receive(null, 1);
                    }
                    Submissions.submit(
                            type,
                            near,
                            pair.toFar(),
                            Submissions.local(type, near, near.mmap, 0, size),
                            Submissions.remote(type, near, remote, 0, size),
                            2);
                    halfDone[0] = isSeenHalfDone(pair, target);
                    if (has(RdmaTrait.PROGRESS_EXECUTES_ONE_SLICE)) {
                        assertThat(halfDone[0]).as("it has seen both, of each transfer").isTrue();
                    }
                    assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
                    assertThat(has(target, (byte) 2)).isFalse();
                });
    }

    /** Progresses until the task has ended; returns whether old and new bytes were seen before. */
    private static boolean isSeenHalfDone(Pair pair, Peer target) {
        boolean[] halfDone = {false};
        Await.byStep(
                "the transfer",
                () -> !pair.near().outcomes.isEmpty(),
                () -> {
                    pair.near().engine.progress();
                    pair.far().engine.progress();
                    halfDone[0] |= has(target, (byte) 1) && has(target, (byte) 2);
                });
        return halfDone[0];
    }

    private static boolean has(Peer peer, byte value) {
        for (long at = 0; at < Peer.MEMORY_BYTES; at += 512) {
            if (peer.bytes.get(ValueLayout.JAVA_BYTE, at) == value) {
                return true;
            }
        }
        return false;
    }

    // ---- failure ----

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "WRITE_IMMEDIATE"})
    @Clause({"rdma-108", "rdma-119", "rdma-132"})
    void shouldTellTheErrorAndLeaveEachByteOldOrNewWhileTheInstanceGoesOn(BufTaskType type) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Pair pair = connect(near, openFar());
        Peer far = pair.far();
        long size = Peer.MEMORY_BYTES / 2;
        Mmap remote = near.importRdma(far);
        Peer target = type == BufTaskType.READ ? near : far;
        (type == BufTaskType.READ ? far : near).fill(0, size, 1);
        target.fill(0, Peer.MEMORY_BYTES, 2);
        Buf local = Submissions.local(type, near, near.mmap, 0, size);
        Buf there = Submissions.remote(type, near, remote, 0, size);
        local.retain();
        there.retain();
        environment().hold();
        assertThat(Submissions.submit(type, near, pair.toFar(), local, there, 3))
                .isEqualTo(Status.SUCCESS);
        near.engine.progress();
        far.mmap.stop();
        environment().release();

        Peer.Outcome outcome = near.next(far);
        assertThat(outcome.status()).isEqualTo(statusOfWithdrawn());
        assertThat(outcome.userData()).isEqualTo(3);
        Peer.drive("the end", () -> pair.toFar().state() == RdmaConnection.State.FAILED, near, far);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        Buf destination = type == BufTaskType.READ ? local : there;
        assertThat(destination.dataLength()).as("does not grow").isZero();
        local.release();
        there.release();
        for (long i = 0; i < size; i++) {
            byte found = target.bytes.get(ValueLayout.JAVA_BYTE, i);
            if (found != Peer.pattern(1, i) && found != Peer.pattern(2, i)) {
                throw new AssertionError("neither old nor new: offset=" + i);
            }
        }
        for (long i = size; i < Peer.MEMORY_BYTES; i++) {
            if (target.bytes.get(ValueLayout.JAVA_BYTE, i) != Peer.pattern(2, i)) {
                throw new AssertionError("changed beside it: offset=" + i);
            }
        }
    }

    // ---- submitted, and ended before progress ----

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void shouldTellWhetherItWasDoneWhenItWasSubmittedAndThenStopped(BufTaskType type) {
        Pair pair = connected();
        submitOnWord(type, pair);
        assertThat(isDone(type, pair))
                .isEqualTo(has(RdmaTrait.OPERATION_IS_EXECUTED_AT_SUBMISSION));
        assertThat(pair.near().outcomes).as("without progress").isEmpty();
        pair.near().rdma.stop();
        assertTold(type, pair);
        assertThat(pair.near().rdma.failure()).isNull();
    }

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void shouldTellWhetherItWasDoneWhenItWasSubmittedAndThenDisconnected(BufTaskType type) {
        Pair pair = connected();
        submitOnWord(type, pair);
        pair.toFar().disconnect();
        assertThat(isDone(type, pair))
                .isEqualTo(has(RdmaTrait.OPERATION_IS_EXECUTED_AT_SUBMISSION));
        assertTold(type, pair);
        assertThat(pair.near().rdma.state()).isEqualTo(ContextState.RUNNING);
    }

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void shouldNotDoWhatIsSubmittedAfterADisconnect(BufTaskType type) {
        Pair pair = connected();
        pair.toFar().disconnect();
        submitOnWord(type, pair);
        assertTold(type, pair);
        assertThat(isDone(type, pair)).isFalse();
    }

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void shouldNotDoWhatIsBehindAMessageThatWaits(BufTaskType type) {
        Pair pair = connected();
        pair.near().send(pair.toFar(), null, 1); // without a receive
        submitOnWord(type, pair);
        assertThat(isDone(type, pair)).isFalse();
        pair.near().rdma.stop();
        assertThat(pair.near().next(pair.far()).status()).isEqualTo(Status.CONNECTION_ABORTED);
        assertTold(type, pair);
        assertThat(isDone(type, pair)).isFalse();
    }

    /** Submits an operation after which a word of the one side or the other is another. */
    private static void submitOnWord(BufTaskType type, Pair pair) {
        Peer near = pair.near();
        near.setWord(0, NEAR_WORD);
        pair.far().setWord(0, FAR_WORD);
        Mmap remote = near.importRdma(pair.far());
        Status submitted =
                Submissions.submit(
                        type,
                        near,
                        pair.toFar(),
                        Submissions.local(type, near, near.mmap, 0, 8),
                        Submissions.remote(type, near, remote, 0, 8),
                        2);
        assertThat(submitted).isEqualTo(Status.SUCCESS);
    }

    private static boolean isDone(BufTaskType type, Pair pair) {
        return type == BufTaskType.READ
                ? pair.near().word(0) != NEAR_WORD
                : pair.far().word(0) != FAR_WORD;
    }

    /** Asserts that its status tells whether it was done. */
    private static void assertTold(BufTaskType type, Pair pair) {
        Peer.Outcome outcome = pair.near().next(pair.far());
        assertThat(outcome.userData()).isEqualTo(2);
        assertThat(outcome.status())
                .isEqualTo(isDone(type, pair) ? Status.SUCCESS : Status.CONNECTION_ABORTED);
    }

    // ---- events ----

    @Test
    @Clause("rdma-177")
    void shouldHaveNoEventsButThoseOfEveryContext() {
        Pair pair = connected();
        Peer near = pair.near();
        pair.far().receive(null, 1);
        near.send(pair.toFar(), null, 2);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        near.stop();
        near.engine.progress();
        assertThat(near.states)
                .as("state changes")
                .containsExactly(
                        ContextState.STARTING,
                        ContextState.RUNNING,
                        ContextState.STOPPING,
                        ContextState.IDLE);
        assertThat(near.outcomes).as("completions of tasks, and nothing else").isEmpty();
        assertThat(near.connectionStates)
                .as("state changes of the connection")
                .containsExactly(
                        RdmaConnection.State.CONNECTING,
                        RdmaConnection.State.CONNECTED,
                        RdmaConnection.State.DISCONNECTED);
    }
}

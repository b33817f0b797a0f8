package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of connections and tasks and their results on both sides, for all providers. */
public abstract class RdmaFailureContract extends RdmaContract {

    /** For subclasses. */
    protected RdmaFailureContract() {}

    // ---- a message that does not fit ----

    @ParameterizedTest
    @ValueSource(ints = {65, 4096, 50_000})
    @Clause({"rdma-069", "rdma-083", "rdma-195"})
    void shouldEndBothSidesWhenAMessageDoesNotFitItsReceive(int sizeBytes) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        far.receive(far.room(0, 64), 1);
        far.receive(far.room(64, 64), 2);
        far.receive(far.room(128, 64), 3);
        near.send(pair.toFar(), near.data(0, 64), 1);
        near.send(pair.toFar(), near.data(0, sizeBytes), 2);
        near.send(pair.toFar(), near.data(0, 64), 3);

        Peer.drive(
                "both are idle",
                () ->
                        near.rdma.state() == ContextState.IDLE
                                && far.rdma.state() == ContextState.IDLE,
                near,
                far);

        assertThat(far.outcomes)
                .extracting(Peer.Outcome::status)
                .containsExactly(Status.SUCCESS, Status.TOO_BIG, Status.CONNECTION_ABORTED);
        assertThat(far.outcomes)
                .as("a length only after success")
                .extracting(Peer.Outcome::length)
                .containsExactly(64L, 0L, 0L);
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .containsExactly(Status.SUCCESS, Status.IO_FAILED, Status.CONNECTION_ABORTED);
        assertFailed(pair.toNear(), Status.TOO_BIG);
        assertFailed(pair.toFar(), Status.IO_FAILED);
        near.engine.progress();
        assertThat(near.states)
                .containsExactly(
                        ContextState.STARTING,
                        ContextState.RUNNING,
                        ContextState.STOPPING,
                        ContextState.IDLE);
        assertThat(near.rdma.failure())
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED));
    }

    @Test
    void shouldFailForAnEmptyReceiveToo() {
        Pair pair = connected();
        pair.far().receive(null, 1);
        pair.near().send(pair.toFar(), pair.near().data(0, 1), 2);

        assertThat(pair.far().next(pair.near()).status()).isEqualTo(Status.TOO_BIG);
        assertThat(pair.near().next(pair.far()).status()).isEqualTo(Status.IO_FAILED);
    }

    @Test
    @Clause({"rdma-070", "rdma-084"})
    void shouldLoseOnlyTheConnectionThatFailedWhereThereMayBeSeveral() {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma -> rdma.setMaxConnections(2)));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setMaxConnections(2)));
        Pair pair = connect(near, far);
        RdmaConnection[] second = Peer.connectMore(near, far);
        far.receive(far.room(0, 8), 1);
        near.send(pair.toFar(), near.data(0, 9), 2);
        assertThat(far.next(near).status()).isEqualTo(Status.TOO_BIG);
        assertThat(near.next(far).status()).isEqualTo(Status.IO_FAILED);
        assertFailed(pair.toFar(), Status.IO_FAILED);

        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(near.send(pair.toFar(), near.data(0, 8), 0)).isEqualTo(Status.NOT_CONNECTED);
        far.receive(far.room(0, 8), 3);
        near.send(second[0], near.data(0, 8), 4);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
    }

    /** The ends of a connection that an instance for several survives. */
    enum Loss {
        TOO_LONG(Status.IO_FAILED, Status.CONNECTION_ABORTED),
        NO_RECEIVE(Status.IO_FAILED, Status.CONNECTION_ABORTED),
        OWN_DISCONNECT(Status.CONNECTION_ABORTED, Status.CONNECTION_ABORTED),
        DISCONNECT_OF_THE_PEER(Status.CONNECTION_RESET, Status.CONNECTION_RESET);

        private final Status first;
        private final Status behind;

        Loss(Status first, Status behind) {
            this.first = first;
            this.behind = behind;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Clause("rdma-084")
    void shouldTellByItsStatusWhyEachSendFailedWhileTheInstanceGoesOn(Loss loss) {
        Peer near =
                openConfigured(rdma -> {
                    rdma.setMaxConnections(2);
                    if (loss != Loss.NO_RECEIVE) {
                        rdma.setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
                    }
                });
        Pair pair = connect(near, openFarWithShortTimer());
        if (loss == Loss.TOO_LONG) {
            pair.far().receive(null, 1);
        }
        near.send(pair.toFar(), near.data(0, 8), 1);
        near.send(pair.toFar(), near.data(0, 8), 2);
        if (loss == Loss.OWN_DISCONNECT) {
            pair.toFar().disconnect();
        } else if (loss == Loss.DISCONNECT_OF_THE_PEER) {
            pair.toNear().disconnect();
        }

        assertThat(near.next(pair.far()))
                .isEqualTo(new Peer.Outcome("send", loss.first, -1, 1, pair.toFar()));
        assertThat(near.next(pair.far()))
                .isEqualTo(new Peer.Outcome("send", loss.behind, -1, 2, pair.toFar()));
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
    }

    /** Errors of tasks that end an instance for one connection. */
    enum Fatal {
        SEND_TOO_LONG,
        SEND_WITHOUT_RECEIVE,
        READ,
        WRITE;

        private boolean isOfMemory() {
            return this == READ || this == WRITE;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-083", "rdma-107", "rdma-118"})
    @Clause("rdma-111")
    void shouldStopAfterAFatalErrorOnceTheUserHasFreedTheTask(Fatal error) {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setSendTasks(1, succeeded::add, failed::add);
                    rdma.setReadTasks(1, succeeded::add, failed::add);
                    rdma.setWriteTasks(1, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFarWithShortTimer());
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        long most = Peer.MEMORY_BYTES; // of many slices
        Buf here = error == Fatal.READ ? near.room(0, most) : near.data(0, most);
        Buf there =
                error == Fatal.READ
                        ? near.inventory.bufByData(remote, 0, most)
                        : near.inventory.bufByAddress(remote, 0, most);
        if (error == Fatal.SEND_TOO_LONG) {
            far.receive(null, 1);
        }
        Task task =
                switch (error) {
                    case SEND_TOO_LONG, SEND_WITHOUT_RECEIVE ->
                            near.rdma.allocateSend(pair.toFar(), here);
                    case READ -> near.rdma.allocateRead(pair.toFar(), there, here);
                    case WRITE -> near.rdma.allocateWrite(pair.toFar(), here, there);
                };
        environment().hold();
        task.submit();
        near.engine.progress();
        if (error.isOfMemory()) {
            far.mmap.stop();
        }
        environment().release();

        Peer.drive("the end of the task", () -> failed.size() + succeeded.size() > 0, near, far);
        for (int i = 0; i < 100; i++) {
            near.engine.progress();
        }
        assertThat(failed).containsExactly(task);
        assertThat(succeeded).isEmpty();
        assertThat(task.status())
                .isEqualTo(error.isOfMemory() ? statusOfWithdrawn() : Status.IO_FAILED);
        assertThat(near.rdma.state()).as("not freed").isEqualTo(ContextState.STOPPING);
        task.free();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        here.release();
        there.release();
    }

    // ---- no receive at the peer ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 6})
    @Clause({"rdma-057", "rdma-263"})
    void shouldFailASendWithoutReceiveOnceTheRetriesAreUsedUp(int retries) {
        Pair pair = connect(openNearWithRetries(retries), openFarWithShortTimer());
        Peer near = pair.near();
        near.send(pair.toFar(), near.data(0, 64), 1);

        assertThat(near.next(pair.far()).status()).isEqualTo(Status.IO_FAILED);
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
        assertFailed(pair.toFar(), Status.IO_FAILED);
    }

    /** The receiver's timer is short here; that it ends by default is shown with all defaults. */
    @ParameterizedTest
    @EnumSource(names = {"SEND", "SEND_IMMEDIATE", "WRITE_IMMEDIATE"})
    @Clause({"rdma-255", "rdma-263", "rdma-270"})
    void shouldFailFatallyWithoutAReceiveByDefault(BufTaskType type) {
        Pair pair = connect(openNear(), openFarWithShortTimer());
        Peer near = pair.near();
        Peer far = pair.far();
        Buf remote =
                type == BufTaskType.WRITE_IMMEDIATE
                        ? Submissions.remote(type, near, near.importRdma(far), 0, 64)
                        : null;
        assertThat(Submissions.submit(type, near, pair.toFar(), near.data(0, 64), remote, 1))
                .isEqualTo(Status.SUCCESS);

        assertThat(near.next(far).status()).isEqualTo(Status.IO_FAILED);
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, far);
        assertThat(near.states).endsWith(ContextState.STOPPING, ContextState.IDLE);
        assertThat(pair.toFar().failureReason()).contains("the retries are exhausted");
        assertThat(near.rdma.failure()).hasMessageContaining("the retries are exhausted");
    }

    @ParameterizedTest
    @EnumSource(names = {"SEND", "SEND_IMMEDIATE", "WRITE_IMMEDIATE"})
    @Clause({"rdma-255", "rdma-263", "rdma-270"})
    void shouldUseAReceiveThatIsPostedWhileAMessageWaits(BufTaskType type) {
        Peer near = openNear();
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setRnrTimer(Duration.ofMillis(655))));
        Pair pair = connect(near, far);
        for (int i = 0; i < 3; i++) { // the known limit is used up each time
            Buf remote =
                    type == BufTaskType.WRITE_IMMEDIATE
                            ? Submissions.remote(type, near, near.importRdma(far), 0, 64)
                            : null;
            Status submitted =
                    Submissions.submit(type, near, pair.toFar(), near.data(0, 64), remote, 1);
            assertThat(submitted).isEqualTo(Status.SUCCESS);
            boolean again;
            do {
                again = near.engine.progress();
                again |= far.engine.progress();
            } while (again);
            near.engine.requestNotification();
            far.receive(far.room(0, 64), 2);
            if (has(RdmaTrait.RECEIVE_IS_USED_AT_ONCE)) {
                // Shorter than the timer, in case that nothing but the timer wakes it.
                assertThat(near.engine.awaitNotification(Duration.ofMillis(100)))
                        .as("woken by the receive")
                        .isTrue();
            }
            near.engine.clearNotification();
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
            assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        }
    }

    /** As above, by a receive that a callback posts. */
    @Test
    void shouldUseAReceiveThatACallbackPostsWhileAMessageWaits() {
        List<Task> received = new ArrayList<>();
        Peer near = openNear();
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> {
                                    rdma.setRnrTimer(Duration.ofMillis(655));
                                    rdma.setReceiveTasks(
                                            1,
                                            task -> {
                                                received.add(task);
                                                task.submit();
                                            },
                                            task -> task.free());
                                }));
        Pair pair = connect(near, far);
        far.rdma.allocateReceive(null).submit();
        near.send(pair.toFar(), null, 1);
        near.send(pair.toFar(), null, 2); // waits for the receive that completes the first
        while (near.engine.progress()) {}
        near.engine.requestNotification();
        while (far.engine.progress()) {}
        if (has(RdmaTrait.RECEIVE_IS_USED_AT_ONCE)) {
            assertThat(near.engine.awaitNotification(Duration.ofMillis(100)))
                    .as("woken by the receive")
                    .isTrue();
        }
        near.engine.clearNotification();
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        Peer.drive("the callbacks", () -> received.size() == 2, near, far);
    }

    /** A retry takes the timer of the peer or longer, so that two of the default are left. */
    @Test
    void shouldSendToAReceiverThatIsLateByMostOfTheRetries() {
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setRnrTimer(Duration.ofMillis(20))));
        Pair pair = connect(openNear(), far);
        Peer near = pair.near();
        long lateNanos = (Rdma.DEFAULT_RNR_RETRIES - 2) * far.rdma.rnrTimer().toNanos();
        long begin = System.nanoTime();
        near.send(pair.toFar(), near.data(0, 64), 1);
        long left = lateNanos;
        while (near.outcomes.isEmpty() && left > 0) { // a retry may wake it, or nothing
            near.engine.await(Duration.ofNanos(left));
            left = begin + lateNanos - System.nanoTime();
        }
        assertThat(near.outcomes).isEmpty();

        far.receive(far.room(0, 64), 2);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 64, 50_000})
    @Clause("rdma-263")
    void shouldFailTheSendThatFindsNoReceiveLeft(int sizeBytes) {
        Pair pair = connect(openNearWithRetries(1), openFarWithShortTimer());
        Peer near = pair.near();
        Peer far = pair.far();
        far.receive(far.room(0, 50_000), 1);
        far.receive(far.room(50_000, 50_000), 2);
        for (int i = 0; i < 2; i++) {
            near.send(pair.toFar(), near.data(0, sizeBytes), i);
            assertThat(near.next(far).status()).as("send %d", i).isEqualTo(Status.SUCCESS);
        }
        near.send(pair.toFar(), near.data(0, sizeBytes), 2);
        near.send(pair.toFar(), near.data(0, sizeBytes), 3);
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, far);
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .containsExactly(Status.IO_FAILED, Status.CONNECTION_ABORTED);
        assertThat(near.rdma.failure())
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.IO_FAILED));
        assertFailed(pair.toFar(), Status.IO_FAILED);
    }

    @Test
    @Clause("rdma-263")
    void shouldFailASendWhoseReceiveAnotherConnectionHasTaken() {
        Peer near = openConfigured(rdma -> rdma.setRnrRetries(1).setMaxConnections(2));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setMaxConnections(2)
                                                .setRnrTimer(Duration.ofNanos(10_000))));
        Pair pair = connect(near, far);
        RdmaConnection second = Peer.connectMore(near, far)[0];
        far.receive(null, 1);
        near.send(pair.toFar(), null, 1);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);

        near.send(second, null, 2);
        assertThat(near.next(far).status()).isEqualTo(Status.IO_FAILED);
        assertFailed(second, Status.IO_FAILED);
    }

    /** Only retries may wake the engine. */
    @Test
    void shouldLetTheEngineSleepBetweenTheRetries() {
        int retries = 6;
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setRnrTimer(Duration.ofNanos(1_280_000))));
        Pair pair = connect(openNearWithRetries(retries), far);
        Peer near = pair.near();
        near.send(pair.toFar(), near.data(0, 64), 1);
        int notifications = 0;
        while (near.outcomes.isEmpty()) {
            near.engine.requestNotification();
            assertThat(near.engine.awaitNotification(Patience.LIMIT)).isTrue();
            near.engine.clearNotification();
            notifications++;
            while (near.engine.progress()) {}
        }
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.IO_FAILED);
        assertThat(notifications).isBetween(1, 2 * retries);
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 6})
    @Clause("rdma-074")
    void shouldSendWithoutRetriesWhereReceivesAreThere(int retries) {
        Pair pair = connect(openNearWithRetries(retries), openFar());
        Peer near = pair.near();
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 100; i++) {
                pair.far().receive(pair.far().room(i * 64L, 64), i);
            }
            for (int i = 0; i < 100; i++) {
                assertThat(near.send(pair.toFar(), near.data(0, 64), i)).isEqualTo(Status.SUCCESS);
            }
            for (int i = 0; i < 100; i++) {
                assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
            }
        }
        Peer.drive("each receive", () -> pair.far().outcomes.size() >= 500, near, pair.far());
        assertThat(pair.far().outcomes).hasSize(500);
    }

    @Test
    @Clause("rdma-074")
    void shouldSendWithoutRetriesToAReceiveThatACallbackHasSubmitted() {
        List<Task> received = new ArrayList<>();
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setReceiveTasks(
                                                1,
                                                task -> {
                                                    received.add(task);
                                                    task.submit();
                                                },
                                                task -> task.free())));
        Pair pair = connect(openNearWithRetries(0), far);
        far.rdma.allocateReceive(null).submit();
        for (int i = 1; i <= 5; i++) {
            int sends = i;
            pair.near().send(pair.toFar(), null, i);
            assertThat(pair.near().next(far).status()).isEqualTo(Status.SUCCESS);
            Peer.drive("the callback", () -> received.size() == sends, pair.near(), far);
        }
    }

    private Peer openNearWithRetries(int retries) {
        return openConfigured(rdma -> rdma.setRnrRetries(retries));
    }

    // ---- remote memory that is revoked ----

    @ParameterizedTest
    @EnumSource(
            value = BufTaskType.class,
            names = {"READ", "WRITE", "WRITE_IMMEDIATE", "COMPARE_AND_SWAP", "FETCH_AND_ADD"})
    void shouldRefuseRemoteMemoryThatWasRevoked(BufTaskType type) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        near.fill(0, Peer.MEMORY_BYTES, 1);
        pair.far().fill(0, Peer.MEMORY_BYTES, 2);
        pair.far().setWord(0, 0); // what the compare and swap expects
        MemorySegment here = MemorySegment.ofArray(near.bytes.toArray(ValueLayout.JAVA_BYTE));
        MemorySegment there =
                MemorySegment.ofArray(pair.far().bytes.toArray(ValueLayout.JAVA_BYTE));
        pair.far().mmap.stop();

        assertWithdrawn(
                Submissions.submit(
                        type,
                        near,
                        pair.toFar(),
                        type == BufTaskType.WRITE || type == BufTaskType.WRITE_IMMEDIATE
                                ? near.data(0, 64)
                                : near.room(0, 64),
                        Submissions.remote(type, near, remote, 0, 64),
                        0),
                near,
                pair.far());
        for (int i = 0; i < 4; i++) { // also for one that was queued in spite of its refusal
            near.engine.progress();
            pair.far().engine.progress();
        }
        if (has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)) {
            assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        }
        assertThat(near.bytes.mismatch(here)).isEqualTo(-1);
        assertThat(pair.far().bytes.mismatch(there)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"rdma-107", "rdma-118"})
    void shouldFailWhatIsInFlightWhenItsRemoteMemoryIsRevoked(boolean read) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        long most = Peer.MEMORY_BYTES; // of many slices
        environment().hold();
        Status first =
                read
                        ? near.read(
                                pair.toFar(),
                                near.inventory.bufByData(remote, 0, most),
                                near.room(0, most),
                                1)
                        : near.write(
                                pair.toFar(),
                                near.data(0, most),
                                near.inventory.bufByAddress(remote, 0, most),
                                1);
        assertThat(first).isEqualTo(Status.SUCCESS);
        near.send(pair.toFar(), null, 2);
        near.engine.progress();
        pair.far().mmap.stop();
        environment().release();

        Status expected = statusOfWithdrawn();
        assertThat(near.next(pair.far()))
                .isEqualTo(new Peer.Outcome(read ? "read" : "write", expected, 0, 1, pair.toFar()));
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.CONNECTION_ABORTED);
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
        assertFailed(pair.toFar(), expected);
    }

    private static void assertFailed(RdmaConnection connection, Status status) {
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
        assertThat(connection.failure()).isEqualTo(status);
        assertThat(connection.failureReason()).isNotEmpty();
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaFetchAndAddTask;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compare and swap, fetch and add, for all providers. */
public abstract class RdmaAtomicContract extends RdmaContract {
    private static final long WORD = 64;

    /** For subclasses. */
    protected RdmaAtomicContract() {}

    /** The two operations. */
    enum Operation {
        COMPARE_AND_SWAP(BufTaskType.COMPARE_AND_SWAP),
        FETCH_AND_ADD(BufTaskType.FETCH_AND_ADD);

        final BufTaskType type;

        Operation(BufTaskType type) {
            this.type = type;
        }
    }

    // ---- results ----

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "0, 1",
        "1, -1",
        "-1, 1",
        "9223372036854775807, 1",
        "-9223372036854775808, -1",
        "81985529216486895, 1147797409030816545"
    })
    @Clause({"rdma-143", "rdma-147", "rdma-148"})
    void shouldAddAndReturnTheValueBefore(long before, long added) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(0, 100, 1);
        far.fill(0, 256, 2);
        far.setWord(WORD, before);
        Buf there = near.inventory.bufByData(remote, WORD, 8);
        Buf result = near.inventory.bufByArgs(near.mmap, 0, 100, 3, 20);
        there.retain();
        result.retain();
        assertThat(near.fetchAndAdd(pair.toFar(), there, result, added, 5))
                .isEqualTo(Status.SUCCESS);
        assertThat(near.outcomes).as("without progress").isEmpty();

        assertThat(near.next())
                .isEqualTo(new Peer.Outcome("fetch and add", Status.SUCCESS, 28, 5, pair.toFar()));
        assertThat(far.word(WORD)).isEqualTo(before + added);
        assertThat(near.word(23)).as("appended").isEqualTo(before);
        assertThat(there.dataLength()).as("as it was").isEqualTo(8);
        assertThat(result.dataLength()).isEqualTo(28);
        assertThat(near.mismatch(0, 23, 1)).as("before the result").isEqualTo(-1);
        assertThat(near.bytes.get(ValueLayout.JAVA_BYTE, 31))
                .as("behind the result")
                .isEqualTo(Peer.pattern(1, 31));
        assertThat(far.mismatch(0, WORD, 2)).as("before the word").isEqualTo(-1);
        for (long i = WORD + 8; i < 256; i++) {
            assertThat(far.bytes.get(ValueLayout.JAVA_BYTE, i))
                    .as("behind the word")
                    .isEqualTo(Peer.pattern(2, i));
        }
        there.release();
        result.release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Clause({"rdma-138", "rdma-139", "rdma-140"})
    @Clause({"rdma-134", "rdma-141"})
    void shouldSwapIfEqualAndReturnTheValueBefore(boolean equal) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        long before = 0x8123_4567_89ab_cdefL;
        long compared = equal ? before : before ^ 1L << 63;
        long swapped = 0xfedc_ba98_7654_3210L;
        far.fill(0, 256, 2);
        far.setWord(WORD, before);
        Buf result = near.room(0, 8);
        assertThat(
                        near.compareAndSwap(
                                pair.toFar(),
                                near.inventory.bufByAddress(remote, WORD, 8),
                                result,
                                compared,
                                swapped,
                                5))
                .isEqualTo(Status.SUCCESS);

        assertThat(near.next())
                .isEqualTo(
                        new Peer.Outcome("compare and swap", Status.SUCCESS, 8, 5, pair.toFar()));
        assertThat(far.word(WORD)).isEqualTo(equal ? swapped : before);
        assertThat(near.word(0)).isEqualTo(before);
        assertThat(far.mismatch(0, WORD, 2)).isEqualTo(-1);
    }

    @Test
    @Clause("rdma-138")
    void shouldUseTheOperandsThatWereSetLast() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Buf there = near.inventory.bufByData(near.importRdma(far), WORD, 8);
        Buf here = near.room(0, 64);
        var swap = near.rdma.allocateCompareAndSwap(pair.toFar(), there, here, 1, 2);
        assertThat(swap.compareData()).isEqualTo(1);
        assertThat(swap.swapData()).isEqualTo(2);
        swap.setCompareData(7).setSwapData(8);
        far.setWord(WORD, 7);
        there.retain();
        here.retain();
        swap.submit();
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(far.word(WORD)).isEqualTo(8);
        RdmaFetchAndAddTask add = near.rdma.allocateFetchAndAdd(pair.toFar(), there, here, 1);
        assertThat(add.addData()).isEqualTo(1);
        add.setAddData(-8).submit();
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(far.word(WORD)).isZero();
    }

    @Test
    @Clause("rdma-002")
    void shouldExecuteManyInTheOrderOfSubmissionAmongOtherTasks() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        far.setWord(WORD, 100);
        near.setWord(1000, 500);
        for (int i = 0; i < 50; i++) {
            near.fetchAndAdd(
                    pair.toFar(),
                    near.inventory.bufByData(remote, WORD, 8),
                    near.room(8L * i, 8),
                    1,
                    i);
        }
        near.write(
                pair.toFar(), near.data(1000, 8), near.inventory.bufByAddress(remote, WORD, 8), 50);
        near.compareAndSwap(
                pair.toFar(),
                near.inventory.bufByData(remote, WORD, 8),
                near.room(400, 8),
                500,
                501,
                51);
        near.read(pair.toFar(), near.inventory.bufByData(remote, WORD, 8), near.room(408, 8), 52);
        for (int i = 0; i <= 52; i++) {
            Peer.Outcome outcome = near.next();
            assertThat(outcome.userData()).isEqualTo(i);
            assertThat(outcome.status()).isEqualTo(Status.SUCCESS);
        }
        for (int i = 0; i < 50; i++) {
            assertThat(near.word(8L * i)).isEqualTo(100 + i);
        }
        assertThat(near.word(400)).isEqualTo(500);
        assertThat(near.word(408)).isEqualTo(501);
    }

    @Test
    void shouldAddOverEachOfSeveralConnections(SeededRandom random) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(4));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setMaxConnections(4)));
        near.start();
        far.start();
        List<RdmaConnection> connections = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            connections.add(Peer.connectMore(near, far)[0]);
        }
        Mmap remote = near.importRdma(far);
        far.setWord(WORD, 0);
        long sum = 0;
        for (int round = 0; round < 100; round++) {
            for (RdmaConnection connection : connections) {
                long added = random.nextLong();
                sum += added;
                near.fetchAndAdd(
                        connection,
                        near.inventory.bufByData(remote, WORD, 8),
                        near.room(0, 8),
                        added,
                        0);
            }
            Peer.drive("a round", () -> near.outcomes.size() == 4, near);
            near.outcomes.clear();
        }
        assertThat(far.word(WORD)).isEqualTo(sum);
    }

    // ---- bounds ----

    @ParameterizedTest
    @EnumSource
    void shouldNeedEightAlignedBytesAndRoomForTheResult(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        pair.far().fill(0, 4096, 3);
        near.fill(0, 4096, 4);
        for (long offset = 1; offset < 8; offset++) {
            assertRefused(operation, pair, remote, offset, 16, 8);
        }
        for (long length = 0; length < 8; length++) {
            assertRefused(operation, pair, remote, 8, length, 8);
        }
        for (long room = 0; room < 8; room++) {
            assertRefused(operation, pair, remote, 8, 8, room);
        }
        long last = Peer.MEMORY_BYTES - 8;
        assertThat(submit(operation, pair, remote, last, 8, 8)).isEqualTo(Status.SUCCESS);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.far().mismatch(0, 4096, 3)).isEqualTo(-1);
        assertThat(near.mismatch(0, 4096, 4)).as("the result is behind").isEqualTo(-1);
    }

    private static void assertRefused(
            Operation operation, Pair pair, Mmap remote, long offset, long length, long room) {
        assertThat(submit(operation, pair, remote, offset, length, room))
                .as("offset %d, length %d, room %d", offset, length, room)
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(pair.near().rdma.inFlightTasks()).isZero();
    }

    private static Status submit(
            Operation operation, Pair pair, Mmap remote, long offset, long length, long room) {
        Peer near = pair.near();
        return Submissions.submit(
                operation.type,
                near,
                pair.toFar(),
                near.room(8192, room),
                near.inventory.bufByAddress(remote, offset, length),
                1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeNoListsAndTellWhatIsWrong(Operation operation) {
        Peer near = openConfigured(rdma -> rdma.setMaxSendBufferListLength(4));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        Buf list = near.room(0, 8);
        list.chain(near.room(8, 8));
        assertThat(
                        Submissions.submit(
                                operation.type,
                                near,
                                pair.toFar(),
                                list,
                                near.inventory.bufByData(remote, 0, 8),
                                1))
                .isEqualTo(Status.INVALID_VALUE);
        Buf there = near.inventory.bufByData(remote, 4, 16);
        Buf here = near.room(0, 8);
        Task task =
                operation == Operation.FETCH_AND_ADD
                        ? near.rdma.allocateFetchAndAdd(pair.toFar(), there, here, 1)
                        : near.rdma.allocateCompareAndSwap(pair.toFar(), there, here, 1, 2);
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(Objects.requireNonNull(task.refusal()))
                .hasMessageContainingAll(
                        "address of an atomic operation is not aligned: destination=buf[",
                        "dataOffsetBytes=4",
                        "expected=a data offset that is a multiple of 8");
        task.free();
        there.release();
        here.release();
    }

    // ---- failures ----

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-142", "rdma-149"})
    void shouldStopTheContextAlsoWithSeveralConnections(Operation operation) {
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setMaxConnections(2).setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
                    rdma.setCompareAndSwapTasks(1, task -> {}, failed::add);
                    rdma.setFetchAndAddTasks(1, task -> {}, failed::add);
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        pair.far().setWord(0, 0);
        Buf there = near.inventory.bufByData(remote, 0, 8);
        Buf here = near.room(0, 8);
        near.send(pair.toFar(), null, 1); // without a receive; the atomic is behind it
        assertThat(Submissions.submit(operation.type, near, pair.toFar(), here, there, 1))
                .isEqualTo(Status.SUCCESS);
        near.engine.progress();
        pair.toNear().disconnect();

        Peer.drive("the failure", () -> !failed.isEmpty(), near, pair.far());
        near.engine.progress();
        assertThat(failed.getFirst().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(near.rdma.state()).as("not freed").isEqualTo(ContextState.STOPPING);
        assertThat(near.rdma.failure())
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_RESET))
                .hasMessageContaining(
                        "the peer disconnected while an atomic operation was in flight:"
                                + " connection=")
                .hasMessageContaining(
                        ", status=CONNECTION_RESET, expected=a disconnect after its completion;"
                                + " start the instance and connect again");
        failed.getFirst().free();
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near);
        here.release();
        there.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-142", "rdma-149"})
    void shouldStopTheContextWhenTheMemoryIsWithdrawn(Operation operation) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        pair.far().setWord(0, 0);
        near.send(pair.toFar(), null, 1); // without a receive; the atomic waits behind it
        assertThat(submit(operation, pair, remote, 0, 8, 8)).isEqualTo(Status.SUCCESS);
        pair.far().mmap.stop();
        pair.far().receive(null, 2);

        Peer.drive("both", () -> near.outcomes.size() == 2, near, pair.far());
        assertThat(near.outcomes.getLast().status()).isEqualTo(statusOfWithdrawn());
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
        assertThat(pair.toFar().failure()).isEqualTo(statusOfWithdrawn());
        if (has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)) {
            assertThat(pair.toFar().failureReason())
                    .startsWith("exporter has revoked the memory: mmap=");
        }
        assertThat(near.states).endsWith(ContextState.STOPPING, ContextState.IDLE);
        assertThat(pair.far().word(0)).as("not executed").isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldGoOnWhenItIsFlushedByADisconnectOfThisSide(Operation operation) {
        Peer near =
                openConfigured(rdma ->
                        rdma.setMaxConnections(2).setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        near.send(pair.toFar(), null, 1); // without a receive
        assertThat(submit(operation, pair, remote, 0, 8, 8)).isEqualTo(Status.SUCCESS);
        pair.toFar().disconnect();
        Peer.drive("both", () -> near.outcomes.size() == 2, near, pair.far());
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .containsOnly(Status.CONNECTION_ABORTED);
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(near.rdma.failure()).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeFlushedByAStopWithoutAFailure(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        near.send(pair.toFar(), null, 1); // without a receive; the atomic waits behind it
        assertThat(submit(operation, pair, remote, 0, 8, 8)).isEqualTo(Status.SUCCESS);
        near.stop();
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .containsExactly(Status.CONNECTION_ABORTED, Status.CONNECTION_ABORTED);
        assertThat(near.rdma.failure()).isNull();
    }

    // ---- configuration ----

    @Test
    @Clause({"rdma-135", "rdma-144"})
    void shouldCallTheCallbackThatFits() {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setCompareAndSwapTasks(2, succeeded::add, failed::add);
                    rdma.setFetchAndAddTasks(2, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        List<Buf> bufs =
                List.of(
                        near.inventory.bufByData(remote, 0, 8),
                        near.room(0, 64),
                        near.inventory.bufByData(remote, 8, 8),
                        near.room(64, 64));
        Task swap = near.rdma.allocateCompareAndSwap(pair.toFar(), bufs.get(0), bufs.get(1), 1, 2);
        Task add = near.rdma.allocateFetchAndAdd(pair.toFar(), bufs.get(2), bufs.get(3), 1);
        swap.submit();
        add.submit();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(succeeded).containsExactly(swap, add);

        succeeded.clear();
        near.send(pair.toFar(), null, 1); // without a receive; the others wait behind it
        swap.submit();
        add.submit();
        near.rdma.stop(); // before any progress
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactly(swap, add);
        swap.free();
        add.free();
        bufs.forEach(Buf::release);
    }

    @Test
    @Clause({"rdma-137", "rdma-146"})
    void shouldHandOutAsManyTasksAsConfigured() {
        Peer near =
                openConfigured(rdma -> {
                    rdma.setCompareAndSwapTasks(1, task -> {}, task -> {});
                    rdma.setFetchAndAddTasks(2, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        Buf there = near.inventory.bufByData(near.importRdma(pair.far()), 0, 8);
        Buf here = near.room(0, 8);
        Task swap = near.rdma.allocateCompareAndSwap(pair.toFar(), there, here, 1, 2);
        assertThatThrownBy(() -> near.rdma.allocateCompareAndSwap(pair.toFar(), there, here, 1, 2))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NO_MEMORY));
        Task one = near.rdma.allocateFetchAndAdd(pair.toFar(), there, here, 1);
        Task two = near.rdma.allocateFetchAndAdd(pair.toFar(), there, here, 1);
        assertThat(
                        Refusals.statusOf(
                                () -> near.rdma.allocateFetchAndAdd(pair.toFar(), there, here, 1)))
                .isEqualTo(Status.NO_MEMORY);
        List.of(swap, one, two).forEach(Task::free);
        here.release();
        there.release();
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Clause;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads and writes, for all providers. */
public abstract class RdmaReadWriteContract extends RdmaContract {
    /** The two operations. */
    enum Operation {
        READ,
        WRITE
    }

    /** For subclasses. */
    protected RdmaReadWriteContract() {}

    @ParameterizedTest
    @ValueSource(
            ints = {
                0, 1, 8, 63, 64, 65, 1023, 4095, 4096, 4097, 65_537, 262_143, 262_144, 262_145,
                1_048_583
            })
    @Clause({"rdma-098", "rdma-103", "rdma-104"})
    void shouldReadDataOfAnySize(int sizeBytes) {
        Pair pair = connected();
        Mmap remote = pair.near().importRdma(pair.far());
        pair.far().fill(50, sizeBytes, 4);
        Buf from = pair.near().inventory.bufByArgs(remote, 20, sizeBytes + 60L, 50, sizeBytes);
        Buf to = pair.near().room(8192, sizeBytes + 60L);
        to.retain();

        assertThat(pair.near().read(pair.toFar(), from, to, 9)).isEqualTo(Status.SUCCESS);

        assertThat(pair.near().next())
                .isEqualTo(new Peer.Outcome("read", Status.SUCCESS, sizeBytes, 9, pair.toFar()));
        assertThat(pair.near().mismatch(8192, sizeBytes, 4)).isEqualTo(-1);
        assertThat(to.dataLength()).isEqualTo(sizeBytes);
        to.release();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0, 1, 8, 63, 64, 65, 1023, 4095, 4096, 4097, 65_537, 262_143, 262_144, 262_145,
                1_048_583
            })
    @Clause({"rdma-046", "rdma-110", "rdma-115"})
    void shouldWriteDataOfAnySize(int sizeBytes) {
        Pair pair = connected();
        Mmap remote = pair.near().importRdma(pair.far());
        pair.near().fill(50, sizeBytes, 6);
        Buf to = pair.near().inventory.bufByAddress(remote, 8192, sizeBytes);
        to.retain();

        Status submitted = pair.near().write(pair.toFar(), pair.near().data(50, sizeBytes), to, 9);
        assertThat(submitted).isEqualTo(Status.SUCCESS);

        assertThat(pair.near().next(pair.far()))
                .isEqualTo(new Peer.Outcome("write", Status.SUCCESS, sizeBytes, 9, pair.toFar()));
        assertThat(pair.far().mismatch(8192, sizeBytes, 6)).isEqualTo(-1);
        assertThat(to.dataLength()).isEqualTo(sizeBytes);
        to.release();
    }

    @Test
    @Clause({"rdma-014", "rdma-045", "rdma-046"})
    @Clause("core-088")
    void shouldReadAndWriteTheMemoryThatThePeerHasExported() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        far.fill(300, 64, 1);
        near.fill(500, 64, 2);

        near.read(pair.toFar(), near.inventory.bufByData(remote, 300, 64), near.room(0, 64), 0);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 64, 1)).isEqualTo(-1);

        Buf to = near.inventory.bufByAddress(remote, 700, 64);
        near.write(pair.toFar(), near.data(500, 64), to, 0);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.mismatch(700, 64, 2)).isEqualTo(-1);
    }

    /** Messages are no payload. */
    @Test
    void shouldCountThatPayloadIsCopiedOnceByAnEngineOrByANic() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        assertThat(copiedByNic(pair.toFar()) + copiedByNic(pair.toNear())).isZero();

        near.read(
                pair.toFar(), near.inventory.bufByData(remote, 0, 10_000), near.room(0, 10_000), 0);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        Buf to = near.inventory.bufByAddress(remote, 20_000, 30_000);
        near.write(pair.toFar(), near.data(0, 30_000), to, 0);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        far.receive(far.room(0, 500), 0);
        near.send(pair.toFar(), near.data(0, 500), 0);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);

        long byEngines = near.engine.payloadBytesCopied() + far.engine.payloadBytesCopied();
        if (pair.toFar().counters().containsKey(RdmaConnection.NIC_PAYLOAD_BYTES_COPIED)) {
            assertThat(byEngines).isZero();
            assertThat(copiedByNic(pair.toFar())).as("by the side that reads").isEqualTo(10_000);
            assertThat(copiedByNic(pair.toNear())).as("at the memory written").isEqualTo(30_000);
        } else {
            assertThat(byEngines).isEqualTo(40_000);
        }
    }

    private static long copiedByNic(RdmaConnection connection) {
        return connection.counters().getOrDefault(RdmaConnection.NIC_PAYLOAD_BYTES_COPIED, 0L);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 90})
    @Clause({"rdma-105", "rdma-106", "core-100"})
    @Clause({"core-099", "core-102", "core-272"})
    void shouldAppendWhatWasReadBehindTheDataAndTouchNothingElse(int dataBytes) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(0, 500, 1);
        far.fill(0, 500, 2);

        int tail = 10 + dataBytes;
        Buf to = near.inventory.bufByArgs(near.mmap, 0, 500, 10, dataBytes);
        to.retain();
        near.read(pair.toFar(), near.inventory.bufByData(remote, 200, 64), to, 0);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(to.dataOffset()).isEqualTo(10);
        assertThat(to.dataLength()).isEqualTo(dataBytes + 64);
        to.release();
        for (long i = 0; i < 500; i++) {
            byte expected =
                    i >= tail && i < tail + 64
                            ? Peer.pattern(2, 200 + i - tail)
                            : Peer.pattern(1, i);
            assertThat(near.bytes.get(ValueLayout.JAVA_BYTE, i))
                    .as("local %d", i)
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 90})
    @Clause({"rdma-116", "rdma-117", "core-100"})
    @Clause({"core-099", "core-102", "core-272"})
    void shouldAppendWhatWasWrittenBehindTheDataAndTouchNothingElse(int dataBytes) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        far.fill(0, 500, 2);
        near.fill(1000, 64, 3);

        int tail = 10 + dataBytes;
        Buf to = near.inventory.bufByArgs(remote, 0, 500, 10, dataBytes);
        to.retain();
        near.write(pair.toFar(), near.data(1000, 64), to, 0);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(to.dataOffset()).isEqualTo(10);
        assertThat(to.dataLength()).isEqualTo(dataBytes + 64);
        to.release();
        for (long i = 0; i < 500; i++) {
            byte expected =
                    i >= tail && i < tail + 64 ? Peer.pattern(3, i - tail) : Peer.pattern(2, i);
            assertThat(far.bytes.get(ValueLayout.JAVA_BYTE, i)).as("far %d", i).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-104", "rdma-105", "rdma-116"})
    void shouldAppendEachTransferBehindTheOneBeforeAndTellItsLength(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        boolean read = operation == Operation.READ;
        Peer source = read ? far : near;
        Peer target = read ? near : far;
        Mmap from = read ? remote : near.mmap;
        long size = Peer.MEMORY_BYTES;
        target.fill(0, 100, 1);
        Buf to = near.inventory.bufByArgs(read ? near.mmap : remote, 0, size, 10, 20);
        long end = 30;
        for (int sizeBytes : new int[] {64, 0, 300_000, 1}) { // of no, one and several slices
            source.fill(5, sizeBytes, 2);
            to.retain(); // the peer releases what it has used
            submit(operation, pair, near.inventory.bufByData(from, 5, sizeBytes), to);
            Peer.Outcome outcome = near.next(far);
            assertThat(outcome.status()).isEqualTo(Status.SUCCESS);
            assertThat(target.mismatch(end, sizeBytes, 2)).isEqualTo(-1);
            end += sizeBytes;
            assertThat(to.dataLength()).isEqualTo(end - 10);
            assertThat(outcome.length()).isEqualTo(read ? sizeBytes : end - 10);
        }
        assertThat(target.mismatch(0, 30, 1)).as("head and first data").isEqualTo(-1);

        to.retain();
        environment().hold();
        submit(operation, pair, near.inventory.bufByData(from, 0, 3 << 20), to);
        near.engine.progress();
        far.mmap.stop();
        environment().release();
        Peer.Outcome outcome = near.next(far);
        assertThat(outcome.status()).isEqualTo(statusOfWithdrawn());
        assertThat(to.dataLength()).isEqualTo(end - 10);
        assertThat(outcome.length()).as("none without success").isEqualTo(read ? 0 : end - 10);
        to.release();
    }

    private static void submit(Operation operation, Pair pair, Buf from, Buf to) {
        Status submitted =
                operation == Operation.READ
                        ? pair.near().read(pair.toFar(), from, to, 1)
                        : pair.near().write(pair.toFar(), from, to, 1);
        assertThat(submitted).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"rdma-002", "rdma-036"})
    void shouldReadAndWriteWhileThePeersProgramDoesNothing() {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        pair.far().fill(0, 4096, 8);

        near.read(pair.toFar(), near.inventory.bufByData(remote, 0, 4096), near.room(0, 4096), 0);
        assertThat(near.next().status()).as("only the near engine runs").isEqualTo(Status.SUCCESS);
        near.write(
                pair.toFar(),
                near.data(0, 4096),
                near.inventory.bufByAddress(remote, 100_000, 4096),
                0);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);

        assertThat(pair.far().mismatch(100_000, 4096, 8)).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096, 700_000})
    void shouldShowTheDataOfAWriteBeforeTheSendBehindIt(int sizeBytes) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        for (int round = 0; round < 20; round++) {
            near.fill(0, sizeBytes, round);
            far.receive(far.room(3_000_000, 64), round);
            near.write(
                    pair.toFar(),
                    near.data(0, sizeBytes),
                    near.inventory.bufByAddress(remote, 1000, sizeBytes),
                    1);
            near.send(pair.toFar(), near.data(2_000_000, 64), 2);

            assertThat(far.next(near).kind()).isEqualTo("receive");
            assertThat(far.mismatch(1000, sizeBytes, round)).as("round %d", round).isEqualTo(-1);
            assertThat(near.next(far).kind()).as("completed in order").isEqualTo("write");
            assertThat(near.next(far).kind()).isEqualTo("send");
        }
    }

    @Test
    @Clause("rdma-008")
    void shouldCompleteManyInTheOrderOfSubmission() {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        pair.far().fill(0, 300 * 1024, 5);
        int count = 300;
        for (int i = 0; i < count; i++) {
            Buf far = near.inventory.bufByData(remote, i * 1024L, 1024);
            assertThat(near.read(pair.toFar(), far, near.room(i * 1024L, 1024), i))
                    .isEqualTo(Status.SUCCESS);
        }
        assertThat(near.outcomes).as("without progress").isEmpty();
        for (int i = 0; i < count; i++) {
            assertThat(near.next().userData()).isEqualTo(i);
        }
        assertThat(near.mismatch(0, 300 * 1024, 5)).isEqualTo(-1);
    }

    // ---- bounds and use ----

    @ParameterizedTest
    @EnumSource
    void shouldRefuseMoreDataThanThereIsRoomFor(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        Status submitted =
                operation == Operation.READ
                        ? near.read(
                                pair.toFar(),
                                near.inventory.bufByData(remote, 0, 65),
                                near.room(0, 64),
                                0)
                        : near.write(
                                pair.toFar(),
                                near.data(0, 65),
                                near.inventory.bufByAddress(remote, 0, 64),
                                0);
        assertThat(submitted).isEqualTo(Status.INVALID_VALUE);
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-056", "rdma-073", "rdma-188"})
    void shouldKeepATaskInFlightAndItsBufsFromBeingReleasedOrUsedTwice(BufTaskType type) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        List<Buf> used =
                switch (type) {
                    case SEND, SEND_IMMEDIATE -> List.of(near.data(0, 64));
                    case RECEIVE -> List.of(near.room(0, 64));
                    case READ -> List.of(near.inventory.bufByData(remote, 0, 64), near.room(0, 64));
                    case WRITE, WRITE_IMMEDIATE ->
                            List.of(near.data(0, 64), near.inventory.bufByAddress(remote, 0, 64));
                    case COMPARE_AND_SWAP, FETCH_AND_ADD ->
                            List.of(near.inventory.bufByData(remote, 0, 64), near.room(0, 64));
                };
        Buf from = used.getFirst();
        Buf to = used.getLast();
        Supplier<Task> allocate =
                switch (type) {
                    case SEND -> () -> near.rdma.allocateSend(pair.toFar(), from);
                    case RECEIVE -> () -> near.rdma.allocateReceive(to);
                    case READ -> () -> near.rdma.allocateRead(pair.toFar(), from, to);
                    case WRITE -> () -> near.rdma.allocateWrite(pair.toFar(), from, to);
                    case SEND_IMMEDIATE ->
                            () -> near.rdma.allocateSendImmediate(pair.toFar(), from, 1);
                    case WRITE_IMMEDIATE ->
                            () -> near.rdma.allocateWriteImmediate(pair.toFar(), from, to, 1);
                    case COMPARE_AND_SWAP ->
                            () -> near.rdma.allocateCompareAndSwap(pair.toFar(), from, to, 1, 2);
                    case FETCH_AND_ADD ->
                            () -> near.rdma.allocateFetchAndAdd(pair.toFar(), from, to, 1);
                };
        Task task = allocate.get();
        task.submit();
        Task second = allocate.get();
        assertThat(second.trySubmit()).isEqualTo(Status.IN_USE);
        second.free();
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        assertThat(Refusals.statusOf(task::free)).isEqualTo(Status.IN_USE);
        for (Buf buf : used) {
            assertThat(Refusals.statusOf(buf::release)).isEqualTo(Status.IN_USE);
            assertThat(Refusals.statusOf(() -> buf.setData(0, 0))).isEqualTo(Status.IN_USE);
        }
        if (type.needsReceive()) {
            pair.far().receive(pair.far().room(0, 64), 1);
        } else if (type == BufTaskType.RECEIVE) {
            pair.far().send(pair.toNear(), pair.far().data(0, 64), 1);
        }
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        assertThat(task.trySubmit()).as("freed by its callback").isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldReuseATaskInItsCallback() {
        int[] left = {100};
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setWriteTasks(
                                                1, task -> again(task, left), task -> {})));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        near.fill(0, 8, 1);
        RdmaWriteTask task =
                near.rdma.allocateWrite(
                        pair.toFar(),
                        near.data(0, 8),
                        near.inventory.bufByAddress(remote, 0, 8 * 101));
        task.submit();

        Peer.drive("the last one", () -> left[0] < 0, near, pair.far());
        for (int i = 0; i <= 100; i++) {
            assertThat(pair.far().mismatch(8L * i, 8, 1)).as("write %d", i).isEqualTo(-1);
        }
    }

    private static void again(RdmaWriteTask task, int[] left) {
        if (--left[0] >= 0) {
            task.submit();
        } else {
            task.source().release();
            task.destination().release();
            task.free();
        }
    }
}

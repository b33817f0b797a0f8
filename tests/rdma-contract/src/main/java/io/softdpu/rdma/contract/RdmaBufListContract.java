package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufArray;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.rdma.RdmaWriteTask;
import io.softdpu.testkit.Clause;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Buf lists of an instance without a setting for them: of one element, and longer are refused. */
public abstract class RdmaBufListContract extends RdmaContract {
    private Pair pair;
    private Peer near;

    /** For subclasses. */
    protected RdmaBufListContract() {}

    /** Two connected instances. */
    @BeforeEach
    protected void connectTwo() {
        pair = connected();
        near = pair.near();
    }

    /** One element more than the limit. */
    private static Buf tooLong(int limit, Buf... elements) {
        assertThat(elements).hasSizeGreaterThan(limit);
        Buf head = elements[0];
        for (int i = 1; i <= limit; i++) {
            head.chain(elements[i]);
        }
        return head;
    }

    @Test
    @Clause({"core-107", "rdma-086"})
    void shouldRefuseToSendALongerList() {
        int limit = near.rdma.maxSendBufferListLength();
        Buf list = tooLong(limit, near.data(0, 8), near.data(100, 8));
        RdmaSendTask task = near.rdma.allocateSend(pair.toFar(), list);
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThatThrownBy(task::submit)
                .hasMessageContainingAll(
                        "listLength=" + (limit + 1),
                        "expected=" + limit + " at most, operand=source");
        assertThat(near.rdma.inFlightTasks()).isZero();
        list.release(); // nothing has it in flight
        task.free();
    }

    @Test
    @Clause({"core-107", "rdma-062", "rdma-072"})
    void shouldRefuseToReceiveIntoALongerList() {
        int limit = near.rdma.receiveBufferListLength();
        Buf list = tooLong(limit, near.room(0, 8), near.room(100, 8));
        RdmaReceiveTask task = near.rdma.allocateReceive(list);
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThatThrownBy(task::submit)
                .hasMessageContainingAll(
                        "listLength=" + (limit + 1),
                        "expected=" + limit + " at most, operand=destination");
        task.free();
        list.release();
        assertThat(limit).isOne();
        assertThat(near.receive(near.room(0, 8), 1)).as("a list of one").isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"rdma-102", "rdma-114", "core-107"})
    void shouldRefuseToReadIntoOrWriteFromALongerList() {
        int limit = near.rdma.maxSendBufferListLength();
        Mmap remote = near.importRdma(pair.far());
        assertThat(
                        near.read(
                                pair.toFar(),
                                near.inventory.bufByData(remote, 0, 8),
                                tooLong(limit, near.room(0, 8), near.room(100, 8)),
                                1))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(
                        near.write(
                                pair.toFar(),
                                tooLong(limit, near.data(0, 8), near.data(100, 8)),
                                near.inventory.bufByAddress(remote, 0, 8),
                                2))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(
                        near.write(
                                pair.toFar(),
                                near.data(0, 8),
                                tooLong(
                                        limit,
                                        near.inventory.bufByAddress(remote, 0, 8),
                                        near.inventory.bufByAddress(remote, 8, 8)),
                                3))
                .as("remote bufs too")
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    /** The four uses of a local list. */
    enum Use {
        SEND,
        RECEIVE,
        READ,
        WRITE
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-072", "rdma-086"})
    @Clause({"rdma-102", "rdma-114"})
    void shouldMoveNothingForAListThatIsRefused(Use use) {
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(0, 8, 1);
        near.fill(100, 8, 2);
        far.fill(0, 8, 3);
        if (use == Use.SEND) {
            far.receive(far.room(100, 8), 1);
        }
        Buf list = local(use, 0);
        list.chain(near.data(200, 0)); // elements count though nothing is in them
        list.chain(near.data(300, 0));
        assertThat(submit(use, list, remote, 0)).isEqualTo(Status.INVALID_VALUE);
        assertThat(near.rdma.inFlightTasks()).isZero();

        // One behind it, which would not overtake it.
        assertThat(submit(use, local(use, 100), remote, 100)).isEqualTo(Status.SUCCESS);
        if (use == Use.RECEIVE) {
            far.send(pair.toNear(), far.data(0, 8), 1);
        }
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        boolean inward = use == Use.RECEIVE || use == Use.READ;
        Peer target = inward ? near : far;
        assertThat(target.mismatch(100, 8, inward ? 3 : 2)).as("the one behind").isEqualTo(-1);
        assertThat(target.mismatch(0, 8, inward ? 1 : 3)).as("unchanged").isEqualTo(-1);
    }

    private Buf local(Use use, long offset) {
        return switch (use) {
            case SEND, WRITE -> near.data(offset, 8);
            case RECEIVE, READ -> near.room(offset, 8);
        };
    }

    private Status submit(Use use, Buf local, Mmap remote, long remoteOffset) {
        return switch (use) {
            case SEND -> near.send(pair.toFar(), local, 1);
            case RECEIVE -> near.receive(local, 1);
            case READ -> near.read(pair.toFar(), near.inventory.bufByData(remote, 0, 8), local, 1);
            case WRITE ->
                    near.write(
                            pair.toFar(),
                            local,
                            near.inventory.bufByAddress(remote, remoteOffset, 8),
                            1);
        };
    }

    @Test
    @Clause({"rdma-015", "core-089", "core-106"})
    void shouldTakeBufsWhereverTheyComeFrom() {
        Peer far = pair.far();
        try (BufPool pool = BufPool.create(1, 64, near.mmap).start();
                BufArray array = BufArray.create(2).setMemory(far.mmap, 64, 0).start()) {
            Buf from = pool.allocate();
            near.fill(from.offset(), 64, 5);
            from.setDataLength(64);
            from.retain();
            Buf into = array.get(1);
            into.retain(); // the peer releases what it has used
            assertThat(far.receive(into, 1)).isEqualTo(Status.SUCCESS);
            assertThat(near.send(pair.toFar(), from, 2)).isEqualTo(Status.SUCCESS);
            assertThat(far.next(near).length()).isEqualTo(64);
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
            assertThat(into.dataLength()).isEqualTo(64);
            assertThat(far.mismatch(64, 64, 5)).isEqualTo(-1);
            from.release();
            assertThat(pool.free()).isEqualTo(1);
            RdmaSendTask task = near.rdma.allocateSend(pair.toFar(), from);
            assertThat(task.trySubmit()).as("it went back to its pool").isEqualTo(Status.BAD_STATE);
            task.free();
        }
    }

    @Test
    @Clause("rdma-015")
    void shouldTakeBufsOfAnInventoryForEachOperation() {
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(0, 64, 1);

        assertThat(far.receive(far.room(1000, 64), 1)).isEqualTo(Status.SUCCESS);
        assertThat(near.send(pair.toFar(), near.data(0, 64), 2)).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.mismatch(1000, 64, 1)).isEqualTo(-1);

        Buf remoteRoom = near.inventory.bufByAddress(remote, 2000, 64);
        assertThat(near.write(pair.toFar(), near.data(0, 64), remoteRoom, 3))
                .isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.mismatch(2000, 64, 1)).isEqualTo(-1);

        Buf remoteData = near.inventory.bufByData(remote, 2000, 64);
        assertThat(near.read(pair.toFar(), remoteData, near.room(3000, 64), 4))
                .isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(3000, 64, 1)).isEqualTo(-1);
    }

    @Test
    @Clause("rdma-012")
    void shouldNeedAStartedMmapOnEachSide() {
        Peer far = pair.far();
        Buf data = near.data(0, 8);
        Buf room = far.room(0, 8);
        near.mmap.stop();
        far.mmap.stop();
        RdmaSendTask send = near.rdma.allocateSend(pair.toFar(), data);
        RdmaReceiveTask receive = far.rdma.allocateReceive(room);
        assertThat(send.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertThat(receive.trySubmit()).isEqualTo(Status.BAD_STATE);
        near.mmap.start();
        far.mmap.start();
        receive.submit();
        send.submit();
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);

        Mmap remote = near.importRdma(far);
        Buf remoteData = near.inventory.bufByData(remote, 0, 8);
        Buf remoteRoom = near.inventory.bufByAddress(remote, 8, 8);
        RdmaReadTask read = near.rdma.allocateRead(pair.toFar(), remoteData, near.room(0, 8));
        RdmaWriteTask write = near.rdma.allocateWrite(pair.toFar(), near.data(8, 8), remoteRoom);
        near.mmap.stop();
        assertThat(read.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertThat(write.trySubmit()).isEqualTo(Status.BAD_STATE);
        near.mmap.start();
        far.mmap.stop();
        if (has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)) {
            assertThat(read.trySubmit()).isEqualTo(Status.SHUTDOWN);
            assertThat(write.trySubmit()).isEqualTo(Status.SHUTDOWN);
        }
        read.destination().release();
        read.free();
        write.source().release();
        write.free();
        remoteData.release();
        remoteRoom.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause("rdma-012")
    void shouldRefuseEachTypeOfTaskWithoutTheMemoryOfEitherSide(BufTaskType type) {
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        for (boolean ofNear : new boolean[] {true, false}) {
            Buf local = Submissions.local(type, near, near.mmap, 0, 64);
            @Nullable Buf there =
                    type.isRemote() ? Submissions.remote(type, near, remote, 0, 64) : null;
            Mmap stopped = ofNear ? near.mmap : far.mmap;
            stopped.stop();
            Status submitted = Submissions.submit(type, near, pair.toFar(), local, there, 1);
            if (ofNear) {
                assertThat(submitted).isEqualTo(Status.BAD_STATE);
                stopped.start();
            } else if (type.isRemote()) {
                assertWithdrawn(submitted, near, far);
            } else {
                assertThat(submitted).as("needs no memory of the peer's").isEqualTo(Status.SUCCESS);
            }
        }
    }

    @Test
    void shouldRefuseAnElementWithoutItsList() {
        Buf head = near.data(0, 8);
        Buf behind = near.data(100, 8);
        head.chain(behind);
        RdmaSendTask task = near.rdma.allocateSend(pair.toFar(), behind);
        assertThat(task.trySubmit()).isEqualTo(Status.NOT_PERMITTED);
        head.unchain(behind);
        pair.far().receive(pair.far().room(0, 8), 1);
        task.submit();
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.far().next(near).length()).isEqualTo(8);
        head.release();
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.testkit.Clause;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends and writes with immediate, for all providers. */
public abstract class RdmaImmediateContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaImmediateContract() {}

    // ---- send with immediate ----

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "64, -1",
        "4096, -2147483648",
        "4097, 2147483647",
        "70000, 305419896"
    })
    @Clause({"rdma-087", "rdma-092", "rdma-093"})
    @Clause("rdma-066")
    void shouldDeliverMessageAndValueUnchanged(int sizeBytes, int immediate) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        near.fill(100, sizeBytes, 3);
        far.receive(far.room(4096, sizeBytes), 7);
        assertThat(near.sendImmediate(pair.toFar(), near.data(100, sizeBytes), immediate, 5))
                .isEqualTo(Status.SUCCESS);

        assertThat(far.next(near))
                .isEqualTo(
                        new Peer.Outcome(
                                "receive immediate",
                                Status.SUCCESS,
                                sizeBytes,
                                7,
                                pair.toNear(),
                                immediate));
        assertThat(far.mismatch(4096, sizeBytes, 3)).isEqualTo(-1);
        assertThat(near.next(far))
                .isEqualTo(new Peer.Outcome("send immediate", Status.SUCCESS, -1, 5, pair.toFar()));
    }

    @Test
    @Clause({"rdma-066", "rdma-087"})
    void shouldTellOpcodeAndValueOfEachMessageByItself() {
        List<RdmaOpcode> opcodes = new ArrayList<>();
        List<Integer> values = new ArrayList<>();
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
                                                task -> again(task, opcodes, values),
                                                RdmaImmediateContract::release)));
        Pair pair = connect(openNear(), far);
        Peer near = pair.near();
        Mmap remote = near.importRdma(far);
        far.rdma.allocateReceive(far.inventory.bufByAddress(far.mmap, 0, 64)).submit();

        near.sendImmediate(pair.toFar(), null, 7, 1);
        near.send(pair.toFar(), near.data(0, 8), 2);
        near.writeImmediate(
                pair.toFar(), near.data(0, 8), near.inventory.bufByAddress(remote, 100, 8), 9, 3);
        near.send(pair.toFar(), null, 4);
        Peer.drive("four receives", () -> opcodes.size() == 4, near, far);
        assertThat(opcodes)
                .containsExactly(
                        RdmaOpcode.SEND_IMMEDIATE,
                        RdmaOpcode.SEND,
                        RdmaOpcode.WRITE_IMMEDIATE,
                        RdmaOpcode.SEND);
        assertThat(values).as("0 without a value").containsExactly(7, 0, 9, 0);
    }

    private static void release(RdmaReceiveTask task) {
        Objects.requireNonNull(task.destination()).release();
        task.free();
    }

    private static void again(
            RdmaReceiveTask task, List<RdmaOpcode> opcodes, List<Integer> values) {
        opcodes.add(task.resultOpcode());
        values.add(task.resultImmediate());
        task.submit();
    }

    @Test
    void shouldSendAndWriteTheValueThatWasSetLast() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        var task = near.rdma.allocateSendImmediate(pair.toFar(), null, 1);
        assertThat(task.immediate()).isEqualTo(1);
        task.setImmediate(2);
        far.receive(null, 1);
        task.submit();
        assertThat(far.next(near).immediate()).isEqualTo(2);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
    }

    // ---- write with immediate ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 4096, 4097, 300_000, 1_048_579})
    @Clause({"rdma-121", "rdma-126", "rdma-127"})
    @Clause({"rdma-129", "rdma-130"})
    void shouldWriteTheDataAndThenDeliverTheValue(int sizeBytes) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(100, sizeBytes, 3);
        far.fill(0, 2_000_000, 1);
        far.fill(3_000_000, 64, 2);
        Buf destination = far.room(3_000_000, 64);
        destination.retain();
        far.receive(destination, 7);
        Buf there = near.inventory.bufByArgs(remote, 1000, 1_900_000, 1010, 20);
        there.retain();
        assertThat(near.writeImmediate(pair.toFar(), near.data(100, sizeBytes), there, -7, 5))
                .isEqualTo(Status.SUCCESS);

        Peer.Outcome received = far.next(near);
        assertThat(far.mismatch(1030, sizeBytes, 3)).as("data before the value").isEqualTo(-1);
        assertThat(received)
                .isEqualTo(
                        new Peer.Outcome(
                                "receive written",
                                Status.SUCCESS,
                                sizeBytes,
                                7,
                                pair.toNear(),
                                -7));
        assertThat(destination.dataLength()).as("not used").isZero();
        assertThat(far.mismatch(3_000_000, 64, 2)).as("not used").isEqualTo(-1);
        destination.release();
        assertThat(near.next(far))
                .isEqualTo(
                        new Peer.Outcome(
                                "write immediate",
                                Status.SUCCESS,
                                20 + sizeBytes,
                                5,
                                pair.toFar()));
        assertThat(there.dataOffset()).isEqualTo(1010);
        assertThat(there.dataLength()).isEqualTo(20 + sizeBytes);
        there.release();
        assertThat(far.mismatch(0, 1030, 1)).as("before").isEqualTo(-1);
        byte behind = far.bytes.get(ValueLayout.JAVA_BYTE, 1030L + sizeBytes);
        assertThat(behind).as("behind").isEqualTo(Peer.pattern(1, 1030L + sizeBytes));
    }

    @Test
    @Clause({"rdma-057", "rdma-128"})
    void shouldNotCompleteAWriteWithImmediateBeforeAReceiveIsThere() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.writeImmediate(
                pair.toFar(), near.data(0, 64), near.inventory.bufByAddress(remote, 0, 64), 1, 2);
        near.send(pair.toFar(), null, 3);
        for (int i = 0; i < 1000; i++) {
            near.engine.progress();
            far.engine.progress();
        }
        assertThat(near.outcomes).as("waits, and what is behind it, too").isEmpty();
        far.receive(null, 4);
        assertThat(near.next(far).kind()).isEqualTo("write immediate");
        assertThat(far.next(near).kind()).isEqualTo("receive written");
        far.receive(null, 5);
        assertThat(near.next(far).kind()).isEqualTo("send");
    }

    @Test
    @Clause("rdma-033")
    void shouldNeedThePermissionToWriteOfTheReceiverForAWriteWithImmediateAlone() {
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setPermissions(Permissions.of(AccessFlag.RDMA_READ))));
        Pair pair = connect(openNear(), far);
        Peer near = pair.near();
        Mmap remote = near.importRdma(far);
        far.receive(null, 1);
        assertThat(
                        near.writeImmediate(
                                pair.toFar(),
                                near.data(0, 0),
                                near.inventory.bufByAddress(remote, 0, 64),
                                1,
                                2))
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(near.sendImmediate(pair.toFar(), null, 5, 3)).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).immediate()).isEqualTo(5);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 4096, 700_000})
    void shouldShowTheDataOfWritesBeforeTheValueBehindThem(int sizeBytes) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        for (int round = 0; round < 20; round++) {
            near.fill(0, sizeBytes, round);
            far.receive(null, round);
            near.write(
                    pair.toFar(),
                    near.data(0, sizeBytes),
                    near.inventory.bufByAddress(remote, 1000, sizeBytes),
                    1);
            near.writeImmediate(
                    pair.toFar(),
                    near.data(0, sizeBytes),
                    near.inventory.bufByAddress(remote, 2_000_000, sizeBytes),
                    round,
                    2);
            assertThat(far.next(near).immediate()).isEqualTo(round);
            assertThat(far.mismatch(1000, sizeBytes, round)).as("round %d", round).isEqualTo(-1);
            assertThat(far.mismatch(2_000_000, sizeBytes, round)).isEqualTo(-1);
            assertThat(near.next(far).kind()).as("completed in order").isEqualTo("write");
            assertThat(near.next(far).kind()).isEqualTo("write immediate");
        }
    }

    @Test
    @Clause("rdma-065")
    void shouldLimitAReceiveByItsBufForMessagesOnly() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        far.receive(null, 1); // without a buf
        near.writeImmediate(
                pair.toFar(), near.data(0, 64), near.inventory.bufByAddress(remote, 0, 64), 1, 2);
        assertThat(far.next(near).length()).isEqualTo(64);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);

        far.receive(null, 3);
        near.sendImmediate(pair.toFar(), near.data(0, 1), 1, 4);
        Peer.Outcome failed = far.next(near);
        assertThat(failed.status()).isEqualTo(Status.TOO_BIG);
        assertThat(failed.kind())
                .as("the opcode, after a failure too")
                .isEqualTo("receive immediate");
        assertThat(near.next(far).status()).isEqualTo(Status.IO_FAILED);
    }

    // ---- failures ----

    enum Kind {
        SEND_IMMEDIATE(BufTaskType.SEND_IMMEDIATE),
        WRITE_IMMEDIATE(BufTaskType.WRITE_IMMEDIATE);

        private final BufTaskType type;

        Kind(BufTaskType type) {
            this.type = type;
        }
    }

    private static Status submit(Kind kind, Pair pair, Mmap remote, long userData) {
        Peer near = pair.near();
        return Submissions.submit(
                kind.type,
                near,
                pair.toFar(),
                near.data(0, 64),
                kind == Kind.SEND_IMMEDIATE
                        ? null
                        : near.inventory.bufByAddress(remote, 64 * userData, 64),
                userData);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-057", "rdma-255", "rdma-270"})
    @Clause({"rdma-095", "rdma-131"})
    void shouldFailFatallyWithoutAReceiveOnceTheRetriesAreUsedUp(Kind kind) {
        Peer near = openConfigured(rdma -> rdma.setRnrRetries(1));
        Pair pair = connect(near, openFarWithShortTimer());
        Mmap remote = near.importRdma(pair.far());
        assertThat(submit(kind, pair, remote, 1)).isEqualTo(Status.SUCCESS);
        assertThat(submit(kind, pair, remote, 2)).isEqualTo(Status.SUCCESS);

        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near, pair.far());
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .containsExactly(Status.IO_FAILED, Status.CONNECTION_ABORTED);
        assertThat(near.states).endsWith(ContextState.STOPPING, ContextState.IDLE);
        assertThat(pair.toFar().failure()).isEqualTo(Status.IO_FAILED);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-095", "rdma-131"})
    void shouldStopAfterAFatalErrorOnceTheUserHasFreedTheTask(Kind kind) {
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setRnrRetries(0);
                    rdma.setSendImmediateTasks(1, task -> {}, failed::add);
                    rdma.setWriteImmediateTasks(1, task -> {}, failed::add);
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        Buf here = near.data(0, 64);
        Buf there = near.inventory.bufByAddress(remote, 0, 64);
        assertThat(Submissions.submit(kind.type, near, pair.toFar(), here, there, 1))
                .isEqualTo(Status.SUCCESS);
        Peer.drive("the failure", () -> !failed.isEmpty(), near, pair.far());
        for (int i = 0; i < 100; i++) {
            near.engine.progress();
        }
        assertThat(failed.getFirst().status()).isEqualTo(Status.IO_FAILED);
        assertThat(near.rdma.state()).as("not freed").isEqualTo(ContextState.STOPPING);
        failed.getFirst().free();
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        here.release();
        there.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-096", "rdma-132"})
    void shouldTellByItsStatusWhyItFailedWhileTheInstanceGoesOn(Kind kind) {
        Peer near =
                openConfigured(rdma ->
                        rdma.setMaxConnections(2).setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        submit(kind, pair, remote, 1);
        pair.toNear().disconnect();
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(pair.toFar().state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
    }

    @Test
    @Clause("rdma-132")
    void shouldHaveWrittenSomeOrAllOfTheDataOfAWriteThatFailed() {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2).setRnrRetries(0));
        Pair pair = connect(near, openFar());
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(0, 4096, 4);
        far.fill(0, 8192, 5);
        near.writeImmediate(
                pair.toFar(),
                near.data(0, 4096),
                near.inventory.bufByAddress(remote, 0, 4096),
                1,
                2);
        assertThat(near.next(far).status()).isEqualTo(Status.IO_FAILED);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        for (long i = 0; i < 4096; i++) {
            assertThat(far.bytes.get(ValueLayout.JAVA_BYTE, i))
                    .isIn(Peer.pattern(4, i), Peer.pattern(5, i));
        }
        for (long i = 4096; i < 8192; i++) {
            assertThat(far.bytes.get(ValueLayout.JAVA_BYTE, i)).isEqualTo(Peer.pattern(5, i));
        }
    }

    // ---- configuration ----

    @Test
    @Clause({"rdma-088", "rdma-122"})
    void shouldCallTheCallbackThatFits() {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setSendImmediateTasks(2, succeeded::add, failed::add);
                    rdma.setWriteImmediateTasks(2, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        Buf here = near.data(0, 8);
        Buf there = near.inventory.bufByAddress(remote, 0, 64);
        Task send = near.rdma.allocateSendImmediate(pair.toFar(), null, 1);
        Task write = near.rdma.allocateWriteImmediate(pair.toFar(), here, there, 2);
        pair.far().receive(null, 1);
        pair.far().receive(null, 2);
        send.submit();
        write.submit();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near, pair.far());
        assertThat(succeeded).containsExactly(send, write);

        succeeded.clear();
        send.submit(); // without a receive
        write.submit();
        near.rdma.stop();
        Peer.drive("both", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactly(send, write);
        send.free();
        write.free();
        here.release();
        there.release();
    }

    @Test
    @Clause({"rdma-090", "rdma-124"})
    void shouldHandOutAsManyTasksAsConfigured() {
        Peer near =
                openConfigured(rdma -> {
                    rdma.setSendImmediateTasks(2, task -> {}, task -> {});
                    rdma.setWriteImmediateTasks(3, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        Buf here = near.data(0, 8);
        Buf there = near.inventory.bufByData(remote, 0, 8);
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            tasks.add(near.rdma.allocateSendImmediate(pair.toFar(), null, i));
        }
        assertThat(Refusals.statusOf(() -> near.rdma.allocateSendImmediate(pair.toFar(), null, 2)))
                .isEqualTo(Status.NO_MEMORY);
        for (int i = 0; i < 3; i++) {
            tasks.add(near.rdma.allocateWriteImmediate(pair.toFar(), here, there, i));
        }
        assertThat(
                        Refusals.statusOf(() ->
                                near.rdma.allocateWriteImmediate(pair.toFar(), here, there, 3)))
                .isEqualTo(Status.NO_MEMORY);
        tasks.forEach(Task::free);
        here.release();
        there.release();
    }
}

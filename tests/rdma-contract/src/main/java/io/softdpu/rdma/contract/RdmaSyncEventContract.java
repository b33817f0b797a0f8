package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaRemoteSyncEventGetTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifyAddTask;
import io.softdpu.rdma.RdmaRemoteSyncEventNotifySetTask;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Get, notify set and notify add of remote sync events, for all providers. */
public abstract class RdmaSyncEventContract extends RdmaContract {
    private static final int LIST_LENGTH = 3;

    /** For subclasses. */
    protected RdmaSyncEventContract() {}

    /** The three operations. */
    enum Operation {
        GET(RdmaTaskType.REMOTE_SYNC_EVENT_GET, AccessFlag.RDMA_READ),
        NOTIFY_SET(RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_SET, AccessFlag.RDMA_WRITE),
        NOTIFY_ADD(RdmaTaskType.REMOTE_SYNC_EVENT_NOTIFY_ADD, AccessFlag.RDMA_ATOMIC);

        final RdmaTaskType type;
        final AccessFlag right;

        Operation(RdmaTaskType type, AccessFlag right) {
            this.type = type;
            this.right = right;
        }

        /** A local buf for the operation, or an element of its list. */
        Buf local(Peer near, Mmap mmap, long offset, long length) {
            return this == NOTIFY_SET
                    ? near.inventory.bufByData(mmap, offset, length)
                    : near.inventory.bufByAddress(mmap, offset, length);
        }

        /** Submits a task, with the buf as its source, destination or result; adds 1. */
        Status submit(Pair pair, RemoteSyncEvent event, Buf local, long userData) {
            Peer near = pair.near();
            return switch (this) {
                case GET -> near.getEvent(pair.toFar(), event, local, userData);
                case NOTIFY_SET -> near.setEvent(pair.toFar(), event, local, userData);
                case NOTIFY_ADD -> near.addEvent(pair.toFar(), event, local, 1, userData);
            };
        }

        Task allocate(Pair pair, RemoteSyncEvent event, Buf local) {
            Peer near = pair.near();
            return switch (this) {
                case GET -> near.rdma.allocateRemoteSyncEventGet(pair.toFar(), event, local);
                case NOTIFY_SET ->
                        near.rdma.allocateRemoteSyncEventNotifySet(pair.toFar(), event, local);
                case NOTIFY_ADD ->
                        near.rdma.allocateRemoteSyncEventNotifyAdd(pair.toFar(), event, local, 1);
            };
        }
    }

    // ---- results ----

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, 0x8123_4567_89ab_cdefL})
    @Clause({"rdma-150", "rdma-155", "rdma-156"})
    @Clause({"rdma-157", "rdma-158"})
    void shouldAppendTheValueBehindTheData(long value) {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        event.set(value);
        near.fill(0, 100, 1);
        Buf destination = near.inventory.bufByArgs(near.mmap, 0, 100, 3, 20);
        destination.retain();
        assertThat(near.getEvent(pair.toFar(), remote, destination, 5)).isEqualTo(Status.SUCCESS);
        assertThat(near.outcomes).as("without progress").isEmpty();

        assertThat(near.next())
                .isEqualTo(new Peer.Outcome("get", Status.SUCCESS, 8, 5, pair.toFar()));
        assertThat(near.word(23)).isEqualTo(value);
        assertThat(destination.dataLength()).isEqualTo(28);
        assertThat(near.mismatch(0, 23, 1)).as("before the value").isEqualTo(-1);
        assertThat(near.word(31)).as("behind the value").isEqualTo(patternWord(31));
        assertThat(event.get()).as("as it was").isEqualTo(value);
        destination.release();
    }

    private static long patternWord(long at) {
        byte[] bytes = new byte[8];
        for (int i = 0; i < 8; i++) {
            bytes[i] = Peer.pattern(1, at + i);
        }
        return MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, -1, 0x8123_4567_89ab_cdefL})
    @Clause({"rdma-161", "rdma-166", "rdma-167"})
    void shouldSetTheValueOfTheSource(long value) {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        event.set(~value);
        near.setWord(40, value);
        assertThat(near.setEvent(pair.toFar(), remote, near.data(40, 8), 6))
                .isEqualTo(Status.SUCCESS);
        assertThat(near.next())
                .isEqualTo(new Peer.Outcome("set", Status.SUCCESS, -1, 6, pair.toFar()));
        assertThat(event.get()).isEqualTo(value);
        assertThat(near.word(40)).as("the source").isEqualTo(value);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "0, 1",
        "1, -1",
        "-1, 1",
        "9223372036854775807, 1",
        "81985529216486895, 1147797409030816545"
    })
    @Clause({"rdma-170", "rdma-174", "rdma-175"})
    void shouldAddAndReturnTheValueBefore(long before, long added) {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        event.set(before);
        near.fill(0, 100, 1);
        Buf result = near.inventory.bufByArgs(near.mmap, 0, 100, 3, 20);
        assertThat(near.addEvent(pair.toFar(), remote, result, added, 7)).isEqualTo(Status.SUCCESS);
        assertThat(near.next())
                .isEqualTo(new Peer.Outcome("add", Status.SUCCESS, 28, 7, pair.toFar()));
        assertThat(event.get()).isEqualTo(before + added);
        assertThat(near.word(23)).isEqualTo(before);
        assertThat(near.mismatch(0, 23, 1)).as("before the value").isEqualTo(-1);
        assertThat(near.word(31)).as("behind the value").isEqualTo(patternWord(31));
    }

    @Test
    @Clause({"rdma-002", "rdma-170"})
    void shouldExecuteManyInTheOrderOfSubmission() {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        near.setWord(1000, 500);
        for (int i = 0; i < 50; i++) {
            near.addEvent(pair.toFar(), remote, near.room(8L * i, 8), 1, i);
        }
        near.setEvent(pair.toFar(), remote, near.data(1000, 8), 50);
        near.addEvent(pair.toFar(), remote, near.room(400, 8), 3, 51);
        near.getEvent(pair.toFar(), remote, near.room(408, 8), 52);
        for (int i = 0; i <= 52; i++) {
            Peer.Outcome outcome = near.next();
            assertThat(outcome.userData()).isEqualTo(i);
            assertThat(outcome.status()).isEqualTo(Status.SUCCESS);
        }
        for (int i = 0; i < 50; i++) {
            assertThat(near.word(8L * i)).isEqualTo(i);
        }
        assertThat(near.word(400)).isEqualTo(500);
        assertThat(near.word(408)).isEqualTo(503);
        assertThat(event.get()).isEqualTo(503);
    }

    @Test
    void shouldUseWhatWasSetLast() {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        SyncEvent other = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        RemoteSyncEvent unused = near.remoteEvent(pair.far(), other);
        Buf wrong = near.room(0, 8);
        RdmaRemoteSyncEventNotifyAddTask add =
                near.rdma.allocateRemoteSyncEventNotifyAdd(pair.toFar(), unused, wrong, 1);
        assertThat(add.addData()).isEqualTo(1);
        assertThat(add.event()).isSameAs(unused);
        assertThat(add.result()).isSameAs(wrong);
        add.setEvent(remote).setResult(near.room(8, 8)).setAddData(-5).submit();
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(event.get()).isEqualTo(-5);

        near.setWord(16, 77);
        RdmaRemoteSyncEventNotifySetTask set =
                near.rdma.allocateRemoteSyncEventNotifySet(pair.toFar(), unused, wrong);
        assertThat(set.event()).isSameAs(unused);
        assertThat(set.source()).isSameAs(wrong);
        set.setConnection(pair.toFar()).setEvent(remote).setSource(near.data(16, 8)).submit();
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(event.get()).isEqualTo(77);

        RdmaRemoteSyncEventGetTask get =
                near.rdma.allocateRemoteSyncEventGet(pair.toFar(), unused, wrong);
        assertThat(get.event()).isSameAs(unused);
        assertThat(get.destination()).isSameAs(wrong);
        get.setEvent(remote).setDestination(near.room(24, 8)).submit();
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(near.word(24)).isEqualTo(77);
        assertThat(other.get()).isZero();
        wrong.release();
    }

    // ---- lists ----

    @ParameterizedTest
    @CsvSource({"3, 0, 5", "0, 0, 8", "1, 6, 1", "8, 0, 0", "0, 7, 1"})
    @Clause({"rdma-154", "rdma-155", "rdma-158"})
    void shouldGetTheValueIntoAList(int first, int second, int third) {
        Pair pair = withLists();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        event.set(0x0102_0304_0506_0708L);
        Buf list = near.room(0, first);
        list.chain(near.room(100, second));
        list.chain(near.room(200, third));
        list.retain();
        assertThat(near.getEvent(pair.toFar(), remote, list, 1)).isEqualTo(Status.SUCCESS);
        assertThat(near.next())
                .isEqualTo(new Peer.Outcome("get", Status.SUCCESS, 8, 1, pair.toFar()));
        MemorySegment value = MemorySegment.ofArray(new long[1]);
        MemorySegment.copy(near.bytes, 0, value, 0, first);
        MemorySegment.copy(near.bytes, 100, value, first, second);
        MemorySegment.copy(near.bytes, 200, value, first + second, third);
        assertThat(value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(list.dataLength()).isEqualTo(first);
        assertThat(Objects.requireNonNull(list.nextInList()).dataLength()).isEqualTo(second);
        list.release();
    }

    @ParameterizedTest
    @CsvSource({"3, 0, 5", "0, 0, 8", "1, 6, 1", "8, 0, 0", "0, 7, 1"})
    @Clause({"rdma-165", "rdma-166"})
    void shouldSetTheValueOfAList(int first, int second, int third) {
        Pair pair = withLists();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        MemorySegment value = MemorySegment.ofArray(new long[] {0x0102_0304_0506_0708L});
        MemorySegment.copy(value, 0, near.bytes, 0, first);
        MemorySegment.copy(value, first, near.bytes, 100, second);
        MemorySegment.copy(value, first + second, near.bytes, 200, third);
        Buf list = near.data(0, first);
        list.chain(near.data(100, second));
        list.chain(near.data(200, third));
        assertThat(near.setEvent(pair.toFar(), remote, list, 1)).isEqualTo(Status.SUCCESS);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        assertThat(event.get()).isEqualTo(0x0102_0304_0506_0708L);
    }

    private Pair withLists() {
        return connect(
                openConfigured(rdma -> rdma.setMaxSendBufferListLength(LIST_LENGTH)), openFar());
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-154", "rdma-165"})
    void shouldRefuseALongerList(Operation operation) {
        Pair pair = withLists();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        int limit = operation == Operation.NOTIFY_ADD ? 1 : LIST_LENGTH;
        Buf list = operation.local(near, near.mmap, 0, 8);
        for (int i = 1; i <= limit; i++) {
            list.chain(operation.local(near, near.mmap, 100L * i, 0));
        }
        assertThat(operation.submit(pair, remote, list, 1)).isEqualTo(Status.INVALID_VALUE);
        assertThat(near.rdma.inFlightTasks()).isZero();
        assertThat(event.get()).isZero();
        remote.close(); // no task keeps it
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-155", "rdma-166", "rdma-174"})
    void shouldNeedEightBytes(Operation operation) {
        Pair pair = withLists();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        near.fill(0, 100, 1);
        for (int length = 0; length < 8; length++) {
            Buf local = operation.local(near, near.mmap, 0, length);
            assertThat(operation.submit(pair, remote, local, 1)).isEqualTo(Status.INVALID_VALUE);
        }
        if (operation == Operation.NOTIFY_SET) {
            Buf list = near.data(0, 8);
            list.chain(near.data(100, 1));
            assertThat(operation.submit(pair, remote, near.data(0, 9), 1))
                    .isEqualTo(Status.INVALID_VALUE);
            assertThat(operation.submit(pair, remote, list, 1)).isEqualTo(Status.INVALID_VALUE);
        }
        assertThat(near.rdma.inFlightTasks()).isZero();
        assertThat(near.mismatch(0, 100, 1)).isEqualTo(-1);
        assertThat(event.get()).isZero();
        remote.close(); // no task keeps it
    }

    // ---- permissions ----

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    @Clause({"rdma-018", "rdma-019", "rdma-022"})
    @Clause({"rdma-023", "rdma-026", "rdma-027"})
    void shouldAllowWhatTheTableOfPermissionsAllows(int rights) {
        List<AccessFlag> granted = new ArrayList<>();
        int bit = 1;
        for (Operation operation : Operation.values()) {
            if ((rights & bit) != 0) {
                granted.add(operation.right);
            }
            bit <<= 1;
        }
        Peer near = openConfigured(rdma -> rdma.setPermissions(Permissions.LOCAL_READ_ONLY));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma ->
                                        rdma.setPermissions(
                                                Permissions.of(
                                                        granted.toArray(AccessFlag[]::new)))));
        Pair pair = connect(near, far);
        for (boolean writable : new boolean[] {true, false}) {
            SharedMemory memory = SharedMemory.allocate(4096);
            Mmap local = Mmap.create();
            near.closeLater(local);
            near.closeLater(memory);
            local.setMemory(memory)
                    .setPermissions(
                            writable ? Permissions.LOCAL_READ_WRITE : Permissions.LOCAL_READ_ONLY)
                    .addDevice(near.device)
                    .start();
            memory.segment().fill((byte) 9);
            MemorySegment before =
                    MemorySegment.ofArray(memory.segment().toArray(ValueLayout.JAVA_BYTE));
            for (Operation operation : Operation.values()) {
                SyncEvent event = far.event();
                RemoteSyncEvent remote = near.remoteEvent(far, event);
                event.set(4);
                Status submitted =
                        operation.submit(pair, remote, operation.local(near, local, 64, 8), 1);
                boolean allowed = writable && granted.contains(operation.right);
                String what =
                        Text.format("%s, %s, local %s", operation, granted, local.permissions());
                assertThat(submitted)
                        .as(what)
                        .isEqualTo(allowed ? Status.SUCCESS : Status.NOT_PERMITTED);
                if (allowed) {
                    assertThat(near.next(far).status()).as(what).isEqualTo(Status.SUCCESS);
                    memory.segment().fill((byte) 9);
                } else {
                    for (int i = 0; i < 4; i++) { // also for one that was queued in spite of it
                        near.engine.progress();
                        far.engine.progress();
                    }
                    assertThat(event.get()).as(what).isEqualTo(4);
                    assertThat(memory.segment().mismatch(before)).as(what).isEqualTo(-1);
                }
            }
        }
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-021", "rdma-025", "rdma-029"})
    void shouldNotReachTheEventOfAnotherMachineThanThePeers(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        Peer third = openFar();
        SyncEvent event = third.event();
        RemoteSyncEvent remote = near.remoteEvent(third, event);
        near.fill(0, 8, 1);
        Status submitted =
                operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 1);
        Status ended = submitted == Status.SUCCESS ? near.next(pair.far()).status() : submitted;
        assertThat(ended).isNotEqualTo(Status.SUCCESS);
        assertThat(event.get()).isZero();
        assertThat(near.mismatch(0, 8, 1)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAnEventOfAnotherDeviceAndAClosedOne(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        byte[] blob = event.exportRdma(pair.far().device);
        Device same = near.machine.findDevice(environment().device(near.machine.side())).open();
        RemoteSyncEvent ofOther = RemoteSyncEvent.createFromExport(blob, same);
        assertThat(operation.submit(pair, ofOther, operation.local(near, near.mmap, 0, 8), 1))
                .isEqualTo(Status.NOT_PERMITTED);
        RemoteSyncEvent remote = near.remoteEvent(blob);
        remote.close();
        assertThat(operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 1))
                .isEqualTo(Status.BAD_STATE);
        ofOther.close();
        same.close();
        assertThat(event.get()).isZero();
    }

    // ---- the end of the event ----

    @ParameterizedTest
    @EnumSource
    void shouldBeOpenWhileTasksAreInFlight(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 1);
        assertThat(Refusals.statusOf(remote::close)).isEqualTo(Status.IN_USE);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        remote.close();
        remote.close();
        assertThat(remote.isClosed()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-160", "rdma-169"})
    void shouldEndWithTheEvent(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        event.stop();
        assertThat(operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 1))
                .as("stopped, not destroyed")
                .isEqualTo(Status.SUCCESS);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
        event.close();
        Status submitted =
                operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 1);
        assertWithdrawn(submitted, near, pair.far());
        if (has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)) {
            assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldFailInFlightWhenTheEventEnds(Operation operation) {
        Peer near = openConfigured(rdma -> rdma.setMaxConnections(2));
        Pair pair = connect(near, openFar());
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        near.fill(0, 8, 1);
        near.send(pair.toFar(), null, 1); // without a receive; the operation waits behind it
        assertThat(operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 2))
                .isEqualTo(Status.SUCCESS);
        Peer.end(event);
        pair.far().receive(null, 3);
        Peer.drive("both", () -> near.outcomes.size() == 2, near, pair.far());
        assertThat(near.outcomes.getLast().userData()).isEqualTo(2);
        assertThat(near.outcomes.getLast().status()).isEqualTo(statusOfWithdrawn());
        assertThat(near.mismatch(0, 8, 1)).isEqualTo(-1);
        assertThat(pair.toFar().failure()).isEqualTo(statusOfWithdrawn());
        if (has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)) {
            assertThat(pair.toFar().failureReason())
                    .startsWith("sync event was destroyed: event=" + remote);
        }
        remote.close();
    }

    // ---- failures ----

    @Test
    @Clause("rdma-176")
    void shouldStopTheContextAfterAFailedAddAlsoWithSeveralConnections() {
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setMaxConnections(2).setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED);
                    rdma.setRemoteSyncEventNotifyAddTasks(1, task -> {}, failed::add);
                });
        Pair pair = connect(near, openFar());
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        Buf result = near.room(0, 8);
        near.send(pair.toFar(), null, 1); // without a receive; the addition is behind it
        near.rdma.allocateRemoteSyncEventNotifyAdd(pair.toFar(), remote, result, 1).submit();
        near.engine.progress();
        pair.toNear().disconnect();

        Peer.drive("the failure", () -> !failed.isEmpty(), near, pair.far());
        near.engine.progress();
        assertThat(failed.getFirst().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(near.rdma.state()).as("not freed").isEqualTo(ContextState.STOPPING);
        assertThat(near.rdma.failure())
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_RESET));
        failed.getFirst().free();
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near);
        result.release();
    }

    @ParameterizedTest
    @EnumSource(names = {"GET", "NOTIFY_SET"})
    @Clause({"rdma-160", "rdma-169"})
    void shouldTellAFailureThatDoesNotStopTheContext(Operation operation) {
        Peer near =
                openConfigured(rdma ->
                        rdma.setMaxConnections(2).setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED));
        Pair pair = connect(near, openFar());
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        near.send(pair.toFar(), null, 1); // without a receive; the operation is behind it
        operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 2);
        pair.toNear().disconnect();
        Peer.drive("both", () -> near.outcomes.size() == 2, near, pair.far());
        assertThat(near.outcomes.getLast().userData()).isEqualTo(2);
        assertThat(near.outcomes.getLast().status()).isEqualTo(Status.CONNECTION_RESET);
        near.engine.progress();
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(near.rdma.failure()).isNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"GET", "NOTIFY_SET"})
    @Clause({"rdma-159", "rdma-168"})
    void shouldLeaveTheTaskToTheUserAfterAFatalFailure(Operation operation) {
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setRemoteSyncEventGetTasks(1, task -> {}, failed::add);
                    rdma.setRemoteSyncEventNotifySetTasks(1, task -> {}, failed::add);
                });
        Pair pair = connect(near, openFar());
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        Buf local = operation.local(near, near.mmap, 0, 8);
        Task task = operation.allocate(pair, remote, local);
        near.send(pair.toFar(), null, 1); // without a receive; the operation waits behind it
        task.submit();
        Peer.end(event); // which fails the only connection
        pair.far().receive(null, 2);
        Peer.drive("the failure", () -> !failed.isEmpty(), near, pair.far());
        near.engine.progress();
        assertThat(failed).containsExactly(task);
        assertThat(task.status()).isNotEqualTo(Status.SUCCESS);
        assertThat(near.rdma.state()).as("not freed").isEqualTo(ContextState.STOPPING);
        task.free();
        Peer.drive("the end", () -> near.rdma.state() == ContextState.IDLE, near);
        local.release();
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeFlushedByAStopWithoutAFailure(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        near.send(pair.toFar(), null, 1); // without a receive; the operation waits behind it
        operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 2);
        near.stop();
        assertThat(near.outcomes)
                .extracting(Peer.Outcome::status)
                .containsExactly(Status.CONNECTION_ABORTED, Status.CONNECTION_ABORTED);
        assertThat(near.rdma.failure()).isNull();
        remote.close(); // no task keeps it
    }

    // ---- configuration ----

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-151", "rdma-162", "rdma-171"})
    void shouldCallTheCallbackThatFits(Operation operation) {
        List<Task> succeeded = new ArrayList<>();
        List<Task> failed = new ArrayList<>();
        Peer near =
                openConfigured(rdma -> {
                    rdma.setRemoteSyncEventGetTasks(1, succeeded::add, failed::add);
                    rdma.setRemoteSyncEventNotifySetTasks(1, succeeded::add, failed::add);
                    rdma.setRemoteSyncEventNotifyAddTasks(1, succeeded::add, failed::add);
                });
        Pair pair = connect(near, openFar());
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        Buf local = operation == Operation.NOTIFY_SET ? near.data(0, 8) : near.room(0, 64);
        Task task = operation.allocate(pair, remote, local);
        task.submit();
        Peer.drive("the end", () -> succeeded.size() + failed.size() == 1, near);
        assertThat(succeeded).containsExactly(task);
        near.send(pair.toFar(), null, 1); // without a receive; the operation waits behind it
        task.submit();
        near.rdma.stop(); // before any progress
        Peer.drive("the end", () -> succeeded.size() + failed.size() == 2, near);
        assertThat(failed).containsExactly(task);
        task.free();
        local.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-153", "rdma-164", "rdma-173"})
    void shouldHandOutAsManyTasksAsConfigured(Operation operation) {
        Peer near =
                openConfigured(rdma -> {
                    rdma.setRemoteSyncEventGetTasks(1, task -> {}, task -> {});
                    rdma.setRemoteSyncEventNotifySetTasks(2, task -> {}, task -> {});
                    rdma.setRemoteSyncEventNotifyAddTasks(3, task -> {}, task -> {});
                });
        Pair pair = connect(near, openFar());
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        Buf local = operation.local(near, near.mmap, 0, 8);
        List<Task> tasks = new ArrayList<>();
        int count =
                switch (operation) {
                    case GET -> 1;
                    case NOTIFY_SET -> 2;
                    case NOTIFY_ADD -> 3;
                };
        for (int i = 0; i < count; i++) {
            tasks.add(operation.allocate(pair, remote, local));
        }
        assertThat(Refusals.statusOf(() -> tasks.add(operation.allocate(pair, remote, local))))
                .isEqualTo(Status.NO_MEMORY);
        tasks.forEach(Task::free);
        local.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-152", "rdma-163", "rdma-172"})
    void shouldBeSupportedWhereItWorks(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), pair.far().event());
        assertThat(RdmaCapabilities.of(near.device.info()).isSupported(operation.type)).isTrue();
        operation.submit(pair, remote, operation.local(near, near.mmap, 0, 8), 1);
        assertThat(near.next().status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource
    @SuppressWarnings("NullAway") // a mistake of a user
    void shouldTellWhatIsWrong(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        SyncEvent event = pair.far().event();
        RemoteSyncEvent remote = near.remoteEvent(pair.far(), event);
        Buf local = operation.local(near, near.mmap, 0, 7);
        Task task = operation.allocate(pair, remote, local);
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(Objects.requireNonNull(task.refusal()))
                .hasMessageContaining(
                        operation == Operation.NOTIFY_SET
                                ? "value of a sync event has another length: source=buf["
                                : "tailroom 7 < 8");
        task.free();
        assertThatThrownBy(() -> operation.allocate(pair, null, local))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
        local.release();
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The operations of the guide as a whole, each by its effect; over every provider. */
public abstract class RdmaOperationsContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaOperationsContract() {}

    @Test
    @Clause("rdma-009")
    void shouldExecuteTheElevenOperations() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        Mmap memory = near.importRdma(far);
        near.setWord(0, 11);

        far.receive(far.room(0, 8), 1);
        near.send(pair.toFar(), near.data(0, 8), 2);
        assertThat(far.next(near).kind()).isEqualTo("receive");
        assertThat(far.word(0)).isEqualTo(11);
        succeed("send", pair);

        far.receive(far.room(8, 8), 1);
        near.sendImmediate(pair.toFar(), near.data(0, 8), 5, 2);
        assertThat(far.next(near))
                .isEqualTo(
                        new Peer.Outcome(
                                "receive immediate", Status.SUCCESS, 8, 1, pair.toNear(), 5));
        assertThat(far.word(8)).isEqualTo(11);
        succeed("send immediate", pair);

        near.write(pair.toFar(), near.data(0, 8), near.inventory.bufByAddress(memory, 16, 8), 3);
        succeed("write", pair);
        assertThat(far.word(16)).isEqualTo(11);

        far.receive(null, 1);
        near.writeImmediate(
                pair.toFar(), near.data(0, 8), near.inventory.bufByAddress(memory, 24, 8), 6, 3);
        assertThat(far.next(near))
                .isEqualTo(
                        new Peer.Outcome(
                                "receive written", Status.SUCCESS, 8, 1, pair.toNear(), 6));
        assertThat(far.word(24)).isEqualTo(11);
        succeed("write immediate", pair);

        far.setWord(32, 12);
        near.read(pair.toFar(), near.inventory.bufByData(memory, 32, 8), near.room(32, 8), 4);
        succeed("read", pair);
        assertThat(near.word(32)).isEqualTo(12);

        near.compareAndSwap(
                pair.toFar(), near.inventory.bufByData(memory, 32, 8), near.room(40, 8), 12, 13, 5);
        succeed("compare and swap", pair);
        assertThat(near.word(40)).isEqualTo(12);

        near.fetchAndAdd(
                pair.toFar(), near.inventory.bufByData(memory, 32, 8), near.room(48, 8), 2, 6);
        succeed("fetch and add", pair);
        assertThat(near.word(48)).isEqualTo(13);
        assertThat(far.word(32)).isEqualTo(15);

        SyncEvent event = far.event();
        RemoteSyncEvent remote = near.remoteEvent(far, event);
        near.setEvent(pair.toFar(), remote, near.data(0, 8), 7);
        succeed("set", pair);
        assertThat(event.get()).isEqualTo(11);

        near.addEvent(pair.toFar(), remote, near.room(56, 8), 3, 8);
        succeed("add", pair);
        assertThat(event.get()).isEqualTo(14);

        near.getEvent(pair.toFar(), remote, near.room(64, 8), 9);
        succeed("get", pair);
        assertThat(near.word(64)).isEqualTo(14);
    }

    private static void succeed(String kind, Pair pair) {
        Peer.Outcome next = pair.near().next(pair.far());
        assertThat(next.kind()).isEqualTo(kind);
        assertThat(next.status()).as(kind).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause("rdma-009")
    void shouldSupportATaskTypePerOperation() {
        Set<RdmaTaskType> types = EnumSet.noneOf(RdmaTaskType.class);
        RdmaCapabilities can = RdmaCapabilities.of(openNear().device.info());
        for (RdmaTaskType type : RdmaTaskType.values()) {
            if (can.isSupported(type)) {
                types.add(type);
            }
        }
        assertThat(types).hasSize(11);
    }

    /** A new type is to be added to the types that the tests run with. */
    @Test
    void shouldTestEachTaskType() {
        Set<RdmaTaskType> tested = EnumSet.noneOf(RdmaTaskType.class);
        for (BufTaskType type : BufTaskType.values()) {
            tested.add(type.type);
        }
        for (RdmaSyncEventContract.Operation operation : RdmaSyncEventContract.Operation.values()) {
            tested.add(operation.type);
        }
        assertThat(tested).containsExactlyInAnyOrder(RdmaTaskType.values());
    }
}

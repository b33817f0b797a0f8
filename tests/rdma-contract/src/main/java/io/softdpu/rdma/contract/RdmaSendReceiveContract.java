package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sends and receives, for all providers. */
public abstract class RdmaSendReceiveContract extends RdmaContract {
    private Peer near;
    private Peer far;
    private RdmaConnection toFar;
    private RdmaConnection toNear;

    /** For subclasses. */
    protected RdmaSendReceiveContract() {}

    @BeforeEach
    void open() {
        Pair pair = connected();
        near = pair.near();
        far = pair.far();
        toFar = pair.toFar();
        toNear = pair.toNear();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                1, 8, 63, 64, 65, 255, 256, 1024, 4095, 4096, 4097, 8191, 8192, 8193, 65_536,
                262_143, 262_144, 262_145, 1_048_579
            })
    @Clause({"rdma-063", "rdma-074", "rdma-081"})
    void shouldDeliverMessageOfAnySizeUnchanged(int sizeBytes) {
        near.fill(100, sizeBytes, 3);
        far.receive(far.room(4096, sizeBytes), 7);
        assertThat(near.send(toFar, near.data(100, sizeBytes), 5)).isEqualTo(Status.SUCCESS);

        Peer.Outcome received = far.next(near);
        assertThat(received.kind()).isEqualTo("receive");
        assertThat(received.status()).isEqualTo(Status.SUCCESS);
        assertThat(received.length()).isEqualTo(sizeBytes);
        assertThat(received.userData()).isEqualTo(7);
        assertThat(received.connection()).isSameAs(toNear);
        assertThat(far.mismatch(4096, sizeBytes, 3)).isEqualTo(-1);
        Peer.Outcome sent = near.next(far);
        assertThat(sent).isEqualTo(new Peer.Outcome("send", Status.SUCCESS, -1, 5, toFar));
    }

    @Test
    @Clause("rdma-064")
    void shouldDeliverEmptyMessagesWithAndWithoutBufs() {
        far.receive(null, 1);
        far.receive(far.room(0, 64), 2);
        near.send(toFar, near.data(0, 0), 1);
        near.send(toFar, null, 2);

        assertThat(far.next(near))
                .isEqualTo(new Peer.Outcome("receive", Status.SUCCESS, 0, 1, toNear));
        assertThat(far.next(near))
                .isEqualTo(new Peer.Outcome("receive", Status.SUCCESS, 0, 2, toNear));
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20})
    @Clause({"rdma-067", "rdma-068", "core-100"})
    @Clause({"core-099", "core-102", "core-272"})
    void shouldAppendBehindTheDataThatIsThere(int dataBytes) {
        near.fill(0, 10, 4);
        near.fill(10, 100, 9);
        far.fill(1000, 300, 1);
        int headAndData = 10 + dataBytes;
        Buf source = near.inventory.bufByArgs(near.mmap, 0, 300, 10, 100);
        Buf destination = far.inventory.bufByArgs(far.mmap, 1000, 300, 1010, dataBytes);
        destination.retain();
        RdmaReceiveTask task = far.rdma.allocateReceive(destination);
        task.submit();
        near.send(toFar, source, 0);

        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(task.resultOpcode()).isEqualTo(RdmaOpcode.SEND);
        assertThat(destination.dataOffset()).isEqualTo(1010);
        assertThat(destination.dataLength()).isEqualTo(dataBytes + 100);
        assertThat(far.mismatch(1000, headAndData, 1)).as("head and data untouched").isEqualTo(-1);
        assertThat(far.mismatch(1000 + headAndData, 100, 9)).as("appended").isEqualTo(-1);
        assertThat(far.bytes.get(ValueLayout.JAVA_BYTE, 1100 + headAndData))
                .as("behind the message")
                .isEqualTo(Peer.pattern(1, 100 + headAndData));
        destination.release();
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(near.mismatch(0, 10, 4)).as("head of the source").isEqualTo(-1);
    }

    @Test
    @Clause({"rdma-064", "rdma-067", "rdma-068"})
    void shouldAppendEachMessageBehindTheOneBeforeAndTellItsLength() {
        int size = 30_000;
        far.fill(0, size, 1);
        Buf destination = far.inventory.bufByArgs(far.mmap, 0, size, 50, 30);
        long end = 80;
        for (int sizeBytes : new int[] {100, 0, 9000, 1}) { // of no, one and several fragments
            near.fill(0, sizeBytes, 2);
            destination.retain(); // the peer releases what it has used
            far.receive(destination, 7);
            near.send(toFar, near.data(0, sizeBytes), 8);

            assertThat(far.next(near))
                    .isEqualTo(new Peer.Outcome("receive", Status.SUCCESS, sizeBytes, 7, toNear));
            assertThat(far.mismatch(end, sizeBytes, 2)).isEqualTo(-1);
            end += sizeBytes;
            assertThat(destination.dataLength()).isEqualTo(end - 50);
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        }
        assertThat(destination.dataOffset()).isEqualTo(50);
        assertThat(far.mismatch(0, 80, 1)).as("head and first data").isEqualTo(-1);

        destination.retain();
        far.receive(destination, 9);
        near.send(toFar, near.data(0, size), 8);
        assertThat(far.next(near))
                .as("no length without success")
                .isEqualTo(new Peer.Outcome("receive", Status.TOO_BIG, 0, 9, toNear));
        assertThat(destination.dataLength()).isEqualTo(end - 50);
        destination.release();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096, 10_000})
    @Clause({"rdma-074", "rdma-081"})
    void shouldSendTheDataOfTheSourceAloneInBothDirections(int sizeBytes) {
        for (int round = 0; round < 2; round++) { // the second one with the tasks of the first
            sendDataOfSource(near, toFar, far, sizeBytes, 2 * round);
            sendDataOfSource(far, toNear, near, sizeBytes, 2 * round + 1);
        }
    }

    /** Sends from a buf that has a head and a tail too. */
    private static void sendDataOfSource(
            Peer from, RdmaConnection connection, Peer to, int sizeBytes, int seed) {
        from.fill(0, sizeBytes + 200L, seed + 100);
        from.fill(100, sizeBytes, seed);
        Buf source = from.inventory.bufByArgs(from.mmap, 0, sizeBytes + 200L, 100, sizeBytes);
        source.retain(); // the peer releases what it has used
        to.receive(to.room(1_000_000, sizeBytes), 1);
        from.send(connection, source, 2);

        assertThat(to.next(from).length()).isEqualTo(sizeBytes);
        assertThat(to.mismatch(1_000_000, sizeBytes, seed)).as("received").isEqualTo(-1);
        assertThat(from.next(to).status()).isEqualTo(Status.SUCCESS);
        assertThat(source.dataOffset()).isEqualTo(100);
        assertThat(source.dataLength()).isEqualTo(sizeBytes);
        assertThat(from.mismatch(100, sizeBytes, seed)).as("source").isEqualTo(-1);
        source.release();
    }

    @Test
    void shouldKeepTheOrderOfMessagesOfAllSizes() {
        int[] sizes = {1, 5000, 0, 64, 4096, 70_000, 3, 4097};
        for (int i = 0; i < sizes.length; i++) {
            near.fill(100_000L * i, sizes[i], i);
            far.receive(far.room(100_000L * i, 100_000), i);
        }
        for (int i = 0; i < sizes.length; i++) {
            near.send(toFar, near.data(100_000L * i, sizes[i]), i);
        }
        for (int i = 0; i < sizes.length; i++) {
            Peer.Outcome received = far.next(near);
            assertThat(received.userData()).isEqualTo(i);
            assertThat(received.length()).isEqualTo(sizes[i]);
            assertThat(far.mismatch(100_000L * i, sizes[i], i)).isEqualTo(-1);
        }
        for (int i = 0; i < sizes.length; i++) {
            assertThat(near.next(far).userData()).isEqualTo(i);
        }
    }

    @Test
    void shouldKeepMessagesUntilReceivesAreSubmitted() {
        int count = 400; // more than any provider keeps on its way
        for (int i = 0; i < count; i++) {
            near.fill(i * 64L, 64, i);
            assertThat(near.send(toFar, near.data(i * 64L, 64), i)).isEqualTo(Status.SUCCESS);
        }
        for (int i = 0; i < 1000; i++) {
            near.engine.progress();
            far.engine.progress();
        }
        assertThat(near.outcomes).as("nothing was taken").isEmpty();

        for (int i = 0; i < count; i++) {
            assertThat(far.receive(far.room(i * 64L, 64), i)).isEqualTo(Status.SUCCESS);
        }
        for (int i = 0; i < count; i++) {
            Peer.Outcome received = far.next(near);
            assertThat(received.userData()).isEqualTo(i);
            assertThat(far.mismatch(i * 64L, 64, i)).isEqualTo(-1);
        }
        for (int i = 0; i < count; i++) {
            assertThat(near.next(far).userData()).isEqualTo(i);
        }
    }

    @Test
    @Clause("rdma-005")
    void shouldSendBothWaysAtTheSameTime() {
        int count = 200;
        for (int i = 0; i < count; i++) {
            near.receive(near.room(1_000_000 + i * 64L, 64), i);
            far.receive(far.room(1_000_000 + i * 64L, 64), i);
            near.fill(i * 64L, 64, i);
            far.fill(i * 64L, 64, i + 1000);
        }
        for (int i = 0; i < count; i++) {
            near.send(toFar, near.data(i * 64L, 64), i);
            far.send(toNear, far.data(i * 64L, 64), i);
        }
        Peer.drive(
                "all messages",
                () -> near.outcomes.size() == 2 * count && far.outcomes.size() == 2 * count,
                near,
                far);
        for (int i = 0; i < count; i++) {
            assertThat(near.mismatch(1_000_000 + i * 64L, 64, i + 1000)).isEqualTo(-1);
            assertThat(far.mismatch(1_000_000 + i * 64L, 64, i)).isEqualTo(-1);
        }
    }

    @Test
    @Clause("rdma-189")
    void shouldCompleteTasksAndDeliverEventsInProgressWhileRunning() {
        assertThat(near.states).containsExactly(ContextState.STARTING, ContextState.RUNNING);
        assertThat(near.connectionStates).endsWith(RdmaConnection.State.CONNECTED);
        far.receive(far.room(0, 64), 1);
        near.send(toFar, near.data(0, 64), 2);
        assertThat(far.outcomes).as("without progress").isEmpty();
        assertThat(far.next(near).kind()).isEqualTo("receive");
        assertThat(near.next(far).kind()).isEqualTo("send");

        near.connectionStates.clear();
        toFar.disconnect();
        assertThat(near.connectionStates).as("without progress").isEmpty();
        Peer.drive("the event", () -> !near.connectionStates.isEmpty(), near);
        assertThat(near.connectionStates).containsExactly(RdmaConnection.State.DISCONNECTED);
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
    }

    @Test
    @Clause("rdma-008")
    void shouldCarryTrafficOfRandomSizesInOrder(SeededRandom random) {
        int messages = 600;
        long slotBytes = 40_000;
        int slots = 40;
        int[] sizes = new int[messages];
        int posted = 0;
        int sent = 0;
        int arrived = 0;
        while (arrived < messages) {
            if (posted < messages && posted - arrived < slots && random.chance(0.5)) {
                far.receive(far.room(posted % slots * slotBytes, slotBytes), posted++);
            }
            // A slot of the sender is free again when its message has arrived.
            if (sent < messages && sent - arrived < slots && random.chance(0.5)) {
                int size = (int) (random.chance(0.2) ? random.between(0, 40_000) : 64);
                sizes[sent] = size;
                near.fill(sent % slots * slotBytes, size, sent);
                near.send(toFar, near.data(sent % slots * slotBytes, size), sent++);
            }
            (random.nextBoolean() ? near : far).engine.progress();
            while (!far.outcomes.isEmpty()) {
                Peer.Outcome outcome = far.outcomes.remove();
                assertThat(outcome.userData()).isEqualTo(arrived);
                assertThat(outcome.status()).isEqualTo(Status.SUCCESS);
                assertThat(outcome.length()).isEqualTo(sizes[arrived]);
                assertThat(far.mismatch(arrived % slots * slotBytes, sizes[arrived], arrived))
                        .as("message %d", arrived)
                        .isEqualTo(-1);
                arrived++;
            }
        }
        Peer.drive("all sends end", () -> near.outcomes.size() == messages, near, far);
        for (int i = 0; i < messages; i++) {
            assertThat(near.outcomes.remove().userData()).isEqualTo(i);
        }
    }
}

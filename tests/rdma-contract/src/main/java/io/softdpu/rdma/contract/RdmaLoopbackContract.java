package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaAddress;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.SeededRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Loopback: an instance that is connected to itself, for all providers. */
public abstract class RdmaLoopbackContract extends RdmaContract {
    private static final int PORT = 13580;
    private static final byte[] NO_DATA = {};

    /** For subclasses. */
    protected RdmaLoopbackContract() {}

    /** Ways to connect an instance to itself. */
    enum Loop {
        /** One connection gets its own blob. */
        ONE_END,
        /** Two connections get each other's blob. */
        TWO_ENDS,
        /** The instance connects to its own listener. */
        BY_ADDRESS
    }

    /**
     * An instance and the two ends of the connection to itself.
     *
     * @param accepted by the callback, and not used yet
     * @param here the end that sends
     * @param there the end that receives; the same with {@link Loop#ONE_END}
     */
    private record Looped(
            Peer peer, List<RdmaConnection> accepted, RdmaConnection here, RdmaConnection there) {
        void awaitEnds(RdmaConnection.State state) {
            Peer.drive(
                    "both " + state, () -> here.state() == state && there.state() == state, peer);
        }

        /** The next outcomes, in the order of their kinds, which no provider promises. */
        List<String> next(int count) {
            List<String> kinds = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Peer.Outcome outcome = peer.next();
                kinds.add(outcome.kind() + " " + outcome.status());
            }
            kinds.sort(null);
            return kinds;
        }
    }

    private Looped open(Loop loop) {
        assumeTrue(
                loop != Loop.ONE_END || environment().connectsOneEndToItself(), "needs two ends");
        List<RdmaConnection> accepted = new ArrayList<>();
        Peer peer =
                openConfigured(rdma ->
                        rdma.setMaxConnections(2)
                                .setConnectionRequestCallback(
                                        request -> accepted.add(request.accept(NO_DATA))));
        return connect(peer, loop, accepted);
    }

    private static Looped connect(Peer peer, Loop loop, List<RdmaConnection> accepted) {
        peer.start();
        RdmaConnection here;
        RdmaConnection there;
        if (loop == Loop.BY_ADDRESS) {
            peer.rdma.listen(PORT);
            here =
                    peer.rdma.connect(
                            new RdmaAddress(RdmaAddress.Type.IPV4, peer.device.info().ipv4(), PORT),
                            NO_DATA);
            Peer.drive("a request", () -> !accepted.isEmpty(), peer);
            there = accepted.removeFirst();
        } else {
            here = peer.rdma.exportConnection();
            there = loop == Loop.ONE_END ? here : peer.rdma.exportConnection();
            peer.rdma.connect(there.blob(), here);
            if (there != here) {
                peer.rdma.connect(here.blob(), there);
            }
        }
        Looped looped = new Looped(peer, accepted, here, there);
        looped.awaitEnds(RdmaConnection.State.CONNECTED);
        return looped;
    }

    @ParameterizedTest
    @EnumSource
    void shouldReceiveWhatItSends(Loop loop, SeededRandom random) {
        Looped looped = open(loop);
        Peer peer = looped.peer();
        for (int sizeBytes : new int[] {1, 4097, 300_000}) {
            int seed = (int) random.between(1, 100);
            peer.fill(0, sizeBytes, seed);
            peer.receive(peer.room(1 << 20, sizeBytes), 7);
            assertThat(peer.send(looped.here(), peer.data(0, sizeBytes), 8))
                    .isEqualTo(Status.SUCCESS);

            assertThat(looped.next(2)).containsExactly("receive SUCCESS", "send SUCCESS");
            assertThat(peer.mismatch(1 << 20, sizeBytes, seed)).isEqualTo(-1);
        }
        peer.receive(peer.room(0, 64), 1);
        peer.sendImmediate(looped.here(), peer.data(0, 64), 77, 2);
        Peer.drive("both", () -> peer.outcomes.size() == 2, peer);
        assertThat(peer.outcomes)
                .filteredOn(outcome -> outcome.kind().equals("receive immediate"))
                .singleElement()
                .satisfies(outcome -> {
                    assertThat(outcome.immediate()).isEqualTo(77);
                    assertThat(outcome.connection()).isSameAs(looped.there());
                });
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadAndWriteItsOwnMemoryAndAddToIt(Loop loop) {
        Looped looped = open(loop);
        Peer peer = looped.peer();
        Mmap remote = peer.importRdma(peer);
        int sizeBytes = 100_000;
        peer.fill(0, sizeBytes, 5);
        peer.write(
                looped.here(),
                peer.data(0, sizeBytes),
                peer.inventory.bufByAddress(remote, 1 << 20, sizeBytes),
                1);
        assertThat(looped.next(1)).containsExactly("write SUCCESS");
        assertThat(peer.mismatch(1 << 20, sizeBytes, 5)).isEqualTo(-1);

        peer.read(
                looped.here(),
                peer.inventory.bufByData(remote, 1 << 20, sizeBytes),
                peer.room(2 << 20, sizeBytes),
                2);
        assertThat(looped.next(1)).containsExactly("read SUCCESS");
        assertThat(peer.mismatch(2 << 20, sizeBytes, 5)).isEqualTo(-1);

        peer.setWord(3 << 20, 40);
        peer.fetchAndAdd(
                looped.here(),
                peer.inventory.bufByData(remote, 3 << 20, 8),
                peer.room((3 << 20) + 64, 8),
                2,
                3);
        assertThat(looped.next(1)).containsExactly("fetch and add SUCCESS");
        assertThat(peer.word(3 << 20)).isEqualTo(42);
        assertThat(peer.word((3 << 20) + 64)).isEqualTo(40);
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndBothEndsByOneDisconnect(Loop loop) {
        Looped looped = open(loop);
        Peer peer = looped.peer();
        assertThat(peer.send(looped.here(), peer.data(0, 64), 1)).isEqualTo(Status.SUCCESS);

        looped.there().disconnect();
        looped.awaitEnds(RdmaConnection.State.DISCONNECTED);

        Peer.drive("the end of the send", () -> !peer.outcomes.isEmpty(), peer);
        assertThat(peer.outcomes)
                .singleElement()
                .satisfies(outcome ->
                        assertThat(outcome.status())
                                .as("nothing was there to receive it")
                                .isNotEqualTo(Status.SUCCESS));
        assertThat(peer.send(looped.here(), peer.data(0, 64), 2)).isEqualTo(Status.NOT_CONNECTED);
        assertThat(peer.rdma.state()).isEqualTo(ContextState.RUNNING);
    }

    /** Closed by the base class in any case: instance, then import, then memory. */
    @ParameterizedTest
    @EnumSource
    void shouldStopWithTasksInFlightAndConnectToItselfAgain(Loop loop) {
        Looped looped = open(loop);
        Peer peer = looped.peer();
        peer.importRdma(peer);
        peer.receive(peer.room(0, 16), 1);
        for (int i = 0; i < 3; i++) {
            peer.send(looped.here(), peer.data(0, 16), i);
        }

        peer.stop();

        assertThat(peer.outcomes).hasSize(4);
        assertThat(looped.here().state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        assertThat(looped.there().state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        peer.outcomes.clear();
        Looped again = connect(peer, loop, looped.accepted());
        peer.receive(peer.room(0, 16), 1);
        peer.send(again.here(), peer.data(0, 16), 2);
        assertThat(again.next(2)).containsExactly("receive SUCCESS", "send SUCCESS");
    }
}

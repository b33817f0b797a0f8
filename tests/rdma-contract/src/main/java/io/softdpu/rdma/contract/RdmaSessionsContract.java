package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.GrowthCheck;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Repeated sessions: the provider's resources do not grow with their number. */
public abstract class RdmaSessionsContract extends RdmaContract {
    private static final int BYTES = 4096;

    /** End of a session. */
    private enum Ending {
        DISCONNECT,
        STOP,
        CLOSED_UNDER_THE_PEER,
        NOBODY_CAME
    }

    /** For subclasses. */
    protected RdmaSessionsContract() {}

    @Test
    @Tag(Soak.TAG)
    final void shouldHoldNoMoreAfterManySessionsThanAfterAFew(SeededRandom random)
            throws Exception {
        long start = System.nanoTime();
        Ending[] endings = Ending.values();
        int warmUp = 4 * endings.length;
        String findings =
                GrowthCheck.over(
                        warmUp,
                        Soak.count(16, 80, 2_000),
                        // Each kind is there before anything is counted.
                        number ->
                                session(
                                        endings[
                                                number < warmUp
                                                        ? number % endings.length
                                                        : random.nextInt(endings.length)]));
        Soak.report(
                "sessions-rdma",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - start),
                findings);
    }

    private void session(Ending ending) {
        try (Peer near = Peer.open(environment(), folder(), environment().nearSide());
                Peer far = Peer.open(environment(), folder(), environment().farSide())) {
            if (ending == Ending.NOBODY_CAME) {
                near.start();
                far.start();
                RdmaConnection here = near.rdma.exportConnection();
                near.rdma.connect(far.rdma.exportConnection().blob(), here);
                near.engine.progress();
            } else {
                Pair pair = connect(near, far);
                transfer(pair);
                end(pair, ending);
            }
            near.stop();
            far.stop();
        }
    }

    private static void transfer(Pair pair) {
        Peer near = pair.near();
        Peer far = pair.far();
        near.fill(0, BYTES, 1);
        far.receive(far.room(0, BYTES), 1);
        near.send(pair.toFar(), near.data(0, BYTES), 2);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        assertThat(far.mismatch(0, BYTES, 1)).isNegative();
    }

    private static void end(Pair pair, Ending ending) {
        switch (ending) {
            case DISCONNECT -> {
                pair.toFar().disconnect();
                Peer.drive(
                        "both ends are gone",
                        () ->
                                pair.toFar().state() == RdmaConnection.State.DISCONNECTED
                                        && pair.toNear().state()
                                                == RdmaConnection.State.DISCONNECTED,
                        pair.near(),
                        pair.far());
            }
            case CLOSED_UNDER_THE_PEER -> {
                pair.far().receive(pair.far().room(0, BYTES), 3); // ends unused
                pair.near().stop();
                Peer.drive(
                        "the far end is gone",
                        () ->
                                pair.toNear().state() != RdmaConnection.State.CONNECTED
                                        || pair.far().rdma.state() == ContextState.IDLE,
                        pair.far());
            }
            case STOP, NOBODY_CAME -> {}
        }
    }
}

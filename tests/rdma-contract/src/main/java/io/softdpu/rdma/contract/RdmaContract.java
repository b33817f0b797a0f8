package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.softdpu.core.Status;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Base class of the contract tests: the test environment, and peers that are closed after the test.
 */
public abstract class RdmaContract {
    private final List<Peer> peers = new ArrayList<>();
    private @Nullable Path folder;

    /** For subclasses. */
    protected RdmaContract() {}

    /** The test environment. */
    protected abstract RdmaTestEnvironment environment();

    @BeforeEach
    final void takeFolder(@TempDir Path temporary) {
        folder = temporary;
    }

    @AfterEach
    final void closeParties() {
        assertAll(environment()::release, this::closePeers, this::endOthers);
    }

    private void closePeers() {
        peers.forEach(Peer::stop); // all first: a peer may be looking at another's memory
        peers.forEach(Peer::close);
    }

    /** Ends what a test has besides its peers, after them. */
    void endOthers() {}

    /** Folder of the machines, of this test alone. */
    protected final Path folder() {
        if (folder == null) {
            throw new IllegalStateException("outside a test");
        }
        return folder;
    }

    /** Opens the near side, which submits the tasks to the far one. */
    final Peer openNear() {
        return add(Peer.open(environment(), folder(), environment().nearSide()));
    }

    /** Opens the far side. */
    final Peer openFar() {
        return add(Peer.open(environment(), folder(), environment().farSide()));
    }

    /** Opens the near side so that a message without a receive stays in flight, however long. */
    final Peer openPatientNear() {
        return openConfigured(rdma -> rdma.setRnrRetries(Rdma.RNR_RETRIES_UNLIMITED));
    }

    /** Opens the far side with an RNR timer so short that retries are used up at once. */
    final Peer openFarWithShortTimer() {
        return add(
                Peer.open(
                        environment(),
                        folder(),
                        environment().farSide(),
                        Peer.ALL,
                        rdma -> rdma.setRnrTimer(Duration.ofNanos(10_000))));
    }

    /** Opens the near side with a configuration of its own. */
    final Peer openConfigured(Consumer<Rdma> configure) {
        return add(
                Peer.open(environment(), folder(), environment().nearSide(), Peer.ALL, configure));
    }

    /** Closes a peer after the test. */
    final Peer add(Peer peer) {
        peers.add(peer);
        return peer;
    }

    final boolean has(RdmaTrait trait) {
        return environment().traits().contains(trait);
    }

    /** Status of an operation that was in flight when its memory or event was withdrawn. */
    final Status statusOfWithdrawn() {
        return has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)
                ? Status.SHUTDOWN
                : Status.NOT_PERMITTED;
    }

    /**
     * Asserts that a task on withdrawn memory has failed: at its submission, or where the
     * environment does not have the trait, at its completion.
     */
    final void assertWithdrawn(Status submitted, Peer near, Peer... others) {
        if (has(RdmaTrait.WITHDRAWN_MEMORY_IS_REFUSED_AT_SUBMISSION)) {
            assertThat(submitted).isEqualTo(statusOfWithdrawn());
        } else {
            assertThat(submitted).isEqualTo(Status.SUCCESS);
            assertThat(near.next(others).status()).isEqualTo(statusOfWithdrawn());
        }
    }

    /** Two peers and the two ends of a connection between them. */
    record Pair(Peer near, Peer far, RdmaConnection toFar, RdmaConnection toNear) {}

    /** Opens both sides with the defaults, and connects them. */
    final Pair connected() {
        return connect(openNear(), openFar());
    }

    /** Starts and connects two peers. */
    static Pair connect(Peer near, Peer far) {
        RdmaConnection[] ends = Peer.connect(near, far);
        return new Pair(near, far, ends[0], ends[1]);
    }
}

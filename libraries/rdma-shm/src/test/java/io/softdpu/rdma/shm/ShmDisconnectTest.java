package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.testkit.Patience;
import org.junit.jupiter.api.Test;

/** Disconnects outside of progress. */
class ShmDisconnectTest extends RdmaListenFixture {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }

    @Test
    void shouldSignalANotificationThatWasRequestedBefore() {
        listener(1);
        RdmaConnection[] ends = establish(start(nearDevice, 1, rdma -> {}));
        engine.clearNotification(); // what has rung while it was polled
        engine.requestNotification();
        ends[0].disconnect();
        // Not at once: a thread of the bus may be about to signal for both.
        assertThat(engine.awaitNotification(Patience.DEADLINE)).isTrue();
        engine.clearNotification();
        until("disconnected", () -> ends[1].state() == RdmaConnection.State.DISCONNECTED);
    }
}

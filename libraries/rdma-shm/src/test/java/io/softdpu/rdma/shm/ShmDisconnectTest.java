package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Disconnects outside of progress. */
class ShmDisconnectTest extends ListenFixture {
    @Test
    void shouldSignalANotificationThatWasRequestedBefore() {
        listener(1);
        Rdma peer = start(targetDevice, 1, rdma -> {});
        RdmaConnection here = peer.connect(address(), NO_DATA);
        RdmaConnection there = nextRequest().accept(NO_DATA);
        until(
                "connected",
                () ->
                        here.state() == RdmaConnection.State.CONNECTED
                                && there.state() == RdmaConnection.State.CONNECTED);
        engine.clearNotification(); // what has rung while it was polled
        engine.requestNotification();
        here.disconnect();
        assertThat(engine.awaitNotification(Duration.ZERO)).isTrue();
        engine.clearNotification();
        until("disconnected", () -> there.state() == RdmaConnection.State.DISCONNECTED);
    }
}

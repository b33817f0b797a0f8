package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import org.junit.jupiter.api.Test;

/** Counters of a provider that counts nothing. */
class ShmCountersTest extends RdmaListenFixture {
    @Override
    protected RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }

    @Test
    void shouldHaveNoCountersInAnyState() {
        listener(1);
        RdmaConnection here = start(nearDevice, 1, rdma -> {}).connect(address(), NO_DATA);
        assertThat(here.counters()).isEmpty();
        RdmaConnection _ = nextRequest().accept(NO_DATA);
        until("connected", () -> here.state() == RdmaConnection.State.CONNECTED);
        assertThat(here.counters()).isEmpty();
        assertThat(here.context().deviceCounters()).isEmpty();
        here.disconnect();
        until("disconnected", () -> here.state() == RdmaConnection.State.DISCONNECTED);
        assertThat(here.counters()).isEmpty();
    }
}

package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.testkit.Clause;
import org.junit.jupiter.api.Test;

/** Messages to a device that limits them more than the sender's; over every provider. */
public abstract class RdmaReceiveLimitContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaReceiveLimitContract() {}

    @Test
    @Clause("rdma-071")
    void shouldReceiveNoMoreThanTheOwnDeviceAllows() {
        Pair pair = connected();
        Peer near = pair.near();
        Peer far = pair.far();
        long limit = RdmaCapabilities.of(far.device.info()).maxMessageBytes();
        assertThat(RdmaCapabilities.of(near.device.info()).maxMessageBytes()).isGreaterThan(limit);
        near.fill(0, limit + 1, 1);
        far.fill(0, 3 * limit, 2);
        far.receive(far.room(0, 2 * limit), 1);
        far.receive(far.room(limit, 2 * limit), 2);

        near.send(pair.toFar(), near.data(0, limit), 3);
        assertThat(far.next(near).length()).isEqualTo(limit);
        assertThat(far.mismatch(0, limit, 1)).isEqualTo(-1);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);

        near.send(pair.toFar(), near.data(0, limit + 1), 4);
        assertThat(far.next(near).status()).isEqualTo(Status.TOO_BIG);
        assertThat(near.next(far).status()).isEqualTo(Status.IO_FAILED);
    }
}

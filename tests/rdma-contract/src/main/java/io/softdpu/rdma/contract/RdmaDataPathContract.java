package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.rdma.Rdma;
import io.softdpu.testkit.Clause;
import org.junit.jupiter.api.Test;

/**
 * The data path on an accelerator (RDMA guide, "DPA Datapath"), which no machine here has: refused,
 * while configuration and start follow the guide's order; over every provider.
 */
public abstract class RdmaDataPathContract extends RdmaContract {
    private static final String REFUSED = "no accelerator: adr/0065-no-data-path-on-a-dpa.md";

    /** For subclasses. */
    protected RdmaDataPathContract() {}

    @Test
    @Clause(
            value = {"rdma-196", "rdma-198", "rdma-199"},
            refused = REFUSED)
    void shouldRefuseAnotherProcessorBeforeTheStartAndGoOnWithTheCpu() {
        Peer near = openNear();
        assertThat(near.rdma.state()).isEqualTo(ContextState.IDLE);
        assertThatThrownBy(() -> near.rdma.setDataPathLocation(DataPathLocation.DPA))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContainingAll("context=" + near.rdma, "location=DPA", "expected=CPU");
        exchange(connect(near, openFar()));
    }

    /** Data path first, then the other properties, then the start, by the calls of a context. */
    @Test
    @Clause("rdma-197")
    void shouldBeAContextThatIsConfiguredAndStartedAfterItsDataPathWasChosen() {
        Peer near = openNear();
        Context context = near.rdma;
        assertThat(context.setDataPathLocation(DataPathLocation.CPU)).isSameAs(near.rdma);
        near.rdma.setSendQueueSize(8).setRnrRetries(3);
        context.start();
        assertThat(context.state()).isEqualTo(ContextState.STARTING);
        assertThat(Refusals.statusOf(() -> context.setDataPathLocation(DataPathLocation.CPU)))
                .as("after the start")
                .isEqualTo(Status.BAD_STATE);
        context.stop();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        exchange(connect(near, openFar()));
    }

    @Test
    @Clause(
            value = {"rdma-200", "rdma-201"},
            refused = REFUSED)
    void shouldHaveNoHandleForAnAcceleratorInAnyState() {
        Peer near = openNear();
        assertNoHandle(near.rdma);
        Pair pair = connect(near, openFar());
        assertThat(near.rdma.state()).isEqualTo(ContextState.RUNNING);
        assertNoHandle(near.rdma);
        exchange(pair);
    }

    private static void assertNoHandle(Rdma rdma) {
        assertThatThrownBy(rdma::dpaHandle)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContainingAll("context=" + rdma, "dataPath=CPU", "expected=DPA");
    }

    private static void exchange(Pair pair) {
        pair.far().receive(null, 1);
        pair.near().send(pair.toFar(), null, 2);
        assertThat(pair.far().next(pair.near()).status()).isEqualTo(Status.SUCCESS);
        assertThat(pair.near().next(pair.far()).status()).isEqualTo(Status.SUCCESS);
    }
}

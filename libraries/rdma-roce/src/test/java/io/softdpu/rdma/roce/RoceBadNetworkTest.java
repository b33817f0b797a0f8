package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaPathMtuContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Operations of all sizes over a network that loses, repeats and reorders packets. */
@Tag(Soak.FULL_TAG)
class RoceBadNetworkTest extends RdmaPathMtuContract {
    @BeforeAll
    static void impair() {
        RoceOptions.defaults().withImpairment("loss=0.02,dup=0.02,reorder=0.02,seed=7").use();
    }

    @AfterAll
    static void useTheDefaults() {
        RoceOptions.defaults().use();
    }

    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment();
    }
}

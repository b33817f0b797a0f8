package io.softdpu.rdma.roce;

import io.softdpu.rdma.contract.RdmaSendReceiveContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.testkit.Soak;
import org.junit.jupiter.api.Tag;

@NeedsIpv6
@Tag(Soak.FULL_TAG)
class RoceIpv6SendReceiveTest extends RdmaSendReceiveContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceIpv6TestEnvironment();
    }
}

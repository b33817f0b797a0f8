package io.softdpu.rdma.roce;

import io.softdpu.core.Side;
import io.softdpu.rdma.contract.RdmaOperationsContract;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;

/** Operations between sides that have one fabric folder, where memory is imported by a lease. */
@Tag(Soak.FULL_TAG)
class RoceSharedFolderTest extends RdmaOperationsContract {
    @Override
    protected RdmaTestEnvironment environment() {
        return new RoceTestEnvironment() {
            @Override
            Path fabricFolder(Path folder, Side side) {
                return folder;
            }
        };
    }
}

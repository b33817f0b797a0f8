package io.softdpu.rdma.shm;

import io.softdpu.rdma.contract.RdmaListenFixture;
import io.softdpu.rdma.contract.RdmaTestEnvironment;
import org.junit.jupiter.api.BeforeEach;

/**
 * Base of the tests of listeners and of connects by address beside a rogue member of the folder.
 */
abstract class RogueFixture extends RdmaListenFixture {
    RogueBus rogue;

    @Override
    protected final RdmaTestEnvironment environment() {
        return new ShmTestEnvironment();
    }

    @BeforeEach
    final void openRogue() {
        rogue = new RogueBus(folder());
    }

    @Override
    protected final void closeOthers() {
        rogue.close();
    }
}

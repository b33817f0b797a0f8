package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import java.nio.file.Path;
import java.util.Set;

/**
 * Environment of a contract test: machines whose devices reach each other through the provider
 * under test. An implementation has a public constructor without arguments, since {@link
 * PeerProgram} creates one in a process of its own.
 */
public interface RdmaTestEnvironment {
    /** The near side in a test, which submits the tasks to the far one. */
    Side nearSide();

    /** The far side in a test. */
    Side farSide();

    /**
     * Opens a machine. Machines with the same folder can reach each other, from any process.
     *
     * @param folder of this test alone, exists
     */
    Machine openMachine(Path folder, Side side);

    /** The properties of the provider in which it may differ from others. */
    Set<RdmaTrait> traits();

    /** A device of that side that the provider supports. */
    String device(Side side);
}

package io.softdpu.rdma.contract;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
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
    default Machine openMachine(Path folder, Side side) {
        return openMachine(folder, side, Topology.builtin());
    }

    /**
     * Opens a machine of a topology.
     *
     * @param folder of this test and this topology alone, exists
     */
    Machine openMachine(Path folder, Side side, Topology topology);

    /** The properties of the provider in which it may differ from others. */
    Set<RdmaTrait> traits();

    /** A device of that side that the provider supports. */
    String device(Side side);

    /**
     * Whether the provider connects to the IPv6 addresses of the devices, whichever GID an instance
     * has. By default it does.
     */
    default boolean hasIpv6() {
        return true;
    }

    /** GID index of all instances of the tests, unless a test sets another. By default 0, IPv4. */
    default int gidIndex() {
        return 0;
    }

    /** What a peer's connection is connected to: by default the blob. */
    default byte[] blobOf(RdmaConnection exported) {
        return exported.blob();
    }

    /** Imports the memory of a peer: by default from its export. */
    default Mmap importRdma(Mmap exported, Device of, Device importer) {
        return Mmap.createFromExport(exported.exportRdma(of), importer);
    }

    /** Whether a connection can be connected to its own blob. By default it can. */
    default boolean connectsOneEndToItself() {
        return true;
    }

    /**
     * Holds the packets of this process back until {@link #release}: what is submitted meanwhile
     * stays in flight. No time of the provider runs meanwhile, so that nothing is repeated or given
     * up for it. By default, for a provider without packets, it does nothing: one pass of progress
     * executes a slice of an operation, and no other thread executes any.
     */
    default void hold() {}

    /** Lets packets leave again, with those that were held back. Does nothing if none are held. */
    default void release() {}
}

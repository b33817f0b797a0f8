package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.wire.Gid;

/** NIC without endpoints, for tests of other packages. */
public final class BareNic implements AutoCloseable {
    private final Nic nic;

    /** Opens the NIC of an address, without a thread. */
    public BareNic(Gid address) {
        nic = Nic.open(address, NicOptions.DEFAULTS);
    }

    /** Starts its thread. */
    public void start() {
        nic.start();
    }

    @Override
    public void close() {
        nic.release();
    }
}

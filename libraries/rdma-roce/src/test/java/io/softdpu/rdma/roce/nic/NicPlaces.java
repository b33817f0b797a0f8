package io.softdpu.rdma.roce.nic;

import io.softdpu.rdma.roce.wire.Gid;
import java.util.concurrent.atomic.AtomicInteger;

/** Places of a NIC that connections and requests of peers have, for tests of other packages. */
public final class NicPlaces {
    private NicPlaces() {}

    /** Number of those which are taken at the NIC of an address, without what is in TIMEWAIT. */
    public static int taken(Gid address) {
        Nic nic = Nic.open(address, NicOptions.DEFAULTS);
        try {
            AtomicInteger taken = new AtomicInteger();
            nic.run(() -> taken.set(nic.manager().connections() + nic.manager().requests()));
            return taken.get();
        } finally {
            nic.release();
        }
    }
}

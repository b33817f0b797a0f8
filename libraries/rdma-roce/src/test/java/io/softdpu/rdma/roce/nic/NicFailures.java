package io.softdpu.rdma.roce.nic;

import java.util.concurrent.atomic.AtomicLong;

/** Exceptions that the NICs of this process have met and survived. */
public final class NicFailures {
    private NicFailures() {}

    /** Number of failures of the NICs that have a thread. */
    public static long ofRunning() {
        AtomicLong sum = new AtomicLong();
        for (Nic nic : Nic.running()) {
            nic.run(() -> sum.addAndGet(nic.failures()));
        }
        return sum.get();
    }
}

package io.softdpu.rdma.contract;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;

/** Statuses of rejected calls. */
final class Refusals {
    private Refusals() {}

    /** The status of the exception that the call throws; SUCCESS if it throws none. */
    static Status statusOf(Runnable call) {
        try {
            call.run();
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        }
    }
}

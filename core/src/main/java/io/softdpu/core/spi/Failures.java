package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.fabric.error.FabricException;

/** Gives the failures of the bus their DOCA statuses. Any thread. */
public final class Failures {
    private Failures() {}

    /** The same failure as a DPU exception: its message, and itself as the cause. */
    public static DpuException from(FabricException e) {
        return FabricFailures.from(e);
    }

    /**
     * What a future of the bus failed with, as a DPU exception.
     *
     * @param thrown what the future gave: a failure of the bus, bare or wrapped, or a defect, which
     *     becomes UNEXPECTED
     */
    public static DpuException of(Throwable thrown) {
        Throwable bare = thrown;
        while (!(bare instanceof FabricException)
                && !(bare instanceof DpuException)
                && bare.getCause() != null) {
            bare = bare.getCause();
        }
        return switch (bare) {
            case FabricException e -> from(e);
            case DpuException e -> e;
            default -> new DpuException(Status.UNEXPECTED, "defect: " + thrown, thrown);
        };
    }
}

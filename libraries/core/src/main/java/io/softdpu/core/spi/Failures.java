package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.text.Reason;

/** Translation of failures of the bus to DOCA statuses. Any thread. */
public final class Failures {
    private Failures() {}

    /**
     * A failure of the bus, or of a future of it, as a DPU exception: its status (for a refusal the
     * one that the peer chose), its message, and itself as the cause.
     *
     * @param thrown a failure of the bus, bare or wrapped; a DPU exception, which is returned; or a
     *     defect, which becomes UNEXPECTED
     */
    public static DpuException of(Throwable thrown) {
        Throwable bare = thrown;
        while (!(bare instanceof FabricException)
                && !(bare instanceof DpuException)
                && bare.getCause() != null) {
            bare = bare.getCause();
        }
        return switch (bare) {
            case FabricException e -> FabricFailures.from(e);
            case DpuException e -> e;
            default -> new DpuException(Status.UNEXPECTED, "defect: " + Reason.of(thrown), thrown);
        };
    }
}

package io.softdpu.core.spi.bus;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Import;
import io.softdpu.linux.text.Text;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Wait of a calling thread for an import: until it is usable, has failed, or takes too long, or the
 * thread is interrupted. An import that is not waited for to the end is closed.
 *
 * @param call the call that waits
 * @param exporter what it waits for
 * @param export the blob, for messages
 * @param timeoutNanos time limit for the reply of the exporter
 */
public record ImportWait(String call, String exporter, Object export, long timeoutNanos) {
    /**
     * Time limit for the threads of the bus in addition to the exporter's reply, without mapping.
     */
    private static final long GRACE_NANOS = 1_000_000_000L;

    /**
     * Time limit for mapping and populating: 0.5 ns per byte was measured; eight times that for a
     * busy machine.
     */
    private static final long MAPPING_NANOS_PER_BYTE = 4;

    /**
     * Asks and waits.
     *
     * @param request begins the import
     * @param mappedBytes size of the memory that is mapped for it, if that takes long; 0 otherwise
     * @throws DpuException with the status of the failure; TIME_OUT; CONNECTION_ABORTED if the
     *     thread is interrupted; UNEXPECTED for a defect
     */
    public <T> T run(Supplier<Import<T>> request, long mappedBytes) {
        if (Interrupts.isPending()) {
            throw interrupted(null);
        }
        Import<T> asked;
        try {
            asked = request.get();
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
        long limitNanos = limitNanos(mappedBytes);
        try {
            return asked.future().get(limitNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof FabricException failure
                    ? FabricFailures.from(failure)
                    : new DpuException(
                            Status.UNEXPECTED, "import failed: export=" + export, e.getCause());
        } catch (TimeoutException e) {
            asked.close();
            throw new DpuException(
                    Status.TIME_OUT,
                    Text.format(
                            "import takes too long: timeoutNanos=%d, limitNanos=%d, export=%s",
                            timeoutNanos, limitNanos, export),
                    e);
        } catch (InterruptedException e) {
            asked.close();
            Thread.currentThread().interrupt();
            throw interrupted(e);
        }
    }

    private DpuException interrupted(@Nullable InterruptedException cause) {
        return Interrupts.ended(call, "awaited=" + exporter + ", export=" + export, cause);
    }

    private long limitNanos(long mappedBytes) {
        long mappingNanos =
                mappedBytes > Long.MAX_VALUE / MAPPING_NANOS_PER_BYTE
                        ? Long.MAX_VALUE
                        : mappedBytes * MAPPING_NANOS_PER_BYTE;
        return saturatedAdd(saturatedAdd(timeoutNanos, GRACE_NANOS), mappingNanos);
    }

    private static long saturatedAdd(long a, long b) {
        return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }
}

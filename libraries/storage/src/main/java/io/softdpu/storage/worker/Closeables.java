package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/** Closes several resources so that one that fails does not keep the others open. */
public final class Closeables {
    private Closeables() {}

    /**
     * Closes what a constructor had made before it failed; null stands for what was never made.
     *
     * @param failure why it failed; what goes wrong now is suppressed in it
     */
    public static void afterFailure(Throwable failure, @Nullable AutoCloseable... resources) {
        try {
            inOrder(resources);
        } catch (DpuException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Closes all of them, in this order; null stands for what was never made.
     *
     * @throws DpuException the first failure, with the others suppressed in it
     */
    public static void inOrder(@Nullable AutoCloseable... resources) {
        DpuException failure = null;
        for (@Nullable AutoCloseable resource : resources) {
            try {
                if (resource != null) {
                    resource.close();
                }
            } catch (Exception e) {
                DpuException reason =
                        e instanceof DpuException known
                                ? known
                                : new DpuException(
                                        Status.UNEXPECTED, "close failed: reason=" + e, e);
                if (failure == null) {
                    failure = reason;
                } else {
                    failure.addSuppressed(reason);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}

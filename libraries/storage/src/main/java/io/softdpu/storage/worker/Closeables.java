package io.softdpu.storage.worker;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import org.jspecify.annotations.Nullable;

/** Closes several resources, all of them even if one fails. */
public final class Closeables {
    private Closeables() {}

    /**
     * Closes the resources that a constructor had created before it failed; null for ones that were
     * not created.
     *
     * @param failure of the constructor; failures of closing are suppressed in it
     */
    public static void afterFailure(Throwable failure, @Nullable AutoCloseable... resources) {
        try {
            inOrder(resources);
        } catch (DpuException e) {
            failure.addSuppressed(e);
        }
    }

    /**
     * Closes all resources, in this order; null for ones that were not created.
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
                                        Status.UNEXPECTED,
                                        "close failed: reason=" + Reason.of(e),
                                        e);
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

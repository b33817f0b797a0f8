package io.softdpu.core.check;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts of the calling thread, which end each wait of the public API with CONNECTION_ABORTED.
 * The flag stays set, and what was awaited is unchanged: the wait can be repeated.
 */
public final class Interrupts {
    private Interrupts() {}

    /** Whether the calling thread is interrupted; one read, for loops that found nothing to do. */
    public static boolean isPending() {
        return Thread.currentThread().isInterrupted();
    }

    /**
     * The failure of a wait.
     *
     * @param call the call that waits, as {@code ProgressEngine.await}
     * @param awaited what it waits for, as {@code key=value, key=value}
     */
    public static DpuException ended(String call, String awaited) {
        return ended(call, awaited, null);
    }

    /**
     * The same with a cause.
     *
     * @param call null if the place that knows what is awaited does not know it
     */
    public static DpuException ended(
            @Nullable String call, String awaited, @Nullable Exception cause) {
        return new DpuException(
                Status.CONNECTION_ABORTED,
                Text.format(
                        "interrupted during a wait: thread=%s, %s%s, expected=the same call again,"
                                + " after Thread.interrupted()",
                        Threads.current(), call == null ? "" : "call=" + call + ", ", awaited),
                cause);
    }
}

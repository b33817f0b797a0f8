package io.softdpu.fabric.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Permission of the calling thread to wait for another process. A bus thread never has it, and the
 * thread of an engine or work queue not while callbacks of the program run: other peers would wait
 * as well, for as long as that process chooses.
 *
 * <p>Any thread, for itself. A pass of progress costs nothing: its thread is asked only by an
 * operation that would have to wait.
 */
public final class WaitPermission {
    private static final ThreadLocal<List<BooleanSupplier>> DENIALS =
            ThreadLocal.withInitial(ArrayList::new);

    private WaitPermission() {}

    /**
     * Denies the calling thread to wait at certain times.
     *
     * @param denied whether it may not wait now; the same object for {@link #lift}
     */
    public static void deny(BooleanSupplier denied) {
        DENIALS.get().add(denied);
    }

    /** Ends {@link #deny}, on the same thread. */
    public static void lift(BooleanSupplier denied) {
        DENIALS.get().remove(denied);
    }

    /** Whether the calling thread may wait now. */
    public static boolean isGranted() {
        for (BooleanSupplier denied : DENIALS.get()) {
            if (denied.getAsBoolean()) {
                return false;
            }
        }
        return true;
    }
}

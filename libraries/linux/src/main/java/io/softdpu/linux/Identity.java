package io.softdpu.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** User and process ids of this process. Any thread. */
public final class Identity {
    private static final FunctionDescriptor NUMBER = FunctionDescriptor.of(Libc.INT);

    private static final MethodHandle GETEUID = Libc.bindPlain("geteuid", NUMBER);
    private static final MethodHandle GETPID = Libc.bindPlain("getpid", NUMBER);

    private Identity() {}

    /**
     * The user that this process opens files and connects as.
     *
     * @return the effective uid
     */
    public static int effectiveUid() {
        try {
            return (int) GETEUID.invokeExact();
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * The id of this process in its pid namespace.
     *
     * @return the pid
     */
    public static int pid() {
        try {
            return (int) GETPID.invokeExact();
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}

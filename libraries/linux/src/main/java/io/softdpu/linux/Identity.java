package io.softdpu.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** Who this process is. Any thread. */
public final class Identity {
    private static final FunctionDescriptor NUMBER = FunctionDescriptor.of(Libc.INT);

    private static final MethodHandle GETEUID = Libc.bindPlain("geteuid", NUMBER);
    private static final MethodHandle GETPID = Libc.bindPlain("getpid", NUMBER);

    private Identity() {}

    /**
     * The user in whose name this process opens files and connects.
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
     * This process's number in its own pid namespace.
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

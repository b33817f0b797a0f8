package io.softdpu.fabric.engine;

import io.softdpu.linux.RestrictedThreads;
import org.jspecify.annotations.Nullable;

/**
 * Marks a pass of progress for the {@linkplain RestrictedThreads checks} that tests enable: no
 * system call whose duration a peer determines may be made in it. No cost while they are disabled.
 */
public final class ProgressScope {
    private ProgressScope() {}

    /**
     * Begins a pass on this thread.
     *
     * @return argument for {@link #end}: a callback may call progress of another engine
     */
    public static @Nullable Object begin() {
        return RestrictedThreads.CHECKED
                ? RestrictedThreads.enter(RestrictedThreads.Scope.PROGRESS)
                : null;
    }

    /**
     * Ends it.
     *
     * @param before as returned by {@link #begin}
     */
    public static void end(@Nullable Object before) {
        if (RestrictedThreads.CHECKED) {
            RestrictedThreads.leave((RestrictedThreads.Scope) before);
        }
    }
}

package io.softdpu.core.execution;

/** Callback for ready file descriptors of the program; see {@link ProgressEngine#watch}. */
@FunctionalInterface
public interface DescriptorCallback {
    /**
     * Called when the descriptor is ready, inside progress, on the engine's thread; and again in a
     * later progress while it stays ready.
     *
     * @param watch of the descriptor; may be closed here
     * @param events its events: constants of {@link DescriptorWatch}, or-ed
     */
    void onReady(DescriptorWatch watch, int events);
}

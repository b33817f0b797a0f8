package io.softdpu.core.execution;

/** Tells a program that a file descriptor of its own is ready; see {@link ProgressEngine#watch}. */
@FunctionalInterface
public interface DescriptorCallback {
    /**
     * The descriptor is ready. Runs inside progress, on the engine's thread, and again in a later
     * progress if the descriptor is left as it is.
     *
     * @param watch of the descriptor; may be closed here
     * @param events what it is ready for: constants of {@link DescriptorWatch}, or-ed
     */
    void onReady(DescriptorWatch watch, int events);
}

package io.softdpu.core.execution;

/** Callback for changes of a context's state; runs inside {@link ProgressEngine#progress()}. */
@FunctionalInterface
public interface StateChangedCallback {
    /**
     * Called for each transition.
     *
     * @param context the context; its current {@link Context#state()} may be a later one
     * @param previous the state that it left
     * @param next the state that it entered
     */
    void onStateChanged(Context context, ContextState previous, ContextState next);
}

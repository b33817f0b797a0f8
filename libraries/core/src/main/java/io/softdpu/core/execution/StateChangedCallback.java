package io.softdpu.core.execution;

/** Is told of each change of a context's state; runs inside {@link ProgressEngine#progress()}. */
@FunctionalInterface
public interface StateChangedCallback {
    /**
     * A context has gone from one state to the next.
     *
     * @param context the context; {@link Context#state()} may be further on already
     * @param previous the state that it left
     * @param next the state that it entered
     */
    void onStateChanged(Context context, ContextState previous, ContextState next);
}

package io.softdpu.core.spi.graph;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Exceptions of callbacks, kept until a pass of progress or a retrieval is over. The thread of the
 * engine or queue.
 */
public final class CallbackFailures {
    private @Nullable Throwable first;

    /** Adds an exception; later ones of the same pass are suppressed in the first. */
    @SuppressWarnings("ReferenceEquality") // the same object cannot suppress itself
    public void add(Throwable thrown) {
        if (first == null) {
            first = thrown;
        } else if (first != thrown) {
            first.addSuppressed(thrown);
        }
    }

    /** Throws the first one, if any. */
    public void throwKept() {
        if (first != null) {
            throwFirst();
        }
    }

    private void throwFirst() {
        Throwable thrown = Objects.requireNonNull(first, "first");
        first = null;
        switch (thrown) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default ->
                    throw new IllegalStateException("a callback threw a checked exception", thrown);
        }
    }
}

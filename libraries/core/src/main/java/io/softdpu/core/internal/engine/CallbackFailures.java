package io.softdpu.core.internal.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Exceptions of callbacks, kept until a pass of progress is over. The engine's thread. */
final class CallbackFailures {
    private @Nullable Throwable first;

    /** Adds an exception; later ones of the same pass are suppressed in the first. */
    @SuppressWarnings("ReferenceEquality") // the same object cannot suppress itself
    void add(Throwable thrown) {
        if (first == null) {
            first = thrown;
        } else if (first != thrown) {
            first.addSuppressed(thrown);
        }
    }

    /** Throws the first one, if any. */
    void throwKept() {
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

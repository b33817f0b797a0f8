package io.softdpu.core.internal.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Keeps what callbacks throw until a pass of progress is over. The engine's thread. */
final class CallbackFailures {
    private @Nullable Throwable first;

    /** Keeps one more; later ones of the same pass are suppressed in the first. */
    @SuppressWarnings("ReferenceEquality") // the same object cannot suppress itself
    void add(Throwable thrown) {
        if (first == null) {
            first = thrown;
        } else if (first != thrown) {
            first.addSuppressed(thrown);
        }
    }

    /** Throws what was kept, if anything was. */
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

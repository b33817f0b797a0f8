package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.sanitizer.Mistake;
import org.jspecify.annotations.Nullable;

/**
 * A mistake of the program that a {@link Sanitizer} has found.
 *
 * @param kind which rule was broken
 * @param message what happened, as {@code reason: key=value, key=value}
 * @param seed the seed with which it was found
 * @param allocatedAt where the task or the buf was allocated, to be read as a stack trace; null if
 *     that was before the sanitizer began
 */
public record SanitizerReport(
        Kind kind, String message, long seed, @Nullable Throwable allocatedAt) {
    /**
     * Checks that there is a kind and a message.
     *
     * @throws DpuException INVALID_VALUE if either is null
     */
    public SanitizerReport {
        Arguments.notNull(kind, "kind");
        Arguments.notNull(message, "message");
    }

    /** The rules. */
    public enum Kind {
        /** What a task reads was changed while it was in flight. */
        SOURCE_CHANGED(Mistake.SOURCE_CHANGED),
        /** A task was used in a way that its state does not allow, for example freed twice. */
        TASK_MISUSED(Mistake.TASK_MISUSED),
        /** A buf was used in a way that its state does not allow, for example changed in flight. */
        BUF_MISUSED(Mistake.BUF_MISUSED),
        /** A task was not freed when its context was closed, or tried to be. */
        TASK_LEAKED(Mistake.TASK_LEAKED),
        /** A buf was not released when its inventory or pool was stopped, or tried to be. */
        BUF_LEAKED(Mistake.BUF_LEAKED);

        private final Mistake mistake;

        Kind(Mistake mistake) {
            this.mistake = mistake;
        }

        static Kind of(Mistake mistake) {
            return switch (mistake) {
                case SOURCE_CHANGED -> SOURCE_CHANGED;
                case TASK_MISUSED -> TASK_MISUSED;
                case BUF_MISUSED -> BUF_MISUSED;
                case TASK_LEAKED -> TASK_LEAKED;
                case BUF_LEAKED -> BUF_LEAKED;
            };
        }

        Mistake mistake() {
            return mistake;
        }
    }
}

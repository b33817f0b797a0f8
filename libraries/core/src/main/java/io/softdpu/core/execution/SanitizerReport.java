package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.sanitizer.Mistake;
import org.jspecify.annotations.Nullable;

/**
 * Mistake of the program that a {@link Sanitizer} has found.
 *
 * @param kind the kind of misuse
 * @param message description, as {@code reason: key=value, key=value}
 * @param seed the seed with which it was found
 * @param allocatedAt stack trace of the allocation of the task, buf or sync event; null if that was
 *     before the sanitizer was started
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

    /** Kinds of misuse. */
    public enum Kind {
        /** The source of a task was changed while it was in flight. */
        SOURCE_CHANGED(Mistake.SOURCE_CHANGED),
        /** A task was used in a way that its state does not allow, for example freed twice. */
        TASK_MISUSED(Mistake.TASK_MISUSED),
        /** A buf was used in a way that its state does not allow, for example changed in flight. */
        BUF_MISUSED(Mistake.BUF_MISUSED),
        /** A task was not freed when its context was closed, or an attempt was made to close it. */
        TASK_LEAKED(Mistake.TASK_LEAKED),
        /**
         * A buf was not released when its inventory or pool was stopped, or an attempt was made to
         * stop it.
         */
        BUF_LEAKED(Mistake.BUF_LEAKED),
        /**
         * An instance of a graph was not closed when the graph was stopped, or an attempt was made
         * to stop it.
         */
        INSTANCE_LEAKED(Mistake.INSTANCE_LEAKED),
        /** A sync event was not closed before an attempt was made to close its device. */
        EVENT_LEAKED(Mistake.EVENT_LEAKED);

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
                case INSTANCE_LEAKED -> INSTANCE_LEAKED;
                case EVENT_LEAKED -> EVENT_LEAKED;
            };
        }

        Mistake mistake() {
            return mistake;
        }
    }
}

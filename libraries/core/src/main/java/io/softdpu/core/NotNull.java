package io.softdpu.core;

import org.jspecify.annotations.Nullable;

/** Null check of this package, which {@code core.check.Arguments} uses too. Any thread. */
final class NotNull {
    private NotNull() {}

    /**
     * Refuses null.
     *
     * @param value the argument
     * @param argument the name of the parameter, for the message
     * @return the value
     * @throws DpuException INVALID_VALUE if it is null
     */
    static <T> T check(@Nullable T value, String argument) {
        if (value == null) {
            throw new DpuException(Status.INVALID_VALUE, "argument is null: argument=" + argument);
        }
        return value;
    }
}

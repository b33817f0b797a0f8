package io.softdpu.perf.child;

import io.softdpu.core.Status;
import java.util.Optional;

/**
 * The line on standard error with the reason why a command failed: {@code softdpu: STATUS: reason}.
 * Users and parent processes read it.
 */
public final class ErrorLine {
    private static final String PREFIX = "softdpu: ";

    private ErrorLine() {}

    /** The line, without its end. */
    public static String of(Status status, String message) {
        return PREFIX + status + ": " + message;
    }

    /** True for a line that the command wrote as an error, with a status or without one. */
    public static boolean isError(String line) {
        return line.startsWith(PREFIX);
    }

    /** The status of a line; empty if it has none. */
    public static Optional<Status> statusOf(String line) {
        for (Status status : Status.values()) {
            if (line.startsWith(of(status, ""))) {
                return Optional.of(status);
            }
        }
        return Optional.empty();
    }
}

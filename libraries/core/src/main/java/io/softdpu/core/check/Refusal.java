package io.softdpu.core.check;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reason why a submission is refused: its status, and the text that a user needs to remedy it. A
 * check of the data path returns one, or null if it passes, so that no status is without a reason
 * and no second check is needed to find it.
 *
 * <p>One with {@link #of} has its text formatted at once, from the values that the check has seen.
 * A refusal that is part of normal operation, since a queue is full, is created {@linkplain #ready
 * before the data path begins} and formats its text on request: it costs nothing to return. Any
 * thread.
 */
public final class Refusal {
    private final Status status;
    private final Supplier<String> message;
    private final @Nullable DpuException cause;

    private Refusal(Status status, Supplier<String> message, @Nullable DpuException cause) {
        this.status = status;
        this.message = message;
        this.cause = cause;
    }

    /**
     * A refusal with these values.
     *
     * @param status any status but SUCCESS
     * @param format the text, {@code reason: key=%s, expected=...}
     * @param values the values in it
     */
    @FormatMethod
    public static Refusal of(
            Status status, @FormatString String format, @Nullable Object... values) {
        return of(status, null, format, values);
    }

    /**
     * A refusal that has an earlier failure as its cause.
     *
     * @param cause the failure; null for none
     */
    @FormatMethod
    public static Refusal of(
            Status status,
            @Nullable DpuException cause,
            @FormatString String format,
            @Nullable Object... values) {
        String message = Text.format(format, values);
        return new Refusal(status, () -> message, cause);
    }

    /**
     * A refusal to be created once and returned any number of times.
     *
     * @param message gives the text; called when it is asked for
     */
    public static Refusal ready(Status status, Supplier<String> message) {
        return new Refusal(status, message, null);
    }

    /** The status of a submission: SUCCESS for null. */
    public static Status statusOf(@Nullable Refusal refusal) {
        return refusal == null ? Status.SUCCESS : refusal.status;
    }

    /**
     * The refusal of a check that does not know what it was asked for, with more details; null for
     * null.
     *
     * @param details {@code key=value}, one or more times
     */
    public static @Nullable Refusal with(@Nullable Refusal refusal, String details) {
        return refusal == null ? null : refusal.with(details);
    }

    private Refusal with(String details) {
        return new Refusal(status, () -> message() + ", " + details, cause);
    }

    /** The status; never SUCCESS. */
    public Status status() {
        return status;
    }

    /** The text, {@code reason: key=value, expected=...}. */
    public String message() {
        return message.get();
    }

    /**
     * The refusal as an exception, created now.
     *
     * @param details {@code key=value}, one or more times, to be added to the text
     */
    public DpuException exception(String details) {
        return new DpuException(status, message() + ", " + details, cause);
    }

    @Override
    public String toString() {
        return status + ": " + message();
    }
}

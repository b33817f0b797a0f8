package io.softdpu.api;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Result of a call.
 *
 * @param returned what came back
 * @param thrown what was thrown instead
 * @param verdict whether a status that comes back says how the call went
 */
record Outcome(@Nullable Object returned, @Nullable Throwable thrown, boolean verdict) {
    private static final Pattern FORM =
            Pattern.compile("[^:=]+: [A-Za-z][A-Za-z0-9_]*=.*", Pattern.DOTALL);

    static Outcome returned(Operation by, @Nullable Object value) {
        return new Outcome(value, null, value instanceof Status && !Registry.looks(by));
    }

    static Outcome thrown(Throwable thrown) {
        return new Outcome(null, thrown, false);
    }

    /** As the tables have it: {@code ok}, a status in brackets, a status, or what must not be. */
    String text() {
        if (thrown instanceof DpuException e) {
            return e.status().name();
        }
        if (thrown != null) {
            return "!" + thrown.getClass().getSimpleName();
        }
        return verdict ? "(" + returned + ")" : "ok";
    }

    /** Whether the call was carried out. */
    boolean accepted() {
        return thrown == null
                && (!verdict || returned == Status.SUCCESS || returned == Status.IN_PROGRESS);
    }

    boolean refusedWith(Status status) {
        return thrown instanceof DpuException e && e.status() == status;
    }

    /** Whether the call gave this status back, as calls do that never throw in normal work. */
    boolean answered(Status status) {
        return verdict && returned == status;
    }

    String message() {
        return thrown == null ? "" : String.valueOf(thrown.getMessage());
    }

    /** What is wrong with it, whatever was called: anything thrown that is no proper refusal. */
    @Nullable String offence() {
        if (verdict && (returned == Status.UNKNOWN || returned == Status.UNEXPECTED)) {
            return "returned a status that says nothing: " + returned;
        }
        if (thrown == null) {
            return null;
        }
        if (!(thrown instanceof DpuException e)) {
            return "threw " + thrown;
        }
        if (e.status() == Status.SUCCESS
                || e.status() == Status.UNKNOWN
                || e.status() == Status.UNEXPECTED) {
            return "has a status that says nothing: " + e;
        }
        return FORM.matcher(message()).matches() ? null : "message without 'reason: key=': " + e;
    }
}

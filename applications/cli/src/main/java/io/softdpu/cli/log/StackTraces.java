package io.softdpu.cli.log;

import io.softdpu.linux.text.ForeignText;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/** Formats stack traces with escaped messages, which cannot imitate further lines. Any thread. */
public final class StackTraces {
    private static final String OURS = "io.softdpu.";

    private StackTraces() {}

    /** The lines of a failure, its causes and what it suppressed, each with a line end. */
    public static String of(Throwable failure) {
        StringBuilder out = new StringBuilder();
        append(out, failure, "", "", Collections.newSetFromMap(new IdentityHashMap<>()));
        return out.toString();
    }

    private static void append(
            StringBuilder out, Throwable one, String indent, String caption, Set<Throwable> seen) {
        boolean first = seen.add(one);
        out.append(indent)
                .append(caption)
                .append(text(one))
                .append(first ? "" : " (see above)")
                .append(System.lineSeparator());
        if (!first) {
            return;
        }
        for (StackTraceElement frame : one.getStackTrace()) {
            out.append(indent).append("\tat ").append(frame).append(System.lineSeparator());
        }
        for (Throwable suppressed : one.getSuppressed()) {
            append(out, suppressed, indent + "\t", "Suppressed: ", seen);
        }
        Throwable cause = one.getCause();
        if (cause != null) {
            append(out, cause, indent, "Caused by: ", seen);
        }
    }

    /** An exception of the JDK or of a library may quote all of a text that it refuses. */
    private static String text(Throwable one) {
        return one.getClass().getName().startsWith(OURS)
                ? ForeignText.escape(one.toString())
                : ForeignText.escapeAndCut(one.toString());
    }
}

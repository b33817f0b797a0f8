package io.softdpu.cli;

import io.softdpu.cli.log.Logging;
import io.softdpu.cli.log.StackTraces;
import java.io.PrintStream;

/**
 * Turns an {@link Error} that ends the command into a line on standard error, in the form of those
 * of {@link Errors}: the JVM would print a stack trace.
 *
 * <p>The line needs no class of another jar, since such a class may be what cannot be loaded: so
 * the statuses are words here.
 */
final class FatalErrors {
    private static final String NO_THREAD = "unable to create native thread";

    /** How the JVM records the exception of an initializer for later uses of the class. */
    private static final String RECORDED = "(?s)^Exception [\\w.$]+: (.*) \\[in thread \".*\"\\]$";

    private FatalErrors() {}

    /**
     * Prints the line of an error, with the stack trace from log level DEBUG on, and returns the
     * exit code.
     */
    static int report(Error error, PrintStream err) {
        err.println("softdpu: " + oneLine(describe(error)));
        try {
            if (Logging.level().showsStackTraces()) {
                err.print(StackTraces.of(error));
            }
        } catch (LinkageError _) {
            // What cannot be loaded now is part of the same failure, which has its line.
        }
        err.flush();
        return 1; // as ExitCode.FAILED, without its class
    }

    private static String describe(Error error) {
        String message = messageOf(error);
        return switch (error) {
            case OutOfMemoryError _ when message.startsWith(NO_THREAD) ->
                    "OPERATING_SYSTEM: thread cannot be started: reason="
                            + message
                            + ", expected=a higher limit of processes and threads (ulimit -u, or"
                            + " pids.max of the cgroup)";
            case OutOfMemoryError _ ->
                    "NO_MEMORY: memory of the JVM is exhausted: reason="
                            + message
                            + ", heapLimitBytes="
                            + Runtime.getRuntime().maxMemory()
                            + ", expected=a larger heap (-Xmx in SOFTDPU_JAVA_OPTS)";
            case StackOverflowError _ ->
                    "UNEXPECTED: call stack is exhausted: expected=less nesting, or a larger stack"
                            + " (-Xss in SOFTDPU_JAVA_OPTS)";
            case ExceptionInInitializerError _ -> ofInitializer(error);
            case NoClassDefFoundError _
                    when error.getCause() instanceof ExceptionInInitializerError first ->
                    ofInitializer(first);
            case NoClassDefFoundError _ ->
                    "OPERATING_SYSTEM: class cannot be loaded: class="
                            + message
                            + ", expected=all jars of softdpu, and descriptors to open them"
                            + " (ulimit -n)";
            case VirtualMachineError _ ->
                    "OPERATING_SYSTEM: JVM failed: reason=" + withCauses(error);
            default -> "UNKNOWN: unexpected error: reason=" + withCauses(error);
        };
    }

    /** A class whose initializer has thrown: names it, and the failure below all others. */
    private static String ofInitializer(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (root instanceof Error error && !(root instanceof ExceptionInInitializerError)) {
            return describe(error);
        }
        return "UNEXPECTED: class cannot be initialized: class="
                + classOf(root)
                + ", reason="
                + (root instanceof ExceptionInInitializerError
                        ? messageOf(root).replaceFirst(RECORDED, "$1")
                        : messageOf(root));
    }

    private static String classOf(Throwable root) {
        for (StackTraceElement frame : root.getStackTrace()) {
            if (frame.getMethodName().equals("<clinit>")) {
                return frame.getClassName();
            }
        }
        return "unknown";
    }

    /** The message, and those of the causes, which may be what a user can mend. */
    private static String withCauses(Throwable failure) {
        StringBuilder text = new StringBuilder(messageOf(failure));
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            String next = messageOf(cause);
            if (text.indexOf(next) < 0) {
                text.append(", cause=").append(next);
            }
        }
        return text.toString();
    }

    private static String messageOf(Throwable failure) {
        String message = failure.getMessage();
        Throwable cause = failure.getCause();
        if (message == null) {
            return "not given by the JVM";
        }
        // That of the cause, as Throwable(Throwable) copies it, begins with the name of its class.
        return cause != null && message.equals(cause.toString()) ? messageOf(cause) : message;
    }

    /** Without control characters: they could imitate further lines. */
    private static String oneLine(String text) {
        StringBuilder line = new StringBuilder(text.length());
        text.codePoints()
                .map(one -> Character.isISOControl(one) ? ' ' : one)
                .forEach(line::appendCodePoint);
        return line.toString();
    }
}

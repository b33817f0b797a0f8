package io.softdpu.cli.log;

import java.io.PrintStream;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The last line of a terminal, which a wait rewrites in place. Log lines are printed above it. Any
 * thread.
 */
public final class StatusLine {
    private static final String CLEAR_LINE = "\r\u001b[K";

    private static final StatusLine STANDARD_ERROR = new StatusLine();

    private final ReentrantLock lock = new ReentrantLock();
    private String shown = "";

    StatusLine() {}

    /** The status line of standard error. */
    public static StatusLine standardError() {
        return STANDARD_ERROR;
    }

    /** Shows a text in place of the one before. */
    public void show(PrintStream out, String text) {
        lock.lock();
        try {
            out.print(CLEAR_LINE + text);
            out.flush();
            shown = text;
        } finally {
            lock.unlock();
        }
    }

    /** Removes the text. */
    public void clear(PrintStream out) {
        lock.lock();
        try {
            if (!shown.isEmpty()) {
                out.print(CLEAR_LINE);
                out.flush();
                shown = "";
            }
        } finally {
            lock.unlock();
        }
    }

    /** Prints a line above the text. */
    public void println(PrintStream out, String line) {
        lock.lock();
        try {
            if (shown.isEmpty()) {
                out.println(line);
            } else {
                out.print(CLEAR_LINE + line + System.lineSeparator() + shown);
                out.flush();
            }
        } finally {
            lock.unlock();
        }
    }
}

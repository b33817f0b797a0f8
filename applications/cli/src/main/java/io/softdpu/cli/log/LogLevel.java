package io.softdpu.cli.log;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Log level on the scale of the DOCA programs: each level shows its own lines and those of the more
 * severe levels.
 *
 * <p>The libraries log by {@link System.Logger}, which knows one level for errors; so {@link
 * #CRITICAL} shows what {@link #ERROR} shows.
 */
public enum LogLevel {
    /** No log line at all. What ends a command is still said: that is no log line. */
    DISABLE(10, System.Logger.Level.OFF),
    /** Errors. */
    CRITICAL(20, System.Logger.Level.ERROR),
    /** Errors. */
    ERROR(30, System.Logger.Level.ERROR),
    /** And what looks wrong but does not end the work. */
    WARNING(40, System.Logger.Level.WARNING),
    /** And the steps of a session. */
    INFO(50, System.Logger.Level.INFO),
    /** And details, and the stack trace of what ends a command. */
    DEBUG(60, System.Logger.Level.DEBUG),
    /** Everything. */
    TRACE(70, System.Logger.Level.TRACE);

    private final int number;
    private final System.Logger.Level threshold;

    LogLevel(int number, System.Logger.Level threshold) {
        this.number = number;
        this.threshold = threshold;
    }

    /** True if lines of this level of the platform are shown. */
    boolean shows(System.Logger.Level level) {
        return this != DISABLE
                && level != System.Logger.Level.OFF
                && level.getSeverity() >= threshold.getSeverity();
    }

    /** True if this level shows stack traces. */
    public boolean showsStackTraces() {
        return number >= DEBUG.number;
    }

    /**
     * Parses the number or the name of a level (any case).
     *
     * @throws IllegalArgumentException for another text, naming what there is
     */
    public static LogLevel of(String text) {
        for (LogLevel level : values()) {
            if (text.equals(Integer.toString(level.number))
                    || text.toUpperCase(Locale.ROOT).equals(level.name())) {
                return level;
            }
        }
        throw new IllegalArgumentException(
                "no such log level: level=" + text + ", expected=one of " + all());
    }

    /** All numbers and names, for help texts: {@code 10=DISABLE, 20=CRITICAL ...}. */
    public static String all() {
        return Arrays.stream(values())
                .map(level -> level.number + "=" + level)
                .collect(Collectors.joining(", "));
    }
}

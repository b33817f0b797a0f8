package io.softdpu.cli.log;

/** The log level of this program. */
public final class Logging {
    /** Quiet until a command says otherwise. */
    private static volatile LogLevel level = LogLevel.WARNING;

    private Logging() {}

    /** Sets the level of all loggers of the program, existing ones included. */
    public static void setLevel(LogLevel newLevel) {
        level = newLevel;
    }

    /** True if the steps of a session are shown. */
    public static boolean showsSteps() {
        return level.shows(System.Logger.Level.INFO);
    }

    /** The current level. */
    public static LogLevel level() {
        return level;
    }
}

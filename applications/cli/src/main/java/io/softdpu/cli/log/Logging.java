package io.softdpu.cli.log;

/** The one switch for how much this program logs. */
public final class Logging {
    /** Quiet until a command says otherwise. */
    private static volatile LogLevel level = LogLevel.WARNING;

    private Logging() {}

    /** What is logged from now on, by all loggers of the program, those that exist included. */
    public static void setLevel(LogLevel newLevel) {
        level = newLevel;
    }

    /** What is logged at the moment. */
    public static LogLevel level() {
        return level;
    }
}

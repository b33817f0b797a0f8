package io.softdpu.cli.log;

import java.util.List;

/** The log levels of this program and of the libraries below it. */
public final class Logging {
    /** Begin of the names of the program's own loggers; all others are the libraries'. */
    private static final List<String> PROGRAM =
            List.of(
                    "io.softdpu.cli.",
                    "io.softdpu.storage.",
                    "io.softdpu.samples.",
                    "io.softdpu.perf.");

    /** Quiet until a command says otherwise. */
    private static volatile LogLevel level = LogLevel.WARNING;

    private static volatile LogLevel sdkLevel = LogLevel.WARNING;

    private Logging() {}

    /** Sets the level of the program's loggers, existing ones included. */
    public static void setLevel(LogLevel newLevel) {
        level = newLevel;
    }

    /** Sets the level of the libraries' loggers and the JDK's, existing ones included. */
    public static void setSdkLevel(LogLevel newLevel) {
        sdkLevel = newLevel;
    }

    /** True if the steps of a session are shown. */
    public static boolean showsSteps() {
        return level.shows(System.Logger.Level.INFO);
    }

    /** The current level of the program. */
    public static LogLevel level() {
        return level;
    }

    /** The current level of the libraries. */
    public static LogLevel sdkLevel() {
        return sdkLevel;
    }

    /** The current level of a logger. */
    static LogLevel levelOf(String logger) {
        return PROGRAM.stream().anyMatch(logger::startsWith) ? level : sdkLevel;
    }
}

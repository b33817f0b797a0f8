package io.softdpu.cli;

import io.softdpu.linux.TerminalWindow;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Supplier;

/**
 * The width of help texts: that of the terminal, or 80 columns in a file or pipe. {@code COLUMNS}
 * overrides both.
 */
final class HelpWidth {
    static final int DEFAULT_COLUMNS = 80;

    /** The minimum that picocli accepts. */
    static final int MIN_COLUMNS = 55;

    private static final int MAX_COLUMNS = 1000;
    private static final int STANDARD_OUTPUT = 1;

    private HelpWidth() {}

    /** The width for standard output. */
    static int columns() {
        return columns(System.getenv(), () -> TerminalWindow.columns(STANDARD_OUTPUT));
    }

    static int columns(Map<String, String> environment, Supplier<OptionalInt> terminal) {
        String named = environment.getOrDefault("COLUMNS", "");
        int columns =
                named.matches("[1-9][0-9]{0,4}")
                        ? Integer.parseInt(named)
                        : terminal.get().orElse(DEFAULT_COLUMNS);
        return Math.clamp(columns, MIN_COLUMNS, MAX_COLUMNS);
    }
}

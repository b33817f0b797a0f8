package io.softdpu.cli.log;

import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.text.MessageFormat;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Writes each line to standard error: time, level, the last part of the logger's name, text. A line
 * is written in one piece, so those of several threads do not mix. What the JDK has to debug about
 * itself, such as a stack trace for each exit, is shown with TRACE only.
 */
final class StderrLogger implements System.Logger {
    private final String name;
    private final String shortName;

    StderrLogger(String name) {
        this.name = name;
        this.shortName = name.substring(name.lastIndexOf('.') + 1);
    }

    @Override
    public String getName() {
        return name;
    }

    @Override
    public boolean isLoggable(Level level) {
        boolean ofTheJdk = name.startsWith("java.") || name.startsWith("jdk.");
        return Logging.levelOf(name).shows(ofTheJdk && level == Level.DEBUG ? Level.TRACE : level);
    }

    @Override
    public void log(
            Level level,
            @Nullable ResourceBundle bundle,
            @Nullable String message,
            @Nullable Throwable thrown) {
        if (isLoggable(level)) {
            StringBuilder line = new StringBuilder();
            line.append(prefix(level)).append(ForeignText.escape(message));
            if (thrown != null) {
                line.append(": ").append(ForeignText.escape(Reason.naming(thrown)));
                if (Logging.levelOf(name).showsStackTraces()) {
                    line.append(System.lineSeparator()).append(StackTraces.of(thrown));
                }
            }
            StatusLine.standardError().println(System.err, line.toString());
        }
    }

    @Override
    public void log(
            Level level,
            @Nullable ResourceBundle bundle,
            @Nullable String format,
            @Nullable Object @Nullable ... parameters) {
        if (isLoggable(level)) {
            boolean plain = format == null || parameters == null || parameters.length == 0;
            log(
                    level,
                    bundle,
                    plain ? format : MessageFormat.format(format, parameters),
                    (Throwable) null);
        }
    }

    private String prefix(Level level) {
        LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS);
        return Text.format("%tT.%<tL %-7s %s: ", now, level, shortName);
    }
}

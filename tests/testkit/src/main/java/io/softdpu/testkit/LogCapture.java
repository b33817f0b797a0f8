package io.softdpu.testkit;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Records of one logger from the creation to the close of this object. Any thread. */
public final class LogCapture implements AutoCloseable {

    /** Held here, since a logger that is unreachable loses its handlers. */
    private final Logger logger;

    private final @Nullable Level levelBefore;

    private final List<LogRecord> records = new CopyOnWriteArrayList<>();
    private final Handler handler =
            new Handler() {
                @Override
                public void publish(LogRecord record) {
                    records.add(record);
                }

                @Override
                public void flush() {}

                @Override
                public void close() {}
            };

    /** Captures the records of a logger, of the levels that it has. */
    public LogCapture(String name) {
        this(name, null);
    }

    /** Captures the records of a logger, which has this level until the close. */
    public LogCapture(String name, @Nullable Level level) {
        logger = Logger.getLogger(name);
        levelBefore = logger.getLevel();
        if (level != null) {
            logger.setLevel(level);
        }
        logger.addHandler(handler);
    }

    /** The records with this text in their message, so far. */
    public List<LogRecord> with(String text) {
        return records.stream().filter(record -> record.getMessage().contains(text)).toList();
    }

    @Override
    public void close() {
        logger.removeHandler(handler);
        logger.setLevel(levelBefore);
    }
}

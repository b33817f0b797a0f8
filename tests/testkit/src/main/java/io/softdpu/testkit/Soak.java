package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;

/**
 * Amount of work of a test by the level of the build: little in {@code mvn verify}, more in {@code
 * mvn -Pfull verify}, much under {@code bin/soak}.
 *
 * <p>A test whose work depends on the level is tagged with {@link #TAG}, asks {@link #count} or
 * {@link #duration} how far to go, and says in a line of {@link #report} what it has done. Any
 * thread.
 */
public final class Soak {

    /** The JUnit tag of tests whose work depends on the level. */
    public static final String TAG = "soak";

    /** The JUnit tag of tests that the level verify leaves out although they start no process. */
    public static final String FULL_TAG = "full";

    /** The system property that names the level: verify, full or soak; verify without it. */
    static final String LEVEL_PROPERTY = "softdpu.test.level";

    private enum Level {
        VERIFY("short"),
        FULL("full"),
        SOAK("long");

        private final String form;

        Level(String form) {
            this.form = form;
        }

        static Level current() {
            return valueOf(level().toUpperCase(Locale.ROOT));
        }
    }

    private Soak() {}

    /** The value of {@link #LEVEL_PROPERTY}. */
    static String level() {
        return System.getProperty(LEVEL_PROPERTY, "verify");
    }

    /**
     * Whether the level is soak.
     *
     * @return true under {@code -Dsoftdpu.test.level=soak}
     */
    public static boolean isLong() {
        return Level.current() == Level.SOAK;
    }

    /**
     * How often to do something.
     *
     * @param small times at the level verify
     * @param full times at the level full
     * @param soak times in a soak
     * @return one of the three
     */
    public static int count(int small, int full, int soak) {
        return switch (Level.current()) {
            case VERIFY -> small;
            case FULL -> full;
            case SOAK -> soak;
        };
    }

    /**
     * How long to do something.
     *
     * @param small time at the level verify
     * @param full time at the level full
     * @param soak time in a soak
     * @return one of the three
     */
    public static Duration duration(Duration small, Duration full, Duration soak) {
        return switch (Level.current()) {
            case VERIFY -> small;
            case FULL -> full;
            case SOAK -> soak;
        };
    }

    /**
     * Says what a test has done, as one line on standard output and in {@code soak/NAME.txt} of
     * {@link BuildFolder}, which keeps the last.
     *
     * @param name of the test, as a file may be called
     * @param seed that repeats it under {@code -Dsoftdpu.seed}
     * @param took how long it ran
     * @param findings counts as {@code key=value, key=value}
     */
    public static void report(String name, long seed, Duration took, String findings) {
        String line = line(name, seed, took, findings);
        System.out.println(line);
        Path folder = BuildFolder.resolve("soak");
        try {
            Files.createDirectories(folder);
            Files.writeString(
                    folder.resolve(name + ".txt"),
                    line + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING,
                    StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the report: name=" + name, e);
        }
    }

    static String line(String name, long seed, Duration took, String findings) {
        return String.format(
                Locale.ROOT,
                "soak: name=%s, form=%s, seed=%d, seconds=%.1f, %s",
                name,
                Level.current().form,
                seed,
                took.toMillis() / 1e3,
                findings);
    }
}

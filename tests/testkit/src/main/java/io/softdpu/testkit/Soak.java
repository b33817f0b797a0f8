package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;

/**
 * Amount of work of a test: little in every build, much under {@code ./soak}.
 *
 * <p>A test that has both forms is tagged with {@link #TAG}, asks {@link #count} or {@link
 * #duration} how far to go, and says in a line of {@link #report} what it has done. Any thread.
 */
public final class Soak {

    /** The JUnit tag of tests that have a long form. */
    public static final String TAG = "soak";

    /** The system property that chooses the long form. */
    public static final String SOAK_PROPERTY = "softdpu.soak";

    private Soak() {}

    /**
     * Whether this is the long form.
     *
     * @return true under {@code -Dsoftdpu.soak=true}
     */
    public static boolean isLong() {
        return Boolean.getBoolean(SOAK_PROPERTY);
    }

    /**
     * How often to do something.
     *
     * @param shortForm times in every build
     * @param longForm times in a soak
     * @return one of the two
     */
    public static int count(int shortForm, int longForm) {
        return isLong() ? longForm : shortForm;
    }

    /**
     * How long to do something.
     *
     * @param shortForm time in every build
     * @param longForm time in a soak
     * @return one of the two
     */
    public static Duration duration(Duration shortForm, Duration longForm) {
        return isLong() ? longForm : shortForm;
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
                isLong() ? "long" : "short",
                seed,
                took.toMillis() / 1e3,
                findings);
    }
}

package io.softdpu.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** The text of {@code --version}: of this program, the Java and the system it runs on. */
final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "softdpu " + number(),
            "Java "
                    + Runtime.version()
                    + ", "
                    + System.getProperty("os.name")
                    + " "
                    + System.getProperty("os.version")
                    + ", "
                    + System.getProperty("os.arch")
        };
    }

    /** The version of this program. */
    static String number() {
        Properties properties = new Properties();
        try (@Nullable InputStream file = Version.class.getResourceAsStream("version.properties")) {
            if (file == null) {
                throw new IllegalStateException("the build has left out version.properties");
            }
            properties.load(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("version", "unknown");
    }
}

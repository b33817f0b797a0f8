package io.softdpu.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Clause;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StderrLoggerTest {
    private final PrintStream standardError = System.err;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    private System.Logger logger;

    @BeforeEach
    void setUp() {
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        logger = System.getLogger("io.softdpu.storage.target");
    }

    @AfterEach
    void tearDown() {
        System.setErr(standardError);
        Logging.setLevel(LogLevel.WARNING);
        Logging.setSdkLevel(LogLevel.WARNING);
    }

    @Test
    @Clause("sto-028")
    void shouldFollowTheLevelOfTheProgramOrOfTheLibraries() {
        System.Logger ofALibrary = System.getLogger("io.softdpu.fabric.thread.BusLoop");
        Logging.setLevel(LogLevel.DEBUG);
        ofALibrary.log(System.Logger.Level.INFO, "one");
        logger.log(System.Logger.Level.INFO, "two");
        Logging.setSdkLevel(LogLevel.INFO);
        Logging.setLevel(LogLevel.DISABLE);
        ofALibrary.log(System.Logger.Level.INFO, "three");
        logger.log(System.Logger.Level.ERROR, "four");

        assertThat(written.toString(StandardCharsets.UTF_8))
                .hasLineCount(2)
                .contains("target: two", "BusLoop: three");
    }

    @Test
    void shouldStandBehindThePlatformsLoggers() {
        logger.log(System.Logger.Level.WARNING, "port is slow: port={0}", "12345");

        assertThat(written.toString(StandardCharsets.UTF_8))
                .matches(
                        "\\d\\d:\\d\\d:\\d\\d\\.\\d{3} WARNING target: port is slow:"
                                + " port=12345\\R");
    }

    @Test
    void shouldFollowTheLevelAtOnce() {
        logger.log(System.Logger.Level.INFO, "one");
        Logging.setLevel(LogLevel.INFO);
        logger.log(System.Logger.Level.INFO, "two");
        logger.log(System.Logger.Level.DEBUG, "three");
        Logging.setLevel(LogLevel.DISABLE);
        logger.log(System.Logger.Level.ERROR, "four");

        assertThat(written.toString(StandardCharsets.UTF_8)).hasLineCount(1).contains("two");
    }

    @Test
    void shouldKeepWhatTheJdkDebugsForTrace() {
        System.Logger ofTheJdk = new StderrLogger("java.lang.Runtime");
        Logging.setSdkLevel(LogLevel.DEBUG);
        ofTheJdk.log(System.Logger.Level.DEBUG, "one");
        ofTheJdk.log(System.Logger.Level.WARNING, "two");
        Logging.setSdkLevel(LogLevel.TRACE);
        ofTheJdk.log(System.Logger.Level.DEBUG, "three");

        assertThat(written.toString(StandardCharsets.UTF_8))
                .hasLineCount(2)
                .contains("two", "three");
    }

    @Test
    void shouldTakeBracesInAMessageWithoutParametersAsTheyAre() {
        logger.log(System.Logger.Level.ERROR, "content: {0} isn't a number");

        assertThat(written.toString(StandardCharsets.UTF_8)).contains("{0} isn't a number");
    }

    @Test
    void shouldShowAStackTraceOnlyFromDebugOn() {
        IllegalStateException failure = new IllegalStateException("broken");

        logger.log(System.Logger.Level.ERROR, "worker failed", failure);
        assertThat(written.toString(StandardCharsets.UTF_8))
                .hasLineCount(1)
                .contains("worker failed: broken");

        Logging.setLevel(LogLevel.DEBUG);
        logger.log(System.Logger.Level.ERROR, "worker failed", failure);
        assertThat(written.toString(StandardCharsets.UTF_8)).contains("\tat io.softdpu.cli.log");
    }
}

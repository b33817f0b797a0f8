package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.perf.child.ErrorLine;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests of the line of an {@link Error} that ends the command. */
class FatalErrorsTest {
    /** A class whose initializer throws. */
    static final class Broken {
        static final int VALUE = fail();

        private static int fail() {
            throw new IllegalStateException("file is missing: file=/card");
        }
    }

    /** Never returns. */
    @SuppressWarnings("InfiniteRecursion") // until the stack overflows
    private static int endless(int depth) {
        return endless(depth + 1) + 1;
    }

    private static Error thrownBy(Runnable action) {
        try {
            action.run();
        } catch (Error e) {
            return e;
        }
        throw new AssertionError("nothing was thrown");
    }

    private static List<String> report(Error error) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int code = FatalErrors.report(error, new PrintStream(out, true, StandardCharsets.UTF_8));
        assertThat(code).isEqualTo(ExitCode.FAILED.code());
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    static Stream<Error> errors() {
        return Stream.of(
                new NoClassDefFoundError("io/softdpu/fabric/error/FabricException"),
                new OutOfMemoryError("unable to create native thread: possibly out of memory"),
                new OutOfMemoryError("Java heap space"),
                new OutOfMemoryError(),
                new StackOverflowError(),
                new ExceptionInInitializerError(new IllegalStateException("two\nlines")),
                new ExceptionInInitializerError("without a cause"),
                new InternalError("file is damaged", new IllegalStateException("\u001b[2J")),
                new InternalError(new IOException("file is damaged")),
                new InternalError(new IOException()),
                new UnsatisfiedLinkError("libjava.so"),
                new AssertionError("cannot happen"));
    }

    @ParameterizedTest
    @MethodSource("errors")
    void shouldPrintOneLineWithAStatus(Error error) {
        assertThat(report(error))
                .singleElement()
                .satisfies(line -> {
                    assertThat(ErrorLine.statusOf(line)).isPresent();
                    assertThat(line.chars()).noneMatch(Character::isISOControl);
                    assertThat(line)
                            .doesNotContain("java.lang.", "java.io.")
                            .doesNotContain("IOException", "MemoryError", "InternalError")
                            .contains(": ", "=");
                });
    }

    @Test
    void shouldNameWhatIsMissing() {
        assertThat(report(new NoClassDefFoundError("io/softdpu/A")).getFirst())
                .startsWith(ErrorLine.of(Status.OPERATING_SYSTEM, "class cannot be loaded: "))
                .contains("class=io/softdpu/A")
                .contains("ulimit -n");
        assertThat(report(new OutOfMemoryError("unable to create native thread: x")).getFirst())
                .startsWith(ErrorLine.of(Status.OPERATING_SYSTEM, "thread cannot be started: "))
                .contains("ulimit -u");
        assertThat(report(new OutOfMemoryError("Java heap space")).getFirst())
                .startsWith(ErrorLine.of(Status.NO_MEMORY, "memory of the JVM is exhausted: "))
                .contains("heapLimitBytes=" + Runtime.getRuntime().maxMemory());
        assertThat(report(thrownBy(() -> endless(0))).getFirst())
                .startsWith(ErrorLine.of(Status.UNEXPECTED, "call stack is exhausted: "));
    }

    @Test
    void shouldNameTheClassWhoseInitializerThrewAndWhyAtEachUse() {
        String expected =
                ErrorLine.of(
                        Status.UNEXPECTED,
                        "class cannot be initialized: class="
                                + Broken.class.getName()
                                + ", reason=file is missing: file=/card");
        Error first = thrownBy(() -> assertThat(Broken.VALUE).isZero());
        Error second = thrownBy(() -> assertThat(Broken.VALUE).isZero());

        assertThat(first).isInstanceOf(ExceptionInInitializerError.class);
        assertThat(report(first)).containsExactly(expected);
        assertThat(second).isInstanceOf(NoClassDefFoundError.class);
        assertThat(Optional.of(report(second).getFirst()))
                .get()
                .asString()
                .contains("file is missing: file=/card")
                .doesNotContain("java.lang.");
    }

    @Test
    void shouldNameTheErrorBelowAnInitializer() {
        Error failure =
                new ExceptionInInitializerError(
                        new IllegalStateException(
                                new OutOfMemoryError("unable to create native thread: x")));

        assertThat(report(failure).getFirst())
                .startsWith(ErrorLine.of(Status.OPERATING_SYSTEM, "thread cannot be started: "));
    }
}

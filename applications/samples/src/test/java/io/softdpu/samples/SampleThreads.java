package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Samples on threads of this JVM, in the fabric folder of this process. All have ended when this is
 * closed.
 */
final class SampleThreads implements AutoCloseable {
    private final List<Running> started = new ArrayList<>();

    /**
     * Starts a sample.
     *
     * @param arguments its name, then {@code option=value} each; without a timeout it has that of
     *     {@link Patience}
     */
    RunningSample start(String... arguments) {
        return startPausing(null, arguments);
    }

    /** Starts one that pauses after the first line that begins so, until {@code enter}. */
    RunningSample startPausing(@Nullable String pauseAfter, String... arguments) {
        return start(pauseAfter, SampleProgram.find(arguments[0]), arguments);
    }

    /** Starts one that a test has changed, by the arguments of the one with its name. */
    RunningSample start(@Nullable String pauseAfter, Sample sample, String... arguments) {
        Running running = new Running(pauseAfter, sample, arguments);
        started.add(running);
        running.thread.start();
        return running;
    }

    /** Folder in {@code /proc} of the thread of a started sample. */
    static Path kernelThread(RunningSample sample) {
        return ((Running) sample).kernelThread.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    /** Lines that a started sample has printed while it closed its {@link RdmaProgram}. */
    static List<String> linesOfTheEnd(RunningSample sample) {
        return List.copyOf(((Running) sample).linesOfTheEnd);
    }

    /** Interrupts those that still run, and waits for their end, which must come. */
    @Override
    public void close() throws InterruptedException {
        List<String> left = new ArrayList<>();
        for (Running each : started) {
            each.thread.interrupt();
            if (!each.thread.join(Patience.DEADLINE)) {
                left.add(each.thread.getName());
            }
        }
        assertThat(left).as("samples that have not ended").isEmpty();
    }

    private static final class Running implements RunningSample {
        private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
        private final List<String> linesOfTheEnd = new CopyOnWriteArrayList<>();
        private final List<String> errors = Collections.synchronizedList(new ArrayList<>());
        private final List<Throwable> afterItsFailure =
                Collections.synchronizedList(new ArrayList<>());
        private final Semaphore entered = new Semaphore(0);
        private final CompletableFuture<Path> kernelThread = new CompletableFuture<>();
        private final Thread thread;
        private @Nullable String pauseAfter;
        private volatile int exit;

        Running(@Nullable String pauseAfter, Sample sample, String... arguments) {
            this.pauseAfter = pauseAfter;
            this.thread = new Thread(() -> run(sample, arguments), "sample-" + sample.name());
        }

        private void run(Sample sample, String... arguments) {
            kernelThread.complete(ownKernelThread());
            try {
                sample.run(
                        SampleProgram.settings(arguments),
                        new PrintStream(new Lines(), true, StandardCharsets.UTF_8));
            } catch (RuntimeException | Error e) {
                exit = e instanceof WrongDataException ? 3 : 1;
                for (Throwable each = e; each != null; each = each.getCause()) {
                    errors.add(each.toString());
                    afterItsFailure.addAll(List.of(each.getSuppressed()));
                }
            }
        }

        private static Path ownKernelThread() {
            try {
                return Path.of("/proc")
                        .resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
            } catch (IOException e) {
                throw new UncheckedIOException("thread is not in /proc", e);
            }
        }

        private static boolean isInClose() {
            return StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame ->
                                    frame.getMethodName().equals("close")
                                            && frame.getClassName()
                                                    .equals(RdmaProgram.class.getName())));
        }

        @Override
        public String awaitLine(String regex) {
            Predicate<String> found = Pattern.compile(regex).asPredicate();
            Await.until(
                    "line or end: regex=" + regex,
                    () -> !thread.isAlive() || outputLines().stream().anyMatch(found));
            return outputLines().stream()
                    .filter(found)
                    .findFirst()
                    .orElseThrow(() ->
                            new AssertionError(
                                    Text.format(
                                            "line did not come: regex=%s, lines=%s, errors=%s",
                                            regex, lines, errors)));
        }

        @Override
        public List<String> outputLines() {
            synchronized (lines) {
                return List.copyOf(lines);
            }
        }

        @Override
        public List<String> errorLines() {
            synchronized (errors) {
                return List.copyOf(errors);
            }
        }

        @Override
        public boolean isAlive() {
            return thread.isAlive();
        }

        @Override
        public int awaitExit() {
            Await.until("end of " + thread.getName(), () -> !thread.isAlive());
            assertThat(afterItsFailure).as("of %s", thread.getName()).isEmpty();
            return exit;
        }

        @Override
        public void enter() {
            entered.release();
        }

        /** Collects the lines that it prints, on its own thread. */
        private final class Lines extends OutputStream {
            private final ByteArrayOutputStream line = new ByteArrayOutputStream();

            @Override
            public void write(int octet) throws InterruptedIOException {
                if (octet != '\n') {
                    line.write(octet);
                    return;
                }
                String whole = line.toString(StandardCharsets.UTF_8);
                line.reset();
                if (isInClose()) {
                    linesOfTheEnd.add(whole);
                }
                lines.add(whole);
                if (pauseAfter != null && whole.startsWith(pauseAfter)) {
                    pauseAfter = null;
                    try {
                        entered.acquire();
                    } catch (InterruptedException e) {
                        throw new InterruptedIOException("the test has ended");
                    }
                }
            }
        }
    }
}

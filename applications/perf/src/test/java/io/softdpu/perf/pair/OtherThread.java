package io.softdpu.perf.pair;

import io.softdpu.testkit.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The other half of a measurement: a thread of this JVM in the form of a process. */
public final class OtherThread extends Process implements AutoCloseable {
    private final PipedOutputStream toThread = new PipedOutputStream();
    private final PipedInputStream fromThread = new PipedInputStream();
    private final CompletableFuture<Integer> exit = new CompletableFuture<>();

    private OtherThread() {}

    /** Starts the thread. */
    public static OtherThread start(Half half) throws IOException {
        OtherThread made = new OtherThread();
        PipedInputStream in = new PipedInputStream(made.toThread);
        PrintStream out =
                new PrintStream(
                        new PipedOutputStream(made.fromThread), true, StandardCharsets.US_ASCII);
        Thread.ofPlatform().name("other-half").start(() -> made.run(half, in, out));
        return made;
    }

    private void run(Half half, InputStream in, PrintStream out) {
        try (in;
                out) {
            half.run(in, out);
            exit.complete(0);
        } catch (IOException | RuntimeException | Error e) {
            exit.completeExceptionally(e);
        }
    }

    @Override
    public OutputStream getOutputStream() {
        return toThread;
    }

    @Override
    public InputStream getInputStream() {
        return fromThread;
    }

    @Override
    public InputStream getErrorStream() {
        return InputStream.nullInputStream();
    }

    @Override
    public int waitFor() {
        return exit.join();
    }

    @Override
    public boolean waitFor(long timeout, TimeUnit unit) throws InterruptedException {
        exit.handle((_, _) -> true).completeOnTimeout(false, timeout, unit).join();
        return exit.isDone();
    }

    @Override
    public CompletableFuture<Process> onExit() {
        return exit.handle((_, _) -> this);
    }

    @Override
    public int exitValue() {
        if (!exit.isDone()) {
            throw new IllegalThreadStateException("has not ended");
        }
        return exit.isCompletedExceptionally() ? 1 : 0;
    }

    @Override
    public long pid() {
        return ProcessHandle.current().pid();
    }

    /** A thread ends when its other half has: {@link #close} waits for that. */
    @Override
    public void destroy() {}

    /** Waits for the end of the thread, and throws what has ended it. */
    @Override
    public void close() {
        exit.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    /** Work of the thread, which gets streams as a process has them. */
    public interface Half {
        /** Runs to the end of the measurement. */
        void run(InputStream in, PrintStream out) throws IOException;
    }
}

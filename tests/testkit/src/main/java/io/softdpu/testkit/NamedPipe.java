package io.softdpu.testkit;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assertions;

/**
 * Named pipe (FIFO) without a peer: an ordinary open for reading or writing waits for one until the
 * pipe is closed here. Any thread.
 */
public final class NamedPipe implements AutoCloseable {

    private static final long DEADLINE_SECONDS = 60;

    private final Path path;

    private NamedPipe(Path path) {
        this.path = path;
    }

    /**
     * Makes a pipe, by mkfifo of the system.
     *
     * @param path where nothing is yet
     * @return the pipe
     */
    public static NamedPipe create(Path path) {
        try {
            Process made = new ProcessBuilder("mkfifo", path.toString()).inheritIO().start();
            if (!made.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) || made.exitValue() != 0) {
                made.destroyForcibly();
                Assertions.fail("mkfifo failed: path=" + path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while mkfifo ran: path=" + path, e);
        }
        return new NamedPipe(path);
    }

    /**
     * Names the pipe.
     *
     * @return its path
     */
    public Path path() {
        return path;
    }

    /** Lets every open that waits for a peer return. */
    public void release() {
        // An open for both ends never waits, and is a peer for either.
        try (RandomAccessFile both = new RandomAccessFile(path.toFile(), "rw")) {
            both.getFD();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets every open that waits return, and removes the pipe. */
    @Override
    public void close() {
        if (Files.exists(path)) {
            release();
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

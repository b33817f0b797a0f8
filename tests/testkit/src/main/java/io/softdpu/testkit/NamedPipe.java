package io.softdpu.testkit;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Named pipe (FIFO) without a peer: an ordinary open for reading or writing waits for one until the
 * pipe is closed here. Any thread.
 */
public final class NamedPipe implements AutoCloseable {

    private final Path path;

    private NamedPipe(Path path) {
        this.path = path;
    }

    /**
     * Makes a pipe that its owner may read and write.
     *
     * @param path where nothing is yet
     * @return the pipe
     */
    public static NamedPipe create(Path path) {
        SystemCalls.createPipe(path);
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

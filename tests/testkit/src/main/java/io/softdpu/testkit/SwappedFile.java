package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * File name behind which a thread puts a regular file, a named pipe, a link to that pipe and a
 * directory in turn, without a pause, until this is closed. At every moment there is one of them
 * behind the name, except before a directory and after it, when there is nothing.
 */
public final class SwappedFile implements AutoCloseable {

    private final Path name;
    private final Path scratch;
    private final Path regular;
    private final NamedPipe pipe;
    private final SeededRandom random;
    private final Thread thread = new Thread(this::swap, "testkit-swapper");
    private final CountDownLatch first = new CountDownLatch(1);
    private final AtomicLong swaps = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean closed;

    /**
     * Begins to swap; returns when something is behind the name.
     *
     * @param name the name; what is there now is replaced
     * @param folder an empty folder on the same file system
     * @param content of the regular file
     * @param random chooses what comes next; used by the thread alone from now on
     */
    public SwappedFile(Path name, Path folder, byte[] content, SeededRandom random) {
        this.name = name;
        this.scratch = folder.resolve("next");
        this.random = random;
        try {
            this.regular = Files.write(folder.resolve("regular"), content);
            this.pipe = NamedPipe.create(folder.resolve("pipe"));
            thread.setDaemon(true);
            thread.start();
            if (!first.await(Patience.SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the swapping has not begun: name=" + name);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted: name=" + name, e);
        }
    }

    /**
     * Counts what was put behind the name.
     *
     * @return times so far
     */
    public long swaps() {
        return swaps.get();
    }

    private void swap() {
        try {
            while (!closed) {
                putNext(random.nextInt(64));
                swaps.incrementAndGet();
                first.countDown();
            }
        } catch (IOException | RuntimeException e) {
            failure.set(e);
        }
    }

    private void putNext(int choice) throws IOException {
        switch (choice) {
            case 0 -> {
                try {
                    Files.deleteIfExists(name);
                    Files.createDirectory(name);
                    Files.delete(name);
                } catch (FileAlreadyExistsException e) {
                    return; // what is tested has made a file there meanwhile
                }
            }
            case 1 -> {
                Files.createSymbolicLink(scratch, pipe.path());
                replace();
            }
            default -> {
                Files.createLink(scratch, choice % 2 == 0 ? regular : pipe.path());
                replace();
            }
        }
    }

    /** A rename between two names of one file does nothing, and the scratch file remains. */
    private void replace() throws IOException {
        Files.move(scratch, name, StandardCopyOption.ATOMIC_MOVE);
        Files.deleteIfExists(scratch);
    }

    /**
     * Ends the swapping and removes what it made, the name included; an open that waits for a peer
     * of the pipe returns.
     */
    @Override
    public void close() {
        closed = true;
        try {
            thread.join(Patience.DEADLINE);
            pipe.close();
            Files.deleteIfExists(name);
            Files.deleteIfExists(regular);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Throwable thrown = failure.get();
        if (thrown != null || thread.isAlive()) {
            throw new AssertionError("the swapping has failed: name=" + name, thrown);
        }
    }
}

package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Files with descriptors, which the user copies between the two sides of a sample. The descriptors
 * are bytes here, which only the peer's calls understand. A file gets its name when it is complete,
 * and is removed at the end, when the descriptor is worth nothing any more.
 */
final class DescriptorFiles implements AutoCloseable {
    /** Some file systems report no changes. */
    private static final Duration LOOKS_AGAIN_AFTER = Duration.ofSeconds(1);

    private final Deadline deadline;
    private final List<Path> own = new ArrayList<>();

    /**
     * @param deadline of the waits
     */
    DescriptorFiles(Deadline deadline) {
        this.deadline = deadline;
    }

    /**
     * Announces a file that will be written, and removes it if it is one of an earlier run.
     *
     * @throws DpuException IO_FAILED if the name is that of something else than a regular file
     */
    void announce(Path file) {
        try {
            requireReplaceable(file);
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw failed("written", file, e);
        }
        own.add(file);
    }

    private static void requireReplaceable(Path file) throws IOException {
        try (CheckedFile existing = CheckedFile.open(file, FilePolicy.USER_DATA)) {
            existing.sizeBytes(); // the check is that it could be opened
        } catch (NoSuchFileException e) {
            return; // a new name
        }
    }

    /**
     * Writes a file: under another name in its folder first, so that no process reads a part.
     *
     * @throws DpuException IO_FAILED
     */
    void write(Path file, byte[] descriptor) {
        try {
            Path part = Files.createTempFile(folderOf(file), ".descriptor", ".part");
            try {
                CheckedFile.write(
                        part, FilePolicy.SHARED_FOLDER, MemorySegment.ofArray(descriptor));
                Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException e) {
            throw failed("written", file, e);
        }
    }

    /**
     * Waits until a file is there, and reads it. An empty one is about to be copied.
     *
     * @throws DpuException TIME_OUT; IO_FAILED if its folder does not exist, or it is no regular
     *     file that can be read
     */
    byte[] await(Path file) {
        try (WatchService changes = file.getFileSystem().newWatchService()) {
            folderOf(file)
                    .register(
                            changes,
                            StandardWatchEventKinds.ENTRY_CREATE,
                            StandardWatchEventKinds.ENTRY_MODIFY);
            byte[] descriptor = readIfThere(file);
            while (descriptor.length == 0) {
                if (deadline.hasPassed()) {
                    throw new DpuException(
                            Status.TIME_OUT,
                            Text.format(
                                    "descriptor of the peer is not there: file=%s, expected=a copy"
                                            + " of the file that the peer has written",
                                    file));
                }
                awaitChange(changes);
                descriptor = readIfThere(file);
            }
            return descriptor;
        } catch (IOException e) {
            throw failed("read", file, e);
        }
    }

    private static byte[] readIfThere(Path file) throws IOException {
        try {
            return CheckedFile.readAll(file, FilePolicy.USER_TEXT);
        } catch (NoSuchFileException e) {
            return new byte[0];
        }
    }

    private void awaitChange(WatchService changes) {
        long nanos = Math.min(deadline.remaining().toNanos(), LOOKS_AGAIN_AFTER.toNanos());
        try {
            WatchKey key = changes.poll(nanos, TimeUnit.NANOSECONDS);
            if (key != null) {
                key.pollEvents();
                key.reset();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DpuException(
                    Status.CONNECTION_ABORTED,
                    "thread was interrupted while it waited for a descriptor",
                    e);
        }
    }

    private static Path folderOf(Path file) {
        Path folder = file.getParent();
        return folder == null ? file : folder; // the root has none
    }

    private static DpuException failed(String purpose, Path file, IOException e) {
        return new DpuException(
                Status.IO_FAILED,
                Text.format(
                        "descriptor cannot be %s: file=%s, reason=%s", purpose, file, Reason.of(e)),
                e);
    }

    /** Removes the files that were written. */
    @Override
    public void close() {
        for (Path file : own) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                throw failed("removed", file, e);
            }
        }
    }
}

package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Deadline;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.OutputFile;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Files with descriptors, which the user copies between the two sides of a sample. The descriptors
 * are bytes here, which only the peer's calls understand. A file gets its name when it is complete,
 * and is removed at the end, when the descriptor is worth nothing any more. No file but an empty
 * one or a descriptor is replaced, and none but the one that was written is removed.
 */
final class DescriptorFiles implements AutoCloseable {
    /** Some file systems report no changes. */
    private static final Duration LOOKS_AGAIN_AFTER = Duration.ofSeconds(1);

    /** First bytes of what is exported: memory, a sync event, a connection (see docs/wire). */
    private static final Set<Integer> MAGICS = Set.of(0x53444d58, 0x53445352, 0x53524443);

    private final Deadline deadline;
    private final Map<Path, OutputFile> own = new LinkedHashMap<>();

    /**
     * @param deadline of the waits
     */
    DescriptorFiles(Deadline deadline) {
        this.deadline = deadline;
    }

    /**
     * Announces a file that will be written, and removes it if it is one of an earlier run.
     *
     * @throws DpuException IO_FAILED if the name is that of something else than an empty file or a
     *     descriptor, or that of a symbolic link
     */
    void announce(Path file) {
        try {
            ownFile(file).removeReplaceable();
        } catch (IOException e) {
            throw failed("written", file, e);
        }
    }

    private OutputFile ownFile(Path file) {
        return own.computeIfAbsent(
                file, name -> new OutputFile(name, "a descriptor of an earlier run", MAGICS));
    }

    /**
     * Writes a file that is complete when it has its name.
     *
     * @throws DpuException IO_FAILED as {@link #announce}, or if it cannot be written
     */
    void write(Path file, byte[] descriptor) {
        try {
            ownFile(file).write(MemorySegment.ofArray(descriptor));
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

    /** Removes the files that were written, where they still have their names. */
    @Override
    public void close() {
        DpuException failure = null;
        for (Map.Entry<Path, OutputFile> entry : own.entrySet()) {
            try {
                entry.getValue().close();
            } catch (IOException e) {
                DpuException other = failed("removed", entry.getKey(), e);
                if (failure == null) {
                    failure = other;
                } else {
                    failure.addSuppressed(other);
                }
            }
        }
        own.clear();
        if (failure != null) {
            throw failure;
        }
    }
}

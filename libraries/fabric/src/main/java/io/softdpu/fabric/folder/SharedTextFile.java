package io.softdpu.fabric.folder;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Text file of a fabric folder that its processes read and change. A reader sees the text before or
 * after a change, never a part, since a change renames a new file over the old one; changes are
 * serialised by a lock on a separate file.
 *
 * <p>Any thread.
 */
public final class SharedTextFile {
    /** Size limit: more than a topology with the maximum of functions needs. */
    static final int MAX_BYTES = FilePolicy.MAX_TEXT_BYTES;

    static final String LOCK_SUFFIX = ".lock";
    static final String NEW_SUFFIX = ".new";

    /** Path for messages. */
    private final Path file;

    /** The same file relative to the open folder, which may have been moved since. */
    private final Path place;

    private final int directory;

    /**
     * Names a file of the folder.
     *
     * @param folder the fabric folder
     * @param directory its open descriptor, which stays the folder's
     */
    SharedTextFile(Path folder, int directory, String name) {
        this.file = folder.resolve(name);
        this.place = Path.of("/proc/self/fd/" + directory, name);
        this.directory = directory;
    }

    /**
     * Reads the text; null if there is none.
     *
     * @throws FabricException SYSTEM if it is too large, not UTF-8, not a regular file, or another
     *     user's
     */
    public @Nullable String read() {
        if (!Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            return null; // the usual case, without the cost of an exception
        }
        String name = file.getFileName().toString();
        try (CheckedFile opened = open(name, FileDescriptors.O_RDONLY)) {
            return opened.readText();
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return null; // removed in between
            }
            throw unusable(e);
        } catch (IOException e) {
            throw unusable(e);
        }
    }

    /**
     * Changes the text.
     *
     * @param change gets the text or null and returns the new one, null to delete it; if it throws,
     *     nothing is changed
     * @throws FabricException TIMED_OUT if another process keeps the lock, inside progress at once;
     *     SYSTEM, also if the new text is too large to be read
     */
    public void update(long timeoutNanos, UnaryOperator<@Nullable String> change) {
        String name = file.getFileName().toString();
        try (CheckedFile lock =
                open(name + LOCK_SUFFIX, FileDescriptors.O_RDWR | FileDescriptors.O_CREAT)) {
            FolderWait wait = FolderWait.until(FolderWait.deadlineIn(timeoutNanos));
            if (!wait.attempt(() -> FileDescriptors.tryLockExclusive(lock.descriptor()))) {
                throw wait.failure(
                        "file of the fabric stays locked", file.resolveSibling(name + LOCK_SUFFIX));
            }
            String changed = change.apply(read());
            if (changed == null) {
                Files.deleteIfExists(place);
                return;
            }
            byte[] bytes = changed.getBytes(StandardCharsets.UTF_8);
            requireSize(bytes.length);
            Path fresh = place.resolveSibling(name + NEW_SUFFIX);
            Files.deleteIfExists(fresh); // of a process that ended in the middle
            try (CheckedFile made =
                    open(
                            name + NEW_SUFFIX,
                            FileDescriptors.O_WRONLY
                                    | FileDescriptors.O_CREAT
                                    | FileDescriptors.O_EXCL)) {
                made.replaceContent(MemorySegment.ofArray(bytes));
            }
            Files.move(fresh, place, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw unusable(e);
        }
    }

    private CheckedFile open(String name, int flags) throws IOException {
        return CheckedFile.openAt(
                directory, name, file.resolveSibling(name), FilePolicy.SHARED_FOLDER, flags);
    }

    /** Deletes the text; for the first process of a folder, while no other is in it. */
    static void forget(Path folder, String name) {
        try {
            Files.deleteIfExists(folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void requireSize(int bytes) {
        if (bytes > MAX_BYTES) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "file of the fabric is too large: file=" + file + ", limitBytes=" + MAX_BYTES);
        }
    }

    private FabricException unusable(Exception cause) {
        if (cause instanceof FileRefusedException refused) {
            return FabricFolder.unusable(refused);
        }
        return new FabricException(
                FabricException.Kind.SYSTEM,
                "file of the fabric not usable: file=" + file + ", cause=" + Reason.of(cause),
                cause);
    }
}

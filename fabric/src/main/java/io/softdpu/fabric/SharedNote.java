package io.softdpu.fabric;

import io.softdpu.linux.FileDescriptors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A text of a fabric folder that its processes read and change together. A reader sees the text
 * before a change or after it, never a part, since a change puts a new file in the old one's place;
 * changes happen one after the other, under a lock on a file beside it.
 *
 * <p>Any thread.
 */
final class SharedNote {
    /** More than a topology of the most functions needs; a larger file is not ours. */
    static final int MAX_BYTES = 4 << 20;

    private static final String LOCK_SUFFIX = ".lock";
    private static final String NEW_SUFFIX = ".new";

    private final Path file;
    private final int directory;

    /**
     * The note of this name.
     *
     * @param folder the fabric folder
     * @param directory its open descriptor, which stays the folder's
     */
    SharedNote(Path folder, int directory, String name) {
        this.file = folder.resolve(name);
        this.directory = directory;
    }

    /** The text; null while nobody has written one. */
    @Nullable String read() {
        try {
            if (!Files.exists(file)) {
                return null; // the usual case, without the price of an exception
            }
            if (Files.size(file) > MAX_BYTES) {
                throw new FabricException(
                        FabricException.Kind.SYSTEM,
                        "file of the fabric is too large: file="
                                + file
                                + ", limitBytes="
                                + MAX_BYTES);
            }
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            return null; // removed in between
        } catch (IOException e) {
            throw unusable(e);
        }
    }

    /**
     * Changes the text.
     *
     * @param change is given the text or null, and gives the new one; what it throws changes
     *     nothing
     * @throws FabricException TIMED_OUT if another process holds the lock all the time; SYSTEM
     */
    void update(long timeoutNanos, UnaryOperator<@Nullable String> change) {
        int lock =
                FileDescriptors.openAt(
                        directory,
                        file.getFileName() + LOCK_SUFFIX,
                        FileDescriptors.O_RDWR
                                | FileDescriptors.O_CREAT
                                | FileDescriptors.O_NOFOLLOW,
                        0600);
        try {
            if (!FabricFolder.within(timeoutNanos, () -> FileDescriptors.tryLockExclusive(lock))) {
                throw new FabricException(
                        FabricException.Kind.TIMED_OUT, "file of the fabric stays locked: " + file);
            }
            String changed = change.apply(read());
            if (changed == null) {
                Files.deleteIfExists(file);
                return;
            }
            Path fresh = file.resolveSibling(file.getFileName() + NEW_SUFFIX);
            Files.writeString(fresh, changed);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw unusable(e);
        } finally {
            FileDescriptors.close(lock);
        }
    }

    /** Forgets the text; for the first process of a folder, while no other is in it. */
    static void forget(Path folder, String name) {
        try {
            Files.deleteIfExists(folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private FabricException unusable(IOException cause) {
        return new FabricException(
                FabricException.Kind.SYSTEM,
                "file of the fabric not usable: file=" + file + ", cause=" + cause,
                cause);
    }
}

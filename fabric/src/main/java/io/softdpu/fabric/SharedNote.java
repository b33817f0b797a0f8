package io.softdpu.fabric;

import io.softdpu.linux.FileDescriptors;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
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

    /** What messages name. */
    private final Path file;

    /** The same in the folder that was opened, wherever that has been moved to since. */
    private final Path place;

    private final int directory;

    /**
     * The note of this name.
     *
     * @param folder the fabric folder
     * @param directory its open descriptor, which stays the folder's
     */
    SharedNote(Path folder, int directory, String name) {
        this.file = folder.resolve(name);
        this.place = Path.of("/proc/self/fd/" + directory, name);
        this.directory = directory;
    }

    /**
     * The text; null while nobody has written one.
     *
     * @throws FabricException SYSTEM if it is too large, no text, or no plain file: a link or a
     *     pipe would be somebody else's
     */
    @Nullable String read() {
        try {
            if (!Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
                return null; // the usual case, without the price of an exception
            }
            if (!Files.isRegularFile(place, LinkOption.NOFOLLOW_LINKS)) {
                throw new FabricException(
                        FabricException.Kind.SYSTEM,
                        "not a plain file of the fabric: file=" + file);
            }
            try (InputStream in = Files.newInputStream(place, LinkOption.NOFOLLOW_LINKS)) {
                byte[] bytes = in.readNBytes(MAX_BYTES + 1);
                requireSize(bytes.length);
                return decode(bytes);
            }
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
     * @throws FabricException TIMED_OUT if another process holds the lock all the time; SYSTEM, as
     *     where the new text is longer than anybody would read
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
                Files.deleteIfExists(place);
                return;
            }
            byte[] bytes = changed.getBytes(StandardCharsets.UTF_8);
            requireSize(bytes.length);
            Path fresh = place.resolveSibling(file.getFileName() + NEW_SUFFIX);
            Files.deleteIfExists(fresh); // of a process that ended in the middle
            Files.write(fresh, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
            Files.move(fresh, place, StandardCopyOption.ATOMIC_MOVE);
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

    private void requireSize(int bytes) {
        if (bytes > MAX_BYTES) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "file of the fabric is too large: file=" + file + ", limitBytes=" + MAX_BYTES);
        }
    }

    /** Bytes that are no text are an error, and not a text with something else in their place. */
    private static String decode(byte[] bytes) throws CharacterCodingException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }

    private FabricException unusable(IOException cause) {
        return new FabricException(
                FabricException.Kind.SYSTEM,
                "file of the fabric not usable: file=" + file + ", cause=" + cause,
                cause);
    }
}

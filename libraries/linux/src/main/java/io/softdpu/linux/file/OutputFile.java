package io.softdpu.linux.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.util.HexFormat;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * File that a user names for what a program writes. What has the name before is replaced only if it
 * is a regular file that was to be replaced; a symbolic link is not followed. The content is
 * written under another name in the same folder first: no process reads a part, and a write that
 * fails, such as on a full disk, leaves what was there.
 *
 * <p>{@link #replace} replaces a file of any content. An object of this class replaces only an
 * empty file, one that begins with one of its magic numbers, or its own, and removes its own when
 * it is closed. Own is the file that was written, by device and inode, not by its name.
 *
 * <p>Linux removes and replaces files by name only: another process that puts a file in the name's
 * place after the check, and before the system call that follows it, loses that file.
 *
 * <p>Belongs to one thread at a time. The methods throw as {@link CheckedFile}.
 */
public final class OutputFile implements AutoCloseable {
    private static final int MAGIC_BYTES = Integer.BYTES;

    /** Permission bits of results, less the umask. */
    private static final int READABLE = 0666;

    /** Permission bits of what this user and its peer need alone. */
    private static final int PRIVATE = 0600;

    private final Path file;
    private final String kind;
    private final Set<Integer> magics;
    private @Nullable CheckedFile written;

    /**
     * Names a file; nothing is done to it.
     *
     * @param kind of the content, for messages, such as {@code a descriptor}
     * @param magics the first four bytes of such contents, the first one in the highest bits
     */
    public OutputFile(Path file, String kind, Set<Integer> magics) {
        this.file = file;
        this.kind = kind;
        this.magics = Set.copyOf(magics);
    }

    /**
     * Checks that {@link #replace} may replace what has a name now, and that its folder lets this
     * user do so.
     *
     * @throws FileRefusedException naming the file, what it is, and what is expected
     * @throws IOException see the class
     */
    public static void requireReplaceable(Path file) throws IOException {
        requireFolder(file);
        try (CheckedFile _ = CheckedFile.openPlace(file, FilePolicy.USER_OUTPUT)) {
            if (!Files.isWritable(file)) {
                throw new FileRefusedException(
                        file, "this user may not write to it", "a file that this user may replace");
            }
        } catch (NoSuchFileException e) {
            return; // a new name
        }
    }

    /**
     * Writes a file in place of any regular one, with its permission bits, or a new one.
     *
     * @param content native memory or an array's
     * @throws IOException see the class; what was there is as before
     */
    public static void replace(Path file, MemorySegment content) throws IOException {
        requireReplaceable(file);
        @Nullable Set<PosixFilePermission> kept =
                Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                        ? Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS)
                        : null;
        put(file, content, READABLE, kept).close();
    }

    /**
     * Removes what has the name, if it may be replaced: of an earlier run, which a peer would take
     * for this one's.
     *
     * @throws FileRefusedException if it may not, naming the file, what it is, and what is expected
     * @throws IOException see the class
     */
    public void removeReplaceable() throws IOException {
        requireFolder(file);
        try (CheckedFile _ = CheckedFile.openPlace(file, FilePolicy.USER_OUTPUT);
                CheckedFile existing = CheckedFile.open(file, FilePolicy.USER_OUTPUT)) {
            if (written == null || !written.isSameFile(existing)) {
                requireKind(existing);
            }
            removeIfNamed(existing);
        } catch (NoSuchFileException e) {
            return; // a new name
        }
    }

    /**
     * Writes the content, which only this user may read, in place of what may be replaced.
     *
     * @param content native memory or an array's
     * @throws IOException as {@link #removeReplaceable}
     */
    public void write(MemorySegment content) throws IOException {
        removeReplaceable();
        CheckedFile before = written;
        written = put(file, content, PRIVATE, null);
        if (before != null) {
            before.close();
        }
    }

    private void requireKind(CheckedFile existing) throws IOException {
        byte[] begin = new byte[MAGIC_BYTES];
        int count = (int) existing.read(MemorySegment.ofArray(begin), 0);
        boolean isKind = count == MAGIC_BYTES && magics.contains(ByteBuffer.wrap(begin).getInt());
        if (count > 0 && !isKind) {
            throw new FileRefusedException(
                    file,
                    "it has another content (bytes="
                            + existing.sizeBytes()
                            + ", beginning with "
                            + HexFormat.of().formatHex(begin, 0, count)
                            + ")",
                    "no file, an empty one, or " + kind);
        }
    }

    /** Removes the name of an open file, unless it has become another file's. */
    private void removeIfNamed(CheckedFile open) throws IOException {
        try (CheckedFile now = CheckedFile.openPlace(file, FilePolicy.USER_OUTPUT)) {
            if (open.isSameFile(now)) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException | FileRefusedException e) {
            return; // removed by its reader, or another process has put something else there
        }
    }

    private static CheckedFile put(
            Path file,
            MemorySegment content,
            int mode,
            @Nullable Set<PosixFilePermission> permissions)
            throws IOException {
        Path part = file.resolveSibling(".softdpu-" + UUID.randomUUID() + ".part");
        CheckedFile made = CheckedFile.create(part, file, mode);
        boolean placed = false;
        try {
            made.replaceContent(content);
            if (permissions != null) {
                Files.setPosixFilePermissions(part, permissions);
            }
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            placed = true;
            return made;
        } finally {
            if (!placed) {
                made.close();
                Files.deleteIfExists(part);
            }
        }
    }

    private static void requireFolder(Path file) throws FileRefusedException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null && !(Files.isDirectory(folder) && Files.isWritable(folder))) {
            throw new FileRefusedException(
                    file,
                    Files.isDirectory(folder)
                            ? "this user may not write to its folder"
                            : "its folder does not exist",
                    "a file in a folder that this user may write to");
        }
    }

    /**
     * Removes the file that was written, if it still has the name. Idempotent.
     *
     * @throws IOException if it cannot be removed
     */
    @Override
    public void close() throws IOException {
        if (written != null) {
            try (CheckedFile last = written) {
                written = null;
                removeIfNamed(last);
            }
        }
    }
}

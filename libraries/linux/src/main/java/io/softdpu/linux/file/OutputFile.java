package io.softdpu.linux.file;

import io.softdpu.linux.Identity;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
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
 * <p>Files are removed and replaced by name: another process that puts a file in the name's place
 * between the last check and the removal or rename loses that file.
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
     * Writes a file in place of any regular one, with its permission bits, or a new one. A file
     * that belongs to another user, or cannot be renamed to, such as a mount point, is overwritten:
     * there a write that fails may leave a part.
     *
     * @param content native memory or an array's
     * @throws IOException see the class; but for these files what was there is as before
     */
    public static void replace(Path file, MemorySegment content) throws IOException {
        requireReplaceable(file);
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            try (Part part = Part.write(file, content, READABLE, null)) {
                part.moveTo(file).close();
            }
        } else if (ownerOf(file) != Identity.effectiveUid() || !tryReplace(file, content)) {
            try (CheckedFile existing = CheckedFile.openToWrite(file, FilePolicy.USER_OUTPUT)) {
                existing.replaceContent(content);
            }
        }
    }

    private static int ownerOf(Path file) throws IOException {
        return (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    /** Whether the name could be given to a new file, with the permission bits of the one there. */
    private static boolean tryReplace(Path file, MemorySegment content) throws IOException {
        Set<PosixFilePermission> kept =
                Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
        try (Part part = Part.write(file, content, PRIVATE, kept)) {
            try {
                part.moveTo(file).close();
                return true;
            } catch (FileSystemException e) {
                return false; // EBUSY, of a mount point
            }
        }
    }

    /**
     * Removes what has the name, if it may be replaced: of an earlier run, which a peer would take
     * for this one's.
     *
     * @throws FileRefusedException if it may not, naming the file, what it is, and what is expected
     * @throws IOException see the class
     */
    public void removeReplaceable() throws IOException {
        try (CheckedFile existing = openReplaceable()) {
            if (existing != null) {
                removeIfNamed(existing);
            }
        }
    }

    /**
     * Writes the content, which only this user may read, in place of what may be replaced.
     *
     * @param content native memory or an array's
     * @throws IOException as {@link #removeReplaceable}
     */
    public void write(MemorySegment content) throws IOException {
        requireReplaceableHere();
        try (Part part = Part.write(file, content, PRIVATE, null)) {
            requireReplaceableHere();
            CheckedFile before = written;
            written = part.moveTo(file);
            if (before != null) {
                before.close();
            }
        }
    }

    private void requireReplaceableHere() throws IOException {
        CheckedFile existing = openReplaceable();
        if (existing != null) {
            existing.close();
        }
    }

    /** The existing file of that name, if it may be replaced; null if there is none. */
    private @Nullable CheckedFile openReplaceable() throws IOException {
        requireFolder(file);
        CheckedFile existing;
        try (CheckedFile _ = CheckedFile.openPlace(file, FilePolicy.USER_OUTPUT)) {
            existing = CheckedFile.open(file, FilePolicy.USER_OUTPUT);
        } catch (NoSuchFileException e) {
            return null; // a new name
        }
        boolean replaceable = false;
        try {
            if (written == null || !written.isSameFile(existing)) {
                requireKind(existing);
            }
            replaceable = true;
            return existing;
        } finally {
            if (!replaceable) {
                existing.close();
            }
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

    /** New content under a name of its own, until it is moved to the one that it is meant for. */
    private static final class Part implements AutoCloseable {
        private final Path path;
        private final CheckedFile content;
        private boolean moved;

        private Part(Path path, CheckedFile content) {
            this.path = path;
            this.content = content;
        }

        /**
         * Writes it.
         *
         * @param file what it is meant for
         * @param mode permission bits, less the umask
         * @param permissions those to be set before there is content; null for none
         */
        static Part write(
                Path file,
                MemorySegment content,
                int mode,
                @Nullable Set<PosixFilePermission> permissions)
                throws IOException {
            Path path = file.resolveSibling(".softdpu-" + UUID.randomUUID() + ".part");
            Part part = new Part(path, CheckedFile.create(path, file, mode));
            boolean written = false;
            try {
                if (permissions != null) {
                    Files.setPosixFilePermissions(path, permissions);
                }
                part.content.replaceContent(content);
                written = true;
                return part;
            } finally {
                if (!written) {
                    part.close();
                }
            }
        }

        /** Gives it the name, and answers with the open file. */
        CheckedFile moveTo(Path file) throws IOException {
            Files.move(path, file, StandardCopyOption.ATOMIC_MOVE);
            moved = true;
            return content;
        }

        /** Removes it unless it was moved. */
        @Override
        public void close() throws IOException {
            if (!moved) {
                content.close();
                Files.deleteIfExists(path);
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

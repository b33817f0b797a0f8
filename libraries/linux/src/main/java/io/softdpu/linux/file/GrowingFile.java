package io.softdpu.linux.file;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * File that a user names for what a program writes piece by piece while it runs, such as a trace. A
 * regular file of that name is emptied at the begin; a symbolic link is not followed. The file has
 * whole pieces, also where one could not be written, and of one writer at a time: it is locked
 * until it is closed.
 *
 * <p>Belongs to one thread at a time. The methods throw as {@link CheckedFile}.
 */
public final class GrowingFile implements AutoCloseable {
    /** Permission bits, less the umask. */
    private static final int READABLE = 0666;

    private final CheckedFile file;
    private long lengthBytes;
    private boolean closed;

    private GrowingFile(CheckedFile file) {
        this.file = file;
    }

    /**
     * Creates a file, or empties the one that has the name.
     *
     * @throws FileRefusedException if that is no regular file, another object of this class writes
     *     it, in this process or another one, or the folder is none for it; naming the file, what
     *     it is, and what is expected
     * @throws IOException see the class
     */
    public static GrowingFile create(Path file) throws IOException {
        OutputFile.requireReplaceable(file);
        CheckedFile opened =
                Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                        ? CheckedFile.openToWrite(file, FilePolicy.USER_OUTPUT)
                        : CheckedFile.create(file, file, READABLE);
        boolean emptied = false;
        try {
            // A new one may be locked already, by a process that has found it before.
            if (!opened.tryLock()) {
                throw new FileRefusedException(
                        file, "a program is writing it", "a file of its own for each program");
            }
            opened.truncate(0);
            emptied = true;
            return new GrowingFile(opened);
        } finally {
            if (!emptied) {
                opened.close();
            }
        }
    }

    /**
     * Appends a piece.
     *
     * @param piece native memory
     * @throws IOException if it cannot be written, as on a full disk, or was closed; then the file
     *     is as before
     */
    public void append(MemorySegment piece) throws IOException {
        if (closed) {
            throw new IOException("file is closed: lengthBytes=" + lengthBytes);
        }
        boolean whole = false;
        try {
            file.write(piece, lengthBytes);
            lengthBytes += piece.byteSize();
            whole = true;
        } finally {
            if (!whole) {
                file.truncate(lengthBytes);
            }
        }
    }

    /** Closes the file. Idempotent. */
    @Override
    public void close() {
        closed = true;
        file.close();
    }
}

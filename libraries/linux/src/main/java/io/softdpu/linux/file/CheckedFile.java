package io.softdpu.linux.file;

import io.softdpu.linux.BlockDevices;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.FileStatus;
import io.softdpu.linux.Identity;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.text.GivenText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Open file that was found to meet a {@link FilePolicy}: it was opened without waiting for a peer
 * or a device, and then its descriptor was examined, not its name. So it does not matter what
 * another process puts in the name's place meanwhile.
 *
 * <p>The methods that take a {@link Path} throw what {@link java.nio.file.Files} would: {@link
 * NoSuchFileException}, {@link AccessDeniedException}, and {@link FileRefusedException} for what
 * the policy does not allow.
 */
public final class CheckedFile implements AutoCloseable {
    /** On every open: neither wait for the other end of a pipe nor acquire a terminal. */
    private static final int NON_BLOCKING = FileDescriptors.O_NONBLOCK | FileDescriptors.O_NOCTTY;

    private static final int MIN_BUFFER_BYTES = 4 << 10;
    private static final int BUFFER_BYTES = 256 << 10;
    private static final int MAX_ARRAY_BYTES = Integer.MAX_VALUE - 8;

    private final Path file;
    private final FilePolicy policy;
    private final int descriptor;
    private final long sizeBytes;
    private boolean closed;

    private CheckedFile(Path file, FilePolicy policy, int descriptor, long sizeBytes) {
        this.file = file;
        this.policy = policy;
        this.descriptor = descriptor;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Opens a file for reading.
     *
     * @throws IOException see the class
     */
    public static CheckedFile open(Path file, FilePolicy policy) throws IOException {
        return open(file, policy, FileDescriptors.O_RDONLY);
    }

    /**
     * Reads a whole file of at most as many bytes as the policy allows.
     *
     * @throws IOException see the class
     */
    public static byte[] readAll(Path file, FilePolicy policy) throws IOException {
        try (CheckedFile opened = open(file, policy)) {
            return opened.readAll();
        }
    }

    /**
     * Reads a whole file as UTF-8.
     *
     * @throws CharacterCodingException if it is not UTF-8: nothing is put in the place of bytes
     *     that cannot be decoded
     * @throws IOException see the class
     */
    public static String readText(Path file, FilePolicy policy) throws IOException {
        try (CheckedFile opened = open(file, policy)) {
            return opened.readText();
        }
    }

    /** Opens the place that a name has, whatever is there, so that nothing happens to a device. */
    static CheckedFile openPlace(Path file, FilePolicy policy) throws IOException {
        return open(file, policy, FileDescriptors.O_PATH);
    }

    /**
     * Opens a file for reading and writing.
     *
     * @throws IOException see the class
     */
    public static CheckedFile openToWrite(Path file, FilePolicy policy) throws IOException {
        return open(file, policy, FileDescriptors.O_RDWR);
    }

    /**
     * Opens a file of {@link FilePolicy#USER_VOLUME}. A block device is claimed: it can be neither
     * mounted nor claimed again before this is closed.
     *
     * @param writable whether it is opened for writing too, else for reading only
     * @throws IOException see the class; of a block device that is mounted or claimed, with EBUSY
     *     in its cause
     */
    public static CheckedFile openVolume(Path file, boolean writable) throws IOException {
        int access = writable ? FileDescriptors.O_RDWR : FileDescriptors.O_RDONLY;
        // Without O_CREAT, O_EXCL has an effect on block devices alone.
        CheckedFile opened = open(file, FilePolicy.USER_VOLUME, access | FileDescriptors.O_EXCL);
        boolean ready = false;
        try {
            FileDescriptors.setBlocking(opened.descriptor);
            ready = true;
            return opened;
        } finally {
            if (!ready) {
                opened.close();
            }
        }
    }

    /**
     * Creates a file, open for writing.
     *
     * @param shown what messages call it
     * @param mode permission bits, less the umask
     * @throws IOException see the class; also if there is a file of that name
     */
    static CheckedFile create(Path file, Path shown, int mode) throws IOException {
        int flags = FileDescriptors.O_WRONLY | FileDescriptors.O_CREAT | FileDescriptors.O_EXCL;
        return open(file, shown, FilePolicy.USER_OUTPUT, flags, mode);
    }

    /**
     * Opens a file relative to an open directory.
     *
     * @param directoryFd the directory
     * @param name of a file in it
     * @param file what messages call it
     * @param flags an access mode, and O_CREAT and O_EXCL as needed
     * @throws FileRefusedException if it does not meet the policy
     * @throws LinuxException if it cannot be opened for another reason
     */
    public static CheckedFile openAt(
            int directoryFd, String name, Path file, FilePolicy policy, int flags)
            throws FileRefusedException {
        int descriptor = openDescriptorAt(directoryFd, name, file, policy, flags);
        long sizeBytes;
        try {
            sizeBytes = FileDescriptors.status(descriptor).sizeBytes();
        } catch (RuntimeException e) {
            FileDescriptors.close(descriptor);
            throw e;
        }
        return new CheckedFile(file, policy, descriptor, sizeBytes);
    }

    /**
     * As {@link #openAt}, for a caller that needs the bare descriptor.
     *
     * @return the descriptor, the caller's to close
     */
    public static int openDescriptorAt(
            int directoryFd, String name, Path file, FilePolicy policy, int flags)
            throws FileRefusedException {
        int descriptor;
        try {
            descriptor = FileDescriptors.openAt(directoryFd, name, withPolicy(flags, policy), 0600);
        } catch (LinuxException e) {
            throw refusedOrSame(e, file, policy);
        }
        check(descriptor, file, policy);
        return descriptor;
    }

    private static CheckedFile open(Path file, FilePolicy policy, int flags) throws IOException {
        return open(file, file, policy, flags, 0); // creates none
    }

    private static CheckedFile open(Path file, Path shown, FilePolicy policy, int flags, int mode)
            throws IOException {
        if (!file.getFileSystem().equals(FileSystems.getDefault())) {
            throw new FileRefusedException(
                    file, "it is not on a file system of the kernel", "a path of this machine");
        }
        // Paths of Java take an empty name for the working directory; the kernel does not.
        String name = file.toString().isEmpty() ? "." : file.toString();
        // The kernel gets UTF-8: another name than that of a path with bytes that are none.
        if (!GivenText.isWhatWasGiven(name)) {
            throw new FileRefusedException(
                    shown,
                    "its name cannot be represented",
                    "a name in UTF-8, and a locale with it");
        }
        int descriptor;
        try {
            descriptor = FileDescriptors.open(name, withPolicy(flags, policy), mode);
        } catch (LinuxException e) {
            throw asIoException(refusedOrSame(e, shown, policy), shown);
        }
        FileStatus status = check(descriptor, shown, policy);
        return new CheckedFile(shown, policy, descriptor, sizeBytes(descriptor, status));
    }

    private static long sizeBytes(int descriptor, FileStatus status) {
        if (!status.isBlockDevice()) {
            return status.sizeBytes();
        }
        boolean known = false;
        try {
            long sizeBytes = BlockDevices.sizeBytes(descriptor);
            known = true;
            return sizeBytes;
        } finally {
            if (!known) {
                FileDescriptors.close(descriptor);
            }
        }
    }

    private static int withPolicy(int flags, FilePolicy policy) {
        return flags | NON_BLOCKING | (policy.followsLinks() ? 0 : FileDescriptors.O_NOFOLLOW);
    }

    /** Examines an opened file; closes it if it is refused. */
    private static FileStatus check(int descriptor, Path file, FilePolicy policy)
            throws FileRefusedException {
        boolean accepted = false;
        try {
            FileStatus status = FileDescriptors.status(descriptor);
            boolean allowed =
                    status.isRegularFile()
                            || (policy.allowsBlockDevices() && status.isBlockDevice());
            if (!allowed) {
                throw new FileRefusedException(
                        file, "it is a " + status.typeName(), policy.types());
            }
            int uid = Identity.effectiveUid();
            if (policy.ownFileOnly() && status.uid() != uid) {
                throw new FileRefusedException(
                        file,
                        "it belongs to uid " + Integer.toUnsignedString(status.uid()),
                        "a file of uid " + Integer.toUnsignedString(uid));
            }
            if (status.sizeBytes() > policy.maxBytes()) {
                throw tooLarge(file, policy, status.sizeBytes() + " bytes");
            }
            accepted = true;
            return status;
        } finally {
            if (!accepted) {
                FileDescriptors.close(descriptor);
            }
        }
    }

    private static FileRefusedException tooLarge(Path file, FilePolicy policy, String actual) {
        return new FileRefusedException(
                file,
                "it is too large (" + actual + ")",
                "at most " + policy.maxBytes() + " bytes");
    }

    /** Refuses a file that its type kept from being opened; else throws the same again. */
    private static LinuxException refusedOrSame(LinuxException e, Path file, FilePolicy policy)
            throws FileRefusedException {
        String reason =
                switch (e.errno()) {
                    case Errno.EISDIR -> "it is a directory";
                    case Errno.ELOOP -> policy.followsLinks() ? "" : "it is a symbolic link";
                    case Errno.ENXIO -> "it is a socket, or a pipe or device without a peer";
                    default -> "";
                };
        if (!reason.isEmpty()) {
            throw new FileRefusedException(file, reason, policy.types());
        }
        return e;
    }

    private static IOException asIoException(LinuxException e, Path file) {
        String name = file.toString();
        FileSystemException found =
                switch (e.errno()) {
                    case Errno.ENOENT -> new NoSuchFileException(name);
                    case Errno.EACCES, Errno.EPERM -> new AccessDeniedException(name);
                    case Errno.EBUSY ->
                            new FileSystemException(
                                    name, null, "the system or another process uses it");
                    case Errno.EAGAIN ->
                            new FileSystemException(
                                    name, null, "another process holds a lease on it");
                    default ->
                            new FileSystemException(
                                    name, null, e.call() + " failed: " + Errno.name(e.errno()));
                };
        found.initCause(e);
        return found;
    }

    /**
     * Tells the size that the file had when it was opened.
     *
     * @return bytes
     */
    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * Tells the descriptor, for locks.
     *
     * @return the descriptor, which stays this object's
     */
    public int descriptor() {
        return descriptor;
    }

    /**
     * Locks the file exclusively, as {@link FileDescriptors#tryLockExclusive}.
     *
     * @throws IOException if its file system has no locks
     */
    boolean tryLock() throws IOException {
        try {
            return FileDescriptors.tryLockExclusive(descriptor);
        } catch (LinuxException e) {
            throw asIoException(e, file);
        }
    }

    /** Whether another name, or a name at another time, has led to the same file. */
    boolean isSameFile(CheckedFile other) {
        return FileDescriptors.status(descriptor)
                .isSameFile(FileDescriptors.status(other.descriptor));
    }

    /**
     * Reads the whole file.
     *
     * @throws FileRefusedException if it has grown beyond what the policy allows
     * @throws IOException if it cannot be read
     */
    public byte[] readAll() throws IOException {
        long limit = Math.min(policy.maxBytes(), MAX_ARRAY_BYTES);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (Arena arena = Arena.ofConfined()) {
            int size = Math.clamp(sizeBytes, MIN_BUFFER_BYTES, BUFFER_BYTES);
            MemorySegment buffer = arena.allocate(size);
            byte[] piece = new byte[size];
            while (true) {
                long wanted = Math.min(size, limit - all.size() + 1);
                int count = (int) readOnce(buffer.asSlice(0, wanted), all.size());
                if (count == 0) {
                    return all.toByteArray();
                }
                if (count > limit - all.size()) {
                    throw tooLarge(file, policy, "more than " + limit + " bytes");
                }
                MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, 0, piece, 0, count);
                all.write(piece, 0, count);
            }
        }
    }

    /**
     * Reads the whole file as UTF-8.
     *
     * @throws CharacterCodingException if it is not UTF-8
     * @throws FileRefusedException if it has grown beyond what the policy allows
     * @throws IOException if it cannot be read
     */
    public String readText() throws IOException {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(readAll())).toString();
    }

    /**
     * Reads a piece of the file.
     *
     * @param into native memory or an array's; all of it is filled where the file is long enough
     * @param offsetBytes where in the file
     * @return number of bytes read; less than requested only at the file's end
     * @throws IOException if it cannot be read
     */
    public long read(MemorySegment into, long offsetBytes) throws IOException {
        if (into.isNative()) {
            return readFully(into, offsetBytes);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Math.min(BUFFER_BYTES, into.byteSize()));
            long done = 0;
            while (done < into.byteSize()) {
                long wanted = Math.min(buffer.byteSize(), into.byteSize() - done);
                long count = readFully(buffer.asSlice(0, wanted), offsetBytes + done);
                MemorySegment.copy(buffer, 0, into, done, count);
                done += count;
                if (count < wanted) {
                    break;
                }
            }
            return done;
        }
    }

    private long readFully(MemorySegment into, long offsetBytes) throws IOException {
        long done = 0;
        while (done < into.byteSize()) {
            long count = readOnce(into.asSlice(done), offsetBytes + done);
            if (count == 0) {
                break;
            }
            done += count;
        }
        return done;
    }

    private long readOnce(MemorySegment into, long offsetBytes) throws IOException {
        try {
            return FileIo.read(descriptor, into, offsetBytes);
        } catch (LinuxException e) {
            throw asIoException(e, file);
        }
    }

    /**
     * Puts another content in place of the file's.
     *
     * @param content native memory or an array's
     * @throws IOException if it cannot be written; then the file holds a part
     */
    public void replaceContent(MemorySegment content) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            FileDescriptors.truncate(descriptor, 0);
            MemorySegment buffer =
                    content.isNative()
                            ? MemorySegment.NULL
                            : arena.allocate(Math.min(BUFFER_BYTES, content.byteSize()));
            long done = 0;
            while (done < content.byteSize()) {
                MemorySegment piece = content.asSlice(done);
                if (!content.isNative()) {
                    long size = Math.min(buffer.byteSize(), piece.byteSize());
                    piece = buffer.asSlice(0, size).copyFrom(piece.asSlice(0, size));
                }
                done += FileIo.write(descriptor, piece, done);
            }
        } catch (LinuxException e) {
            throw asIoException(e, file);
        }
    }

    /**
     * Writes a piece of the file.
     *
     * @param from native memory
     * @param offsetBytes where in the file
     * @throws IOException if it cannot be written; then the file holds a part of the piece
     */
    void write(MemorySegment from, long offsetBytes) throws IOException {
        try {
            long done = 0;
            while (done < from.byteSize()) {
                done += FileIo.write(descriptor, from.asSlice(done), offsetBytes + done);
            }
        } catch (LinuxException e) {
            throw asIoException(e, file);
        }
    }

    /** Removes what is behind a place in the file. */
    void truncate(long lengthBytes) throws IOException {
        try {
            FileDescriptors.truncate(descriptor, lengthBytes);
        } catch (LinuxException e) {
            throw asIoException(e, file);
        }
    }

    /** Closes the file. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            FileDescriptors.close(descriptor);
        }
    }
}

package io.softdpu.fabric.folder;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileStatus;
import io.softdpu.linux.Identity;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.UnixSocket;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * Directory that the processes of one fabric share: {@code topology} with the hash that they agreed
 * on, {@code hotplug} with the topology after functions were plugged in, and for each served name a
 * socket and a lock, named by 16 hex digits of the name's SHA-256. Sockets are opened through
 * {@code /proc/self/fd/N/}, since a socket address holds 108 bytes only.
 *
 * <p>Any thread.
 */
public final class FabricFolder implements AutoCloseable {
    private static final String EXPECTED_PATH =
            ", expected=a folder, or a path where this user can create one";

    /**
     * Time limit for the lock of the folder when joining: its holder removes the same files, and a
     * command may open several machines.
     */
    private static final long SWEEP_NANOS = 300_000_000;

    private final Path path;
    private final int directory;
    private final CheckedFile topology;
    private final RegionAddress.Id id;
    private final SharedTextFile hotplug;
    private final NameLocks locks;

    private FabricFolder(Path path, int directory, CheckedFile topology) {
        this.path = path;
        this.directory = directory;
        this.topology = topology;
        FileStatus status = FileDescriptors.status(directory);
        this.id = new RegionAddress.Id(status.device(), status.inode());
        this.hotplug = new SharedTextFile(path, directory, FolderEntries.HOTPLUG_FILE);
        this.locks = new NameLocks(path, directory);
    }

    /**
     * Joins a folder: creates it if it is missing, refuses it if other users could write to it or
     * if it holds anything but files of the fabric ({@code lost+found} and {@code .nfs*} of the
     * file system aside), and agrees on the topology with the processes that are in it.
     *
     * @param folder may be a symbolic link if the user named it; the default may not, since another
     *     user may have created it before
     * @param timeoutNanos time limit for the locks of its files together
     * @throws FabricException TIMED_OUT if another process keeps the topology locked
     */
    public static FabricFolder join(
            FabricPath folder, byte[] topologyHash, String topologyName, long timeoutNanos) {
        Path path = folder.path();
        long deadlineNanos = FolderWait.deadlineIn(timeoutNanos);
        int directory = -1;
        CheckedFile topology = null;
        try {
            if (!folder.isChosen()) {
                requireNoLink(path);
            }
            create(path);
            directory =
                    FileDescriptors.open(
                            path.toString(),
                            FileDescriptors.O_RDONLY
                                    | FileDescriptors.O_DIRECTORY
                                    | (folder.isChosen() ? 0 : FileDescriptors.O_NOFOLLOW),
                            0);
            requirePrivate(path, FileDescriptors.status(directory));
            requireOwnFilesOnly(path, directory);
            topology = agreeOnTopology(path, directory, topologyHash, topologyName, deadlineNanos);
            FabricFolder joined = new FabricFolder(path, directory, topology);
            joined.locks.sweep(FolderWait.earlier(deadlineNanos, SWEEP_NANOS));
            return joined;
        } catch (RuntimeException e) {
            if (topology != null) {
                topology.close();
            }
            if (directory >= 0) {
                FileDescriptors.close(directory);
            }
            if (e instanceof LinuxException
                    || e instanceof UncheckedIOException
                    || e instanceof DirectoryIteratorException) {
                throw new FabricException(
                        FabricException.Kind.SYSTEM,
                        "fabric folder not usable: path="
                                + path
                                + ", reason="
                                + reason(e)
                                + expectation(path),
                        e);
            }
            throw e;
        }
    }

    public Path path() {
        return path;
    }

    public RegionAddress.Id id() {
        return id;
    }

    /** The shared text on functions that were plugged in since the first process joined. */
    public SharedTextFile hotplug() {
        return hotplug;
    }

    /**
     * Connects a socket to the socket of a served name. The file is opened with O_PATH and
     * O_NOFOLLOW and examined before the connect: a path that the kernel resolves itself could lead
     * into a file system that a peer serves, and that peer could block the caller without limit.
     *
     * @return as {@link UnixSocket#connect}
     * @throws FabricException NOT_PERMITTED if the file is no socket, or another user's
     * @throws LinuxException if a system call fails
     */
    public int connect(int socket, String name) {
        int place;
        try {
            place =
                    FileDescriptors.openAt(
                            directory,
                            hash(name) + NameLocks.SOCKET_SUFFIX,
                            FileDescriptors.O_PATH | FileDescriptors.O_NOFOLLOW,
                            0);
        } catch (LinuxException e) {
            if (e.errno() == Errno.ENOENT) {
                return Errno.ENOENT;
            }
            throw e;
        }
        try {
            requireOwnSocket(name, FileDescriptors.status(place));
            return UnixSocket.connect(socket, "/proc/self/fd/" + place);
        } finally {
            FileDescriptors.close(place);
        }
    }

    private void requireOwnSocket(String name, FileStatus status) {
        int uid = Identity.effectiveUid();
        if (!status.isSocket() || status.uid() != uid) {
            throw new FabricException(
                    FabricException.Kind.NOT_PERMITTED,
                    "file of a served name is not a socket of this user: name="
                            + name
                            + ", type="
                            + status.typeName()
                            + ", uid="
                            + status.uid()
                            + ", expected=socket of uid "
                            + uid
                            + ", remove file="
                            + path.resolve(hash(name) + NameLocks.SOCKET_SUFFIX));
        }
    }

    /** The address of a name's socket, for bind. */
    public String socketAddress(String name) {
        return "/proc/self/fd/" + directory + "/" + hash(name) + NameLocks.SOCKET_SUFFIX;
    }

    /**
     * Locks a name and removes the socket that a dead process has left. Waits a second at most for
     * a process that examines the name, and not inside progress or on a bus thread.
     *
     * @return the descriptor that holds the lock while it is open, or -1 if a living process has it
     * @throws FabricException TIMED_OUT if another process examines the name all the time
     */
    public int claim(String name) {
        return locks.claim(hash(name), name);
    }

    /**
     * The process that serves a name, for messages: its lock tells, so that it need not answer.
     *
     * @return 0 if no process serves it, or the kernel does not name it, as that of another
     *     container
     */
    public long server(String name) {
        return LockHolder.pidOf(path.resolve(hash(name) + NameLocks.LOCK_SUFFIX));
    }

    /**
     * Names with a prefix that processes serve now, for messages.
     *
     * @return a few at most, in the order of the alphabet
     */
    public List<String> servedNames(String prefix) {
        return locks.servedNames(prefix);
    }

    /** Releases a name: deletes socket and lock file, then unlocks it. */
    public void release(String name, int lock) {
        locks.release(hash(name), lock);
    }

    @Override
    public void close() {
        topology.close();
        FileDescriptors.close(directory);
    }

    public static String hash(String name) {
        byte[] digest = sha256(name.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest, 0, 8);
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static void create(Path path) {
        try {
            if (!Files.isDirectory(path)) {
                Path parent = path.toAbsolutePath().getParent();
                if (parent != null) {
                    Files.createDirectories(parent);
                }
                Files.createDirectory(
                        path,
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rwx------")));
            }
        } catch (java.nio.file.FileAlreadyExistsException e) {
            // Another process created it in between; if it is no directory, open fails.
            return;
        } catch (IOException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "fabric folder cannot be created: path="
                            + path
                            + ", reason="
                            + Reason.naming(e)
                            + EXPECTED_PATH,
                    e);
        }
    }

    /** The failure; of a system call without its object, which is the folder or a file in it. */
    private static String reason(RuntimeException failure) {
        return failure instanceof LinuxException e
                ? e.call() + ": " + Errno.name(e.errno())
                : Reason.of(failure);
    }

    /** Empty if the path is a folder: then the cause is another one, which the error names. */
    private static String expectation(Path path) {
        return Files.isDirectory(path) ? "" : EXPECTED_PATH;
    }

    private static void requireNoLink(Path path) {
        if (Files.isSymbolicLink(path)) {
            throw new FabricException(
                    FabricException.Kind.NOT_PERMITTED,
                    "fabric folder is a symbolic link: path="
                            + path
                            + ", expected=a folder, or SOFTDPU_FABRIC to name another");
        }
    }

    static void requirePrivate(Path path, FileStatus status) {
        int uid = Identity.effectiveUid();
        if (status.uid() != uid || (status.permissions() & 022) != 0) {
            throw new FabricException(
                    FabricException.Kind.NOT_PERMITTED,
                    "fabric folder is not private: path="
                            + path
                            + ", owner="
                            + status.uid()
                            + ", mode=0"
                            + Integer.toOctalString(status.permissions())
                            + ", expected=owner "
                            + uid
                            + " and no write permission for others");
        }
    }

    /** Nothing is created in a folder that has another purpose: {@code SOFTDPU_FABRIC=/etc}. */
    static void requireOwnFilesOnly(Path path, int directory) {
        FolderEntries.firstForeign(Path.of("/proc/self/fd/" + directory))
                .ifPresent(name -> {
                    throw new FabricException(
                            FabricException.Kind.NOT_PERMITTED,
                            "fabric folder holds a file that is not the fabric's: path="
                                    + path
                                    + ", file="
                                    + ForeignText.escapeAndCut(name)
                                    + ", expected=a folder for the fabric alone; set SOFTDPU_FABRIC"
                                    + " to a new one");
                });
    }

    /**
     * The hash is valid while any process holds a shared lock on the file, and so is the hotplug
     * text. A process that finds it unlocked writes its own hash; one that finds it locked must
     * have the same.
     */
    private static CheckedFile agreeOnTopology(
            Path path, int directory, byte[] hash, String name, long deadlineNanos) {
        String hex = HexFormat.of().formatHex(hash) + " ";
        String mine = hex + name + "\n";
        Path shown = path.resolve(FolderEntries.TOPOLOGY_FILE);
        CheckedFile file;
        try {
            file =
                    CheckedFile.openAt(
                            directory,
                            FolderEntries.TOPOLOGY_FILE,
                            shown,
                            FilePolicy.SHARED_FOLDER,
                            FileDescriptors.O_RDWR | FileDescriptors.O_CREAT);
        } catch (FileRefusedException e) {
            throw unusable(e);
        }
        boolean agreed = false;
        try {
            if (FileDescriptors.tryLockExclusive(file.descriptor())) {
                file.replaceContent(MemorySegment.ofArray(mine.getBytes(StandardCharsets.UTF_8)));
                SharedTextFile.forget(path, FolderEntries.HOTPLUG_FILE);
            }
            // Turning an exclusive lock into a shared one is not atomic: another process may write
            // in between, so the file is read again under the shared lock, by every process.
            FolderWait wait = FolderWait.until(deadlineNanos);
            if (!wait.attempt(() -> FileDescriptors.tryLockShared(file.descriptor()))) {
                throw wait.failure("topology of the fabric stays locked", shown);
            }
            String there = file.readText();
            if (!there.startsWith(hex)) { // the name behind it is for people
                throw new FabricException(
                        FabricException.Kind.CONFLICT,
                        "fabric is in use with another topology: folder="
                                + path
                                + ", theirs="
                                + ForeignText.escapeAndCut(there.strip())
                                + ", ours="
                                + mine.strip());
            }
            agreed = true;
            return file;
        } catch (CharacterCodingException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "file of the fabric is not UTF-8: file=" + shown + ", expected=a topology",
                    e);
        } catch (FileRefusedException e) {
            throw unusable(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            if (!agreed) {
                file.close();
            }
        }
    }

    /** The failure for a file of an unexpected kind, which is left unchanged. */
    static FabricException unusable(FileRefusedException refused) {
        return new FabricException(
                FabricException.Kind.SYSTEM,
                "fabric folder holds a file that is not the fabric's: file="
                        + refused.getFile()
                        + ", reason="
                        + refused.reason()
                        + ", expected="
                        + refused.expected()
                        + "; remove it",
                refused);
    }
}

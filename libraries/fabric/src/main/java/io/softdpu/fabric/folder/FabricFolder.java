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
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The folder in which the processes of one fabric meet: {@code topology} with the hash they agreed
 * on, {@code hotplug} with what has been plugged in since, and for each served name a socket and a
 * lock, named by 16 hex digits of the name's SHA-256. Sockets are opened through {@code
 * /proc/self/fd/N/}, since a socket address holds 108 bytes only.
 *
 * <p>Any thread.
 */
public final class FabricFolder implements AutoCloseable {
    private static final String TOPOLOGY_FILE = "topology";
    private static final String HOTPLUG_FILE = "hotplug";

    private final Path path;
    private final int directory;
    private final CheckedFile topology;
    private final RegionAddress.Id id;
    private final SharedNote hotplug;
    private final NameLocks locks;

    private FabricFolder(Path path, int directory, CheckedFile topology) {
        this.path = path;
        this.directory = directory;
        this.topology = topology;
        FileStatus status = FileDescriptors.status(directory);
        this.id = new RegionAddress.Id(status.device(), status.inode());
        this.hotplug = new SharedNote(path, directory, HOTPLUG_FILE);
        this.locks = new NameLocks(path, directory);
    }

    /**
     * {@code SOFTDPU_FABRIC}, else {@code $XDG_RUNTIME_DIR/softdpu}, else {@code /tmp/softdpu-UID}.
     */
    static Path defaultPath() {
        String explicit = System.getenv("SOFTDPU_FABRIC");
        if (explicit != null && !explicit.isEmpty()) {
            return Path.of(explicit);
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        if (runtime != null && !runtime.isEmpty() && Files.isDirectory(Path.of(runtime))) {
            return Path.of(runtime, "softdpu");
        }
        return Path.of("/tmp/softdpu-" + Identity.effectiveUid());
    }

    /**
     * Joins a folder: makes it if it is missing, refuses it if others could write there, and agrees
     * on the topology with whoever is in it.
     *
     * @param chosen whether the user named the folder, and so may have meant a link; nobody has
     *     said that of the default, which others may have made before
     */
    public static FabricFolder join(
            Path path,
            boolean chosen,
            byte[] topologyHash,
            String topologyName,
            long timeoutNanos) {
        int directory = -1;
        CheckedFile topology = null;
        try {
            if (!chosen) {
                requireNoLink(path);
            }
            create(path);
            directory =
                    FileDescriptors.open(
                            path.toString(),
                            FileDescriptors.O_RDONLY
                                    | FileDescriptors.O_DIRECTORY
                                    | (chosen ? 0 : FileDescriptors.O_NOFOLLOW),
                            0);
            requirePrivate(path, FileDescriptors.status(directory));
            topology = agreeOnTopology(path, directory, topologyHash, topologyName, timeoutNanos);
            FabricFolder joined = new FabricFolder(path, directory, topology);
            joined.locks.sweep();
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
                        "fabric folder not usable: path=" + path + ", " + e.getMessage(),
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

    /** What has been plugged in since the first of the processes that are in the folder came. */
    public SharedNote hotplug() {
        return hotplug;
    }

    /**
     * Connects a socket to the one that serves a name. The file is opened as a place only, links
     * not followed, and examined before it is connected to: a path that the kernel resolves by
     * itself could lead into a file system that a peer serves, and the caller would wait there for
     * as long as that peer likes.
     *
     * @return as {@link UnixSocket#connect}
     * @throws FabricException NOT_PERMITTED if the file is no socket, or another user's
     * @throws LinuxException for what the system refuses
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
     * Takes the lock of a name and removes a socket that a dead process left behind.
     *
     * @return the descriptor that holds the lock while it is open, or -1 if a living process has it
     */
    public int claim(String name) {
        return locks.claim(hash(name));
    }

    /** Gives a name back: socket and lock file go, then the lock. */
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
            // Another process made it in between; or it is no folder, which open says.
            return;
        } catch (IOException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "fabric folder cannot be made: path=" + path + ", cause=" + e,
                    e);
        }
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

    private static void requirePrivate(Path path, FileStatus status) {
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
                            + ", expected owner="
                            + uid
                            + " and no write permission for others");
        }
    }

    /**
     * The hash counts while any process holds a shared lock on the file, and so does what was
     * plugged in. Who finds it unlocked writes his own; who finds it locked must have the same.
     */
    private static CheckedFile agreeOnTopology(
            Path path, int directory, byte[] hash, String name, long timeoutNanos) {
        String hex = HexFormat.of().formatHex(hash) + " ";
        String mine = hex + name + "\n";
        Path shown = path.resolve(TOPOLOGY_FILE);
        CheckedFile file;
        try {
            file =
                    CheckedFile.openAt(
                            directory,
                            TOPOLOGY_FILE,
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
                SharedNote.forget(path, HOTPLUG_FILE);
            }
            // Turning an exclusive lock into a shared one is not atomic: another process may write
            // in between, so the file is read again under the shared lock, by everybody.
            if (!within(timeoutNanos, () -> FileDescriptors.tryLockShared(file.descriptor()))) {
                throw new FabricException(
                        FabricException.Kind.TIMED_OUT,
                        "topology of the fabric stays locked: file=" + shown);
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

    /** A file that another process made of something else; nothing is done to it. */
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

    /**
     * Who writes a file of the folder holds its lock for microseconds only, so yielding will do.
     */
    @SuppressWarnings("ThreadPriorityCheck") // a wait of microseconds that nothing announces
    static boolean within(long timeoutNanos, BooleanSupplier attempt) {
        long start = System.nanoTime();
        while (!attempt.getAsBoolean()) {
            if (System.nanoTime() - start > timeoutNanos) {
                return false;
            }
            Thread.yield();
        }
        return true;
    }

    /** Whether the folder of a configuration was named by the user. */
    public static boolean isChosen(@Nullable Path configured) {
        String explicit = System.getenv("SOFTDPU_FABRIC");
        return configured != null || (explicit != null && !explicit.isEmpty());
    }

    /** The folder of a configuration. */
    public static Path resolve(@Nullable Path configured) {
        return configured != null ? configured : defaultPath();
    }
}

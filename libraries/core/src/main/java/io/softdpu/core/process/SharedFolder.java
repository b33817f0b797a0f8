package io.softdpu.core.process;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Identity;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A folder that a process makes for itself and its children, and removes at its end. It has the
 * fabric folder of these processes, or several. No other user has access.
 *
 * <p>The process that made it holds an exclusive lock on a file in it. The kernel releases this
 * lock at the end of the process, by whatever it ends; then the folder is removed by the last child
 * that {@linkplain ParentWatch notices}, or by the next process that makes such a folder. Any
 * thread.
 */
public final class SharedFolder implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(SharedFolder.class.getName());
    private static final String LOCK_FILE = "in-use";
    private static final String FABRIC = "fabric";

    /** Name of a further fabric folder, behind {@link #FABRIC} and a dash. */
    private static final Pattern FURTHER = Pattern.compile("[a-z0-9-]{1,64}");

    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /** Limit of attempts; one fails only where another process removes leftovers just then. */
    private static final int MAX_ATTEMPTS = 64;

    private final Path root;
    private final CheckedFile lock;
    private boolean closed;

    private SharedFolder(Path root, CheckedFile lock) {
        this.root = root;
        this.lock = lock;
    }

    /**
     * Makes a folder in the system's folder for temporary files, and removes those there that ended
     * processes of this user have left. One that cannot be removed is left and logged.
     *
     * @param prefix of its name, and of those that are removed
     * @throws DpuException INVALID_VALUE as {@link #temporaryFolder}; OPERATING_SYSTEM if it cannot
     *     be made; nothing is left then
     */
    public static SharedFolder create(String prefix) {
        return create(temporaryFolder(), prefix);
    }

    /**
     * The system's folder for temporary files, of the property java.io.tmpdir.
     *
     * @throws DpuException INVALID_VALUE if the path cannot be represented in the locale of this
     *     JVM
     */
    public static Path temporaryFolder() {
        return GivenText.path(
                "property=java.io.tmpdir",
                System.getProperty("java.io.tmpdir"),
                refusal -> new DpuException(Status.INVALID_VALUE, refusal));
    }

    /** Makes a folder as {@link #create(String)}, in the given one. */
    public static SharedFolder create(Path parent, String prefix) {
        removeLeftovers(parent, prefix);
        try {
            for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
                SharedFolder made = tryCreate(Files.createTempDirectory(parent, prefix, PRIVATE));
                if (made != null) {
                    return made;
                }
            }
        } catch (IOException | LinuxException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "shared folder cannot be created: parent="
                            + parent
                            + ", reason="
                            + Reason.of(e),
                    e);
        }
        throw new DpuException(
                Status.OPERATING_SYSTEM,
                "shared folder is removed while it is created: parent="
                        + parent
                        + ", attempts="
                        + MAX_ATTEMPTS);
    }

    /** Locks a new folder; null if another process has taken it for a leftover before. */
    private static @Nullable SharedFolder tryCreate(Path root) throws IOException {
        CheckedFile lock = null;
        SharedFolder made = null;
        try {
            Path file = lockFileOf(root);
            Files.createFile(file);
            lock = openLockFile(root);
            // Under the lock it is not removed; if it was before, no folder can be made in it.
            if (FileDescriptors.tryLockExclusive(lock.descriptor())) {
                Files.createDirectory(fabricOf(root), PRIVATE);
                made = new SharedFolder(root, lock);
            }
            return made;
        } catch (NoSuchFileException e) {
            return null;
        } finally {
            if (made == null) {
                FolderTree.remove(root, lockFileOf(root));
                if (lock != null) {
                    lock.close();
                }
            }
        }
    }

    /** Removes the folders of ended processes of this user below a folder. */
    static void removeLeftovers(Path parent, String prefix) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, prefix + "*")) {
            for (Path root : found) {
                removeIfLeft(root);
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(System.Logger.Level.DEBUG, "cannot look for old folders: in=" + parent, e);
        }
    }

    private static void removeIfLeft(Path root) {
        try {
            // The folder of another user could change during the walk, and lead elsewhere.
            if (Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)
                    && Files.getAttribute(root, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                            .equals(Identity.effectiveUid())) {
                removeUnlessLocked(root);
            }
        } catch (NoSuchFileException e) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "folder is being removed by another process: folder=" + name(root));
        } catch (IOException | LinuxException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "old folder cannot be removed: folder="
                            + name(root)
                            + ", reason="
                            + Reason.naming(e));
        }
    }

    private static void removeUnlessLocked(Path root) throws IOException {
        try (CheckedFile lock = openLockFile(root)) {
            if (FileDescriptors.tryLockExclusive(lock.descriptor())) {
                FolderTree.remove(root, lockFileOf(root));
            }
        } catch (NoSuchFileException e) {
            removeWithoutLock(root);
        }
    }

    /**
     * Removes a folder without a lock file. It may be empty: its process was killed before it had
     * made that, or is about to make it and then makes another folder. Or it has a fabric folder or
     * several alone, which children have made anew while they ended. With another file it is none
     * of these.
     */
    private static void removeWithoutLock(Path root) throws IOException {
        try (DirectoryStream<Path> content = Files.newDirectoryStream(root)) {
            for (Path each : content) {
                String name = each.getFileName().toString();
                if (!isFabric(name) || !Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                    LOG.log(
                            System.Logger.Level.DEBUG,
                            "folder has no lock file, and stays: folder=" + name(root));
                    return;
                }
            }
        }
        FolderTree.remove(root, lockFileOf(root));
    }

    private static boolean isFabric(String name) {
        String further = FABRIC + "-";
        return name.startsWith(further)
                ? FURTHER.matcher(name.substring(further.length())).matches()
                : name.equals(FABRIC);
    }

    /** For messages: another process has given it its name. */
    private static String name(Path found) {
        return ForeignText.escapeAndCut(found.toString());
    }

    /** The folder. */
    public Path root() {
        return root;
    }

    /** The fabric folder in it. */
    public Path fabric() {
        return fabricOf(root);
    }

    /**
     * A further fabric folder in it: processes that have this one reach those that have {@link
     * #fabric()} over the network alone. The first process that opens it makes it.
     *
     * @param name of 1 to 64 lower-case letters, digits and dashes
     * @throws DpuException INVALID_VALUE for another one
     */
    public Path fabric(String name) {
        return fabricOf(root, name);
    }

    /** As {@link #fabric(String)}, in the folder of another process. */
    public static Path fabricOf(Path root, String name) {
        if (!FURTHER.matcher(name).matches()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "name of a fabric folder is illegal: name="
                            + ForeignText.escapeAndCut(name)
                            + ", expected=1 to 64 lower-case letters, digits and dashes");
        }
        return root.resolve(FABRIC + "-" + name);
    }

    /**
     * The fabric folder in the folder of another process.
     *
     * @param root as {@link #root()} there
     */
    public static Path fabricOf(Path root) {
        return root.resolve(FABRIC);
    }

    /** The file that the owner of a folder has locked. */
    static Path lockFileOf(Path root) {
        return root.resolve(LOCK_FILE);
    }

    static CheckedFile openLockFile(Path root) throws IOException {
        // For writing too: an exclusive lock on NFS needs that.
        return CheckedFile.openToWrite(lockFileOf(root), FilePolicy.SHARED_FOLDER);
    }

    /**
     * Removes the folder with all that is in it, and ends children that still watch it. Idempotent.
     *
     * @throws DpuException OPERATING_SYSTEM if something stays
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (CheckedFile _ = lock) { // unlocked when the folder has gone
            FolderTree.remove(root, lockFileOf(root));
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "shared folder cannot be removed: folder="
                            + root
                            + ", reason="
                            + Reason.naming(e),
                    e);
        }
    }
}

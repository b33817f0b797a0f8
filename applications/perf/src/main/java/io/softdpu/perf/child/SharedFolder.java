package io.softdpu.perf.child;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.ForeignText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A folder that a parent and its child processes share, and that the last of them removes: a parent
 * that is killed cannot remove anything.
 *
 * <p>Each holds a shared lock on a file in the folder for as long as it runs; the kernel takes the
 * lock of one that is killed. A process that gets the lock exclusively is the last one, and removes
 * the folder: at its own end, or, if all were killed at once, when the next parent {@linkplain
 * #sweep sweeps}. Any thread.
 */
public final class SharedFolder implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(SharedFolder.class.getName());
    private static final String LOCK_FILE = "in-use";

    private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /** A folder is without its lock file for microseconds; later its creator has ended. */
    private static final Duration LONGEST_MAKING = Duration.ofMinutes(1);

    /**
     * Limit of walks to remove a folder. Each after the first removes files that were created
     * during the one before, and a process that ends creates a few.
     */
    private static final int MAX_WALKS = 64;

    /** Closing any descriptor of a file drops this process's locks on it: so never a second one. */
    private static final Set<Path> HELD_HERE = ConcurrentHashMap.newKeySet();

    private final Path root;
    private final FileChannel lockFile;
    private final FileLock lock;
    private boolean closed;

    private SharedFolder(Path root, FileChannel lockFile, FileLock lock) {
        this.root = root;
        this.lockFile = lockFile;
        this.lock = lock;
    }

    /**
     * Creates a folder to which only this user has access.
     *
     * @throws IOException naming the file; nothing is left then
     */
    public static SharedFolder create(Path parent, String prefix) throws IOException {
        Path root = Files.createTempDirectory(parent, prefix, PRIVATE);
        FileChannel channel = null;
        try {
            // Locked before it has its name: no process sees the file of a living owner unlocked.
            Path unnamed = root.resolve(LOCK_FILE + ".new");
            channel =
                    FileChannel.open(
                            unnamed,
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
            FileLock lock = channel.lock(0, Long.MAX_VALUE, true);
            HELD_HERE.add(root);
            Files.move(unnamed, root.resolve(LOCK_FILE));
            return new SharedFolder(root, channel, lock);
        } catch (IOException e) {
            HELD_HERE.remove(root);
            if (channel != null) {
                channel.close();
            }
            removeTree(root);
            throw e;
        }
    }

    /**
     * Makes a folder in it, as private.
     *
     * @throws IOException naming the folder
     */
    public Path makeFolder(String name) throws IOException {
        return Files.createDirectory(root.resolve(name), PRIVATE);
    }

    /**
     * Joins the folder of a parent.
     *
     * @throws DpuException CONNECTION_ABORTED if the parent has ended and the folder has gone or is
     *     going; OPERATING_SYSTEM
     */
    public static SharedFolder join(Path root) {
        FileChannel channel = null;
        try {
            channel = openLockFile(root);
            FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true);
            // Under the lock it is not removed; it may have been removed before.
            if (lock != null && Files.exists(root.resolve(LOCK_FILE))) {
                HELD_HERE.add(root);
                return new SharedFolder(root, channel, lock);
            }
            channel.close();
            throw ended(root, null);
        } catch (NoSuchFileException e) {
            throw ended(root, e);
        } catch (IOException e) {
            closeQuietly(channel);
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "parent's folder cannot be joined: folder=" + root + ", reason=" + e,
                    e);
        }
    }

    /**
     * Removes the unused folders of this user below a parent folder. One that cannot be removed is
     * left and logged.
     */
    public static void sweep(Path parent, String prefix) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, prefix + "*")) {
            Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
            for (Path root : found) {
                sweepOne(root, user);
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            LOG.log(System.Logger.Level.DEBUG, "cannot look for old folders: in=" + parent, e);
        }
    }

    private static void sweepOne(Path root, Object user) {
        try {
            // The folder of another user could change during the walk, and lead elsewhere.
            if (HELD_HERE.contains(root)
                    || !Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)
                    || !Files.getAttribute(root, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                            .equals(user)) {
                return;
            }
            if (!Files.exists(root.resolve(LOCK_FILE), LinkOption.NOFOLLOW_LINKS)) {
                Instant made = Files.getLastModifiedTime(root).toInstant();
                if (made.plus(LONGEST_MAKING).isBefore(Instant.now())) {
                    removeTree(root);
                }
                return;
            }
            try (FileChannel channel = openLockFile(root)) {
                if (channel.tryLock() != null) {
                    removeTree(root);
                }
            }
        } catch (NoSuchFileException e) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "folder is being removed by another process: folder=" + name(root));
        } catch (IOException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "old folder cannot be removed: folder=" + name(root),
                    e);
        }
    }

    /** For messages: another process has given it its name. */
    private static String name(Path found) {
        return ForeignText.escapeAndCut(found.toString());
    }

    /** The folder. */
    public Path root() {
        return root;
    }

    /**
     * Leaves the folder, and removes it if no other process uses it. Idempotent.
     *
     * @throws DpuException OPERATING_SYSTEM if it cannot be removed
     */
    @Override
    public synchronized void close() {
        leave(false);
    }

    /**
     * Removes the folder even if it is in use: for the parent, whose children have ended.
     * Idempotent.
     *
     * @throws DpuException OPERATING_SYSTEM if something stays
     */
    public synchronized void remove() {
        leave(true);
    }

    private void leave(boolean removeAnyway) {
        if (closed) {
            return;
        }
        closed = true;
        try (FileChannel channel = lockFile) {
            // Under the lock no sweep removes it at the same time.
            if (removeAnyway || isLast(channel)) {
                removeTree(root);
            }
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "folder of the demo cannot be removed: folder=" + root + ", reason=" + e,
                    e);
        } finally {
            HELD_HERE.remove(root);
        }
    }

    /** Unlocks before it tries to lock: of two that leave at once the later one succeeds. */
    private boolean isLast(FileChannel channel) throws IOException {
        lock.release();
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false; // it has another user in this process
        }
    }

    private static FileChannel openLockFile(Path root) throws IOException {
        return CheckedFile.openChannel(root.resolve(LOCK_FILE), FilePolicy.SHARED_FOLDER);
    }

    private static void closeQuietly(@Nullable FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "lock file does not close", e);
        }
    }

    private static DpuException ended(Path root, @Nullable IOException cause) {
        return new DpuException(
                Status.CONNECTION_ABORTED,
                "parent process has ended: folder=" + root + ", expected=a folder in use",
                cause);
    }

    /**
     * Removes a folder, with files that a process creates in it meanwhile: one that is halted has
     * left the folder before all of its threads have stopped.
     */
    private static void removeTree(Path root) throws IOException {
        for (int walk = 1; ; walk++) {
            try {
                Files.walkFileTree(root, new Remover());
                return;
            } catch (DirectoryNotEmptyException e) {
                if (walk == MAX_WALKS) {
                    throw e;
                }
            }
        }
    }

    /** A process that is ending may remove a socket of its own meanwhile: that is no failure. */
    private static final class Remover extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw e;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException e)
                throws IOException {
            if (e != null) {
                throw e;
            }
            Files.deleteIfExists(folder);
            return FileVisitResult.CONTINUE;
        }
    }
}

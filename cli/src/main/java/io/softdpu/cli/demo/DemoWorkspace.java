package io.softdpu.cli.demo;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one demo: the fabric folder of its processes and the reports they leave. No other
 * user gets in, and it is gone when the demo is over. Any thread.
 */
final class DemoWorkspace implements AutoCloseable {
    private static final Set<PosixFilePermission> OWNER_ONLY =
            PosixFilePermissions.fromString("rwx------");

    private final Path root;
    private boolean closed;

    private DemoWorkspace(Path root) {
        this.root = root;
    }

    /**
     * Makes the folder below the system's folder for temporary files.
     *
     * @throws DpuException OPERATING_SYSTEM
     */
    static DemoWorkspace create() {
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        try {
            var ownerOnly = PosixFilePermissions.asFileAttribute(OWNER_ONLY);
            Path root = Files.createTempDirectory(parent, "softdpu-demo-", ownerOnly);
            Files.createDirectory(root.resolve("fabric"), ownerOnly);
            return new DemoWorkspace(root);
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "folder for the demo cannot be made: parent=" + parent + ", reason=" + e,
                    e);
        }
    }

    Path fabric() {
        return root.resolve("fabric");
    }

    Path report(String child) {
        return root.resolve(child + ".json");
    }

    /**
     * Removes the folder with all that is in it. Idempotent.
     *
     * @throws DpuException OPERATING_SYSTEM if something stays
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            Files.walkFileTree(root, new Remover());
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "folder of the demo cannot be removed: folder=" + root + ", reason=" + e,
                    e);
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

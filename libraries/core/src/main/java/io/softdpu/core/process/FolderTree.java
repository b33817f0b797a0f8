package io.softdpu.core.process;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** Removal of a shared folder with all that is in it; follows no link. Any thread. */
final class FolderTree {
    /**
     * Limit of walks to remove a folder. Each after the first removes files that were created
     * during the one before, and a process that ends creates a few.
     */
    private static final int MAX_WALKS = 64;

    private FolderTree() {}

    /**
     * Removes a folder, with files that a process creates in it meanwhile, and its lock file last:
     * a folder that is half removed is found by it. Nothing where the folder has gone.
     */
    static void remove(Path root, Path lockFile) throws IOException {
        for (int walk = 1; ; walk++) {
            try {
                Files.walkFileTree(root, new Remover(root, lockFile));
                Files.deleteIfExists(lockFile);
                Files.deleteIfExists(root);
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
        private final Path root;
        private final Path lockFile;

        Remover(Path root, Path lockFile) {
            this.root = root;
            this.lockFile = lockFile;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
            if (!file.equals(lockFile)) {
                Files.deleteIfExists(file);
            }
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
            if (!folder.equals(root)) {
                Files.deleteIfExists(folder);
            }
            return FileVisitResult.CONTINUE;
        }
    }
}

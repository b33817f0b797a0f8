package io.softdpu.architecture;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** The files of the repository, without those that builds and tools make. */
final class RepositoryFiles {
    private static final Set<String> SKIPPED = Set.of(".git", "target", ".idea", ".vscode");

    private RepositoryFiles() {}

    /** All files, relative to {@link ProjectModules#ROOT}, sorted. */
    static List<Path> all() {
        List<Path> files = new ArrayList<>();
        try {
            Files.walkFileTree(
                    ProjectModules.ROOT,
                    new SimpleFileVisitor<>() {
                        @Override
                        public FileVisitResult preVisitDirectory(
                                Path folder, BasicFileAttributes attributes) {
                            return SKIPPED.contains(folder.getFileName().toString())
                                    ? FileVisitResult.SKIP_SUBTREE
                                    : FileVisitResult.CONTINUE;
                        }

                        @Override
                        public FileVisitResult visitFile(
                                Path file, BasicFileAttributes attributes) {
                            files.add(ProjectModules.ROOT.relativize(file));
                            return FileVisitResult.CONTINUE;
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        files.sort(null);
        return files;
    }

    /** Whether a file that is relative to the root begins with the line of an interpreter. */
    static boolean isRunByAnInterpreter(Path file) {
        try (InputStream in = Files.newInputStream(ProjectModules.ROOT.resolve(file))) {
            return Arrays.equals(in.readNBytes(2), new byte[] {'#', '!'});
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The text of a file that is relative to the root. */
    static String read(Path file) {
        return ProjectModules.read(ProjectModules.ROOT.resolve(file));
    }
}

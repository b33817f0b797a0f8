package io.softdpu.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A list of jars and class folders for a JVM that a test starts. Immutable; any thread.
 *
 * @param entries jars and folders, in their order
 */
public record ClassPath(List<Path> entries) {

    private static final ConcurrentMap<ClassPath, ClassPath> READABLE_COPIES =
            new ConcurrentHashMap<>();

    /**
     * A class path of its own copy of the list.
     *
     * @param entries jars and folders, in their order
     */
    public ClassPath {
        entries = List.copyOf(entries);
    }

    /**
     * What this JVM runs from: the module under test, its tests, and all they build on.
     *
     * @return the class path of this JVM
     */
    public static ClassPath current() {
        // Surefire may start the JVM with one jar whose manifest names the rest; then the whole
        // list stands in a property of its own.
        String list =
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"));
        return new ClassPath(
                Stream.of(list.split(File.pathSeparator))
                        .filter(entry -> !entry.isEmpty())
                        .map(entry -> Path.of(entry).toAbsolutePath())
                        .filter(Files::exists)
                        .toList());
    }

    /**
     * A copy that every user may read, since a home folder such as root's is closed to other users.
     * The copy is made once and is removed when this JVM ends.
     *
     * @return the same entries below a new folder in {@code java.io.tmpdir}
     */
    public ClassPath readableByAll() {
        return READABLE_COPIES.computeIfAbsent(this, ClassPath::copy);
    }

    private ClassPath copy() {
        try {
            Path folder =
                    Files.createTempDirectory(
                            "softdpu-jars",
                            PosixFilePermissions.asFileAttribute(
                                    PosixFilePermissions.fromString("rwxr-xr-x")));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
            List<Path> copies = new ArrayList<>();
            for (Path entry : entries) {
                // Numbered, since several modules have a folder named classes.
                Path copy = folder.resolve(copies.size() + "-" + entry.getFileName());
                copyTree(entry, copy);
                copies.add(copy);
            }
            return new ClassPath(copies);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void copyTree(Path from, Path to) throws IOException {
        try (Stream<Path> tree = Files.walk(from)) {
            for (Path source : tree.toList()) {
                Path target = to.resolve(from.relativize(source).toString());
                if (Files.isDirectory(source)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(source, target);
                }
                Files.setPosixFilePermissions(
                        target,
                        PosixFilePermissions.fromString(
                                Files.isDirectory(source) ? "rwxr-xr-x" : "rw-r--r--"));
            }
        }
    }

    private static void remove(Path folder) {
        try (Stream<Path> tree = Files.walk(folder)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            System.err.println("copy of the jars not removed: " + e);
        }
    }

    /**
     * The form that {@code java -cp} and {@code java -p} take.
     *
     * @return the entries, separated by colons
     */
    @Override
    public String toString() {
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
}

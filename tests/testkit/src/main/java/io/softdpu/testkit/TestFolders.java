package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Folders in which a test may leave a file unknowingly: the temporary folder of this JVM and of
 * those it starts, made for them alone since the machine's is shared, and the place where softdpu
 * puts its fabric unless a program says another: {@code SOFTDPU_FABRIC}, which a build sets to a
 * folder of its own, since other programs may use the usual places. Any thread.
 */
final class TestFolders {

    private static final String TEMPORARY = "java.io.tmpdir";

    private static final Path SHARED = Path.of(System.getProperty(TEMPORARY));

    private static final Path PRIVATE = makePrivate();

    private static final List<Path> WATCHED = makeWatched();

    private TestFolders() {}

    /** The value of {@code java.io.tmpdir} here and in JVMs that a test starts. */
    static Path temporary() {
        return PRIVATE;
    }

    /** The temporary folder of the machine, for processes of other users. */
    static Path shared() {
        return SHARED;
    }

    /** The folders whose entries count; some do not exist. */
    static List<Path> watched() {
        return WATCHED;
    }

    private static Path makePrivate() {
        try {
            Path folder = Files.createTempDirectory("softdpu-tests-");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(folder)));
            // Files.createTempFile keeps to the folder the JVM began with; the product asks anew.
            System.setProperty(TEMPORARY, folder.toString());
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> makeWatched() {
        List<Path> folders = new ArrayList<>(List.of(PRIVATE));
        String fabric = System.getenv("SOFTDPU_FABRIC");
        if (fabric != null) {
            folders.add(Path.of(fabric));
        }
        return List.copyOf(folders);
    }

    private static void remove(Path folder) {
        try (Stream<Path> tree = Files.walk(folder)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        } catch (IOException e) {
            System.err.println("temporary folder of the tests not removed: " + e);
        }
    }
}

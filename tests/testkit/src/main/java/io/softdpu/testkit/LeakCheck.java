package io.softdpu.testkit;

import io.softdpu.testkit.ResourceSnapshot.Thing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds resources that code has left in this JVM at a point within a test, and socket files in a
 * folder. Take one before, run the code, then {@link #assertNothingLeft()}. What a whole test
 * leaves is found by {@link LeakExtension} without asking; a program that a test starts asks here.
 *
 * <p>What the JDK opens for itself does not count: jars, sources of randomness, its own helper
 * threads. What it opens once at the first use of a feature does (java.nio channels keep a socket),
 * so use the feature once before. Belongs to one thread; other tests must not run in the same JVM
 * meanwhile.
 */
public final class LeakCheck {

    private final List<Path> folders;
    private final ResourceSnapshot holdings;
    private final Set<String> sockets;

    private LeakCheck(List<Path> folders) {
        this.folders = List.copyOf(folders);
        this.holdings = ResourceSnapshot.now();
        this.sockets = sockets(folders);
    }

    /**
     * Takes down what there is now.
     *
     * @param folders where socket files may appear, such as a test's fabric folder
     * @return the baseline
     */
    public static LeakCheck begin(Path... folders) {
        return new LeakCheck(List.of(folders));
    }

    /**
     * Fails if there is more than at the beginning. What other threads and processes still give
     * back is waited for.
     *
     * @throws AssertionError that lists what is left
     */
    public void assertNothingLeft() {
        assertNothingLeft(Patience.DEADLINE);
    }

    /** As {@link #assertNothingLeft()}, with a deadline of its own. */
    void assertNothingLeft(Duration deadline) {
        if (!Await.holdsWithin(deadline, () -> left().isEmpty())) {
            Set<String> left = left();
            if (!left.isEmpty()) {
                throw new AssertionError("left behind: " + String.join("; ", left));
            }
        }
    }

    /** True if there is nothing more than at the beginning. */
    public boolean isClean() {
        return left().isEmpty();
    }

    private Set<String> left() {
        Set<String> left =
                ResourceSnapshot.now().since(holdings).stream()
                        .map(Thing::toString)
                        .collect(Collectors.toCollection(TreeSet::new));
        Set<String> files = sockets(folders);
        files.removeAll(sockets);
        files.forEach(file -> left.add("socket " + file));
        return left;
    }

    private static Set<String> sockets(List<Path> folders) {
        return folders.stream()
                .flatMap(LeakCheck::socketsBelow)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<String> socketsBelow(Path folder) {
        if (!Files.exists(folder)) {
            return Stream.of();
        }
        try (Stream<Path> tree = Files.walk(folder)) {
            return tree.filter(LeakCheck::isSocket).map(Path::toString).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isSocket(Path path) {
        try {
            int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            return (mode & 0170000) == 0140000;
        } catch (IOException e) {
            return false; // gone since the folder was read
        }
    }
}

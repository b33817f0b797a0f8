package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds what code under test leaves behind in this JVM: open descriptors, mapped memfds, threads,
 * and socket files in a folder. Take one before, run the code, then {@link
 * #assertNothingLeft(Duration)}.
 *
 * <p>What the JDK opens for itself does not count: jars, sources of randomness, its own helper
 * threads. What it opens once at the first use of a feature does (java.nio channels keep a socket),
 * so use the feature once before. Belongs to one thread; other tests must not run in the same JVM
 * meanwhile.
 */
public final class LeakCheck {

    private static final List<String> JDK_THREADS =
            List.of(
                    "process reaper",
                    "Common-Cleaner",
                    "Cleaner-",
                    "Signal Dispatcher",
                    "Attach Listener",
                    "Notification Thread",
                    "ForkJoinPool.commonPool",
                    "ForkJoinPool-",
                    "CompletableFutureDelayScheduler",
                    "VirtualThread-unparker",
                    "VirtualThread-unblocker",
                    "Read-Poller",
                    "Write-Poller",
                    "junit-",
                    "surefire-",
                    "testkit-");

    private final List<Path> folders;
    private final List<String> descriptors;
    private final List<String> mappings;
    private final Set<Thread> threads;
    private final List<String> sockets;

    private LeakCheck(List<Path> folders) {
        this.folders = List.copyOf(folders);
        this.descriptors = descriptors();
        this.mappings = mappings();
        this.threads = Set.copyOf(Thread.getAllStackTraces().keySet());
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
     * Fails if there is more than at the beginning.
     *
     * @param deadline how long to wait for what other threads and processes still give back
     * @throws AssertionError that lists what is left
     */
    public void assertNothingLeft(Duration deadline) {
        Await.holdsWithin(deadline, () -> left().isEmpty());
        String left = left();
        if (!left.isEmpty()) {
            throw new AssertionError("left behind: " + left);
        }
    }

    private String left() {
        List<String> findings = new ArrayList<>();
        addMore("descriptors", descriptors, descriptors(), findings);
        addMore("mappings", mappings, mappings(), findings);
        addMore("sockets", sockets, sockets(folders), findings);
        List<String> newThreads =
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !threads.contains(thread))
                        .map(Thread::getName)
                        .filter(name -> JDK_THREADS.stream().noneMatch(name::startsWith))
                        .sorted()
                        .toList();
        addMore("threads", List.of(), newThreads, findings);
        return String.join(", ", findings);
    }

    private static void addMore(
            String kind, List<String> before, List<String> now, List<String> findings) {
        List<String> more = new ArrayList<>(now);
        before.forEach(more::remove); // one of several equal ones, so that counts are compared
        if (!more.isEmpty()) {
            findings.add(kind + "=" + more);
        }
    }

    private static List<String> descriptors() {
        String javaHome = System.getProperty("java.home");
        return ProcessView.self().descriptors().stream()
                .filter(target -> !target.endsWith(".jar"))
                .filter(target -> !target.startsWith(javaHome))
                .filter(target -> !target.matches("/dev/u?random|/proc/.*|/sys/.*"))
                .toList();
    }

    private static List<String> mappings() {
        return ProcessView.self().mappings().stream()
                .filter(ProcessView.Mapping::isMemfd)
                .map(mapping ->
                        "%s %s at 0x%x, sizeBytes=%d"
                                .formatted(
                                        mapping.name(),
                                        mapping.permissions(),
                                        mapping.startAddress(),
                                        mapping.sizeBytes()))
                .toList();
    }

    private static List<String> sockets(List<Path> folders) {
        return folders.stream()
                .flatMap(LeakCheck::socketsBelow)
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private static Stream<String> socketsBelow(Path folder) {
        if (!Files.exists(folder)) {
            return Stream.of();
        }
        try (Stream<Path> tree = Files.walk(folder)) {
            return tree.filter(LeakCheck::isSocket).map(Path::toString).sorted().toList().stream();
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

package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Resources of this JVM at a moment: descriptors, mapped files, threads, child processes, files in
 * the places where the product leaves some, and the regions it has named. Taking it costs less than
 * a millisecond. Any thread.
 *
 * <p>What the JDK holds for itself is left out: jars and the files of the runtime, sources of
 * randomness, code and locale data, the counters of {@code hsperfdata}, and its helper threads.
 * Virtual threads are not seen.
 */
final class ResourceSnapshot {

    /**
     * One resource.
     *
     * @param kind descriptor, mapping, thread, process, file, region or lease
     * @param id what its origin is kept under, such as {@code descriptor 12}
     * @param what for people: what it leads to, its name
     */
    record Thing(String kind, String id, String what) {

        @Override
        public String toString() {
            return what.isEmpty() ? id : id + " (" + what + ")";
        }
    }

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
                    "JFR ",
                    "junit-",
                    "surefire-",
                    "testkit-");

    /** A child that lives has a thread of the JDK that waits for its end, with its pid. */
    private static final String CHILD_THREAD = "process reaper (pid ";

    private static final String JAVA_HOME = System.getProperty("java.home");

    private static final Pattern JDK_DESCRIPTOR =
            Pattern.compile(".*\\.jar|/dev/u?random|/(proc|sys)/.*|.*/surefire-reports/.*");

    private static final Pattern JDK_MAPPING =
            Pattern.compile(
                    ".*\\.jar|.*\\.so(\\.[0-9.]+)?|.*/hsperfdata_.*|.*/(locale|gconv)/.*"
                            + "|/memfd:java_heap.*|/proc/.*");

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path MAPS = Path.of("/proc/self/maps");

    private final Set<Thing> things = new HashSet<>();

    private ResourceSnapshot() {}

    /**
     * Takes down what there is now.
     *
     * @return a value that does not change
     */
    static ResourceSnapshot now() {
        ResourceSnapshot now = new ResourceSnapshot();
        now.addDescriptors();
        now.addMappings();
        now.addThreads();
        for (Path folder : TestFolders.watched()) {
            now.addFiles(folder);
        }
        for (String id : OriginsReader.open().keySet()) {
            if (id.startsWith("region ") || id.startsWith("lease ")) {
                now.things.add(new Thing(id.substring(0, id.indexOf(' ')), id, ""));
            }
        }
        return now;
    }

    /**
     * What is there now and was not before.
     *
     * @param before taken earlier
     * @return a new set
     */
    Set<Thing> since(ResourceSnapshot before) {
        Set<Thing> more = new HashSet<>(things);
        more.removeAll(before.things);
        return more;
    }

    /** Drops from the set what is not there any more. */
    void retainIn(Set<Thing> known) {
        known.retainAll(things);
    }

    private void addDescriptors() {
        eachIn(
                DESCRIPTORS,
                link -> {
                    String target = target(link);
                    if (!target.isEmpty()
                            && !target.startsWith(JAVA_HOME)
                            && !JDK_DESCRIPTOR.matcher(target).matches()) {
                        things.add(
                                new Thing(
                                        "descriptor", "descriptor " + link.getFileName(), target));
                    }
                });
    }

    private static String target(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (NoSuchFileException closedSinceTheFolderWasRead) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each mapping of a file or a memfd; a line ends in the file's name, from column 73 on. */
    private void addMappings() {
        String maps;
        try {
            maps = new String(Files.readAllBytes(MAPS), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        int begin = 0;
        while (begin < maps.length()) {
            int end = maps.indexOf('\n', begin);
            int name = maps.indexOf('/', begin);
            if (name < 0) {
                return;
            }
            if (name < end) {
                addMapping(maps.substring(begin, end), maps.substring(name, end));
            }
            begin = end + 1;
        }
    }

    private void addMapping(String line, String name) {
        if (name.startsWith(JAVA_HOME) || JDK_MAPPING.matcher(name).matches()) {
            return;
        }
        String range = line.substring(0, line.indexOf(' '));
        String from = range.substring(0, range.indexOf('-'));
        String permissions = line.substring(range.length() + 1, range.length() + 5);
        things.add(
                new Thing(
                        "mapping",
                        "mapping 0x" + from,
                        "to 0x"
                                + range.substring(from.length() + 1)
                                + ", "
                                + permissions
                                + ", "
                                + name));
    }

    private void addThreads() {
        boolean child = false;
        for (Thread thread : threads()) {
            if (thread == null) {
                break;
            }
            String name = thread.getName();
            child |= name.startsWith(CHILD_THREAD);
            if (JDK_THREADS.stream().noneMatch(name::startsWith)) {
                things.add(new Thing("thread", "thread " + thread.threadId(), name));
            }
        }
        if (child) { // asking for them reads all of /proc
            ProcessHandle.current()
                    .descendants()
                    .forEach(process ->
                            things.add(
                                    new Thing(
                                            "process",
                                            "process " + process.pid(),
                                            process.info().command().orElse("has ended"))));
        }
    }

    /**
     * Whether a snapshot finds this child: only once the thread runs by which the JDK waits for the
     * end of the child.
     */
    static boolean sees(ProcessHandle child) {
        String name = CHILD_THREAD + child.pid() + ")";
        for (Thread thread : threads()) {
            if (thread != null && thread.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** All platform threads; unlike stack traces it needs no stop of the JVM. */
    private static Thread[] threads() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group.getParent() != null) {
            group = group.getParent();
        }
        Thread[] threads = new Thread[group.activeCount() + 16];
        while (group.enumerate(threads, true) == threads.length) {
            threads = new Thread[threads.length * 2];
        }
        return threads;
    }

    private void addFiles(Path folder) {
        eachIn(folder, file -> things.add(new Thing("file", "file " + file, "")));
    }

    private static void eachIn(Path folder, Consumer<Path> action) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            entries.forEach(action);
        } catch (NoSuchFileException e) {
            // A folder that is not there holds nothing.
        } catch (DirectoryIteratorException | IOException e) {
            throw new UncheckedIOException(
                    e instanceof DirectoryIteratorException inner
                            ? inner.getCause()
                            : (IOException) e);
        }
    }
}

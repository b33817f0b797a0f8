package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A process as /proc shows it. Each method reads again; entries that end meanwhile are left out.
 * Any thread.
 */
public final class ProcessView {

    private final Path proc;

    private ProcessView(Path proc) {
        this.proc = proc;
    }

    /**
     * A range of a process's memory.
     *
     * @param startAddress its first byte
     * @param endAddress the byte after its last
     * @param permissions such as {@code rw-s}
     * @param name the file behind it, such as {@code /memfd:io (deleted)}; empty where there is
     *     none
     * @param residentBytes how much of it this process has touched and still has in memory
     */
    public record Mapping(
            long startAddress,
            long endAddress,
            String permissions,
            String name,
            long residentBytes) {

        /**
         * Its size.
         *
         * @return bytes
         */
        public long sizeBytes() {
            return endAddress - startAddress;
        }

        /**
         * Whether memory of a memfd lies behind it.
         *
         * @return true for shared memory without a file name
         */
        public boolean isMemfd() {
            return name.startsWith("/memfd:");
        }
    }

    /**
     * The process with a pid.
     *
     * @param pid of a process that may have ended
     * @return its view
     */
    public static ProcessView of(long pid) {
        return new ProcessView(Path.of("/proc", Long.toString(pid)));
    }

    /**
     * The process that asks.
     *
     * @return its view
     */
    public static ProcessView self() {
        return of(ProcessHandle.current().pid());
    }

    /**
     * What its open file descriptors lead to, one entry a descriptor.
     *
     * @return such as {@code socket:[4711]}, {@code /memfd:io (deleted)}, sorted
     */
    public List<String> descriptors() {
        List<String> targets = new ArrayList<>();
        for (Path link : children("fd")) {
            try {
                targets.add(Files.readSymbolicLink(link).toString());
            } catch (NoSuchFileException closedSinceTheFolderWasRead) {
                // It is no descriptor of the process any more.
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        targets.sort(null);
        return targets;
    }

    /**
     * Its mapped memory, in order of address.
     *
     * @return the ranges; empty when the process has ended
     */
    public List<Mapping> mappings() {
        List<Mapping> mappings = new ArrayList<>();
        for (String line : lines(proc.resolve("smaps"))) {
            if (line.startsWith("Rss:")) {
                Mapping last = mappings.removeLast();
                long kibibytes = Long.parseLong(line.replaceAll("[^0-9]", ""));
                mappings.add(
                        new Mapping(
                                last.startAddress,
                                last.endAddress,
                                last.permissions,
                                last.name,
                                kibibytes * 1024));
            } else if (!line.substring(0, line.indexOf(' ')).endsWith(":")) {
                mappings.add(parse(line));
            }
        }
        return mappings;
    }

    private static Mapping parse(String line) {
        String[] fields = line.split(" +", 6);
        String[] range = fields[0].split("-", 2);
        return new Mapping(
                Long.parseUnsignedLong(range[0], 16),
                Long.parseUnsignedLong(range[1], 16),
                fields[1],
                fields.length > 5 ? fields[5].strip() : "",
                0);
    }

    /**
     * The names of its threads; Linux keeps the first 15 characters.
     *
     * @return one entry a thread, sorted
     */
    public List<String> threadNames() {
        return children("task").stream()
                .flatMap(task -> lines(task.resolve("comm")).stream())
                .sorted()
                .toList();
    }

    /**
     * The states of its threads: R running, S sleeping, T stopped, Z ended and others.
     *
     * @return one letter a thread
     */
    public List<Character> threadStates() {
        return children("task").stream()
                .flatMap(task -> lines(task.resolve("stat")).stream())
                // The name stands in parentheses and may hold any character.
                .map(stat -> stat.charAt(stat.lastIndexOf(')') + 2))
                .toList();
    }

    /**
     * The ports on which it listens for TCP, over IPv4 and IPv6.
     *
     * @return port numbers
     */
    public Set<Integer> listeningTcpPorts() {
        Set<String> own = Set.copyOf(descriptors());
        Set<Integer> ports = new TreeSet<>();
        for (String table : List.of("net/tcp", "net/tcp6")) {
            for (String line : lines(proc.resolve(table))) {
                String[] fields = line.strip().split(" +");
                if (fields[3].equals("0A") && own.contains("socket:[" + fields[9] + "]")) {
                    ports.add(
                            Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
                }
            }
        }
        return ports;
    }

    private List<Path> children(String folder) {
        try (Stream<Path> children = Files.list(proc.resolve(folder))) {
            return children.toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(Path file) {
        return text(file).lines().toList();
    }

    /**
     * Reads a file of a process or thread in {@code /proc}.
     *
     * @param file such as {@code /proc/self/task/7/comm}
     * @return its text; empty if the process or thread has ended
     */
    public static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            if (e instanceof NoSuchFileException || endedWhileRead(e)) {
                return "";
            }
            throw new UncheckedIOException(e);
        }
    }

    /** ESRCH, which has no exception class of its own. */
    private static boolean endedWhileRead(IOException e) {
        return e.getMessage() != null && e.getMessage().contains("No such process");
    }
}

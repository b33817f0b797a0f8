package io.softdpu.cli;

import io.softdpu.testkit.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Sockets and shared memory that processes hold at a moment, by the kernel's inode numbers. Later
 * checks find out whether any process still holds some of them.
 */
final class ProcessResources {
    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d+)\\]");
    private static final Pattern MEMFD = Pattern.compile("/memfd:softdpu");

    private final Set<String> sockets = new TreeSet<>();
    private final Set<String> memories = new TreeSet<>();
    private final Set<Long> pids = new HashSet<>();

    /** Looks at these processes now. */
    static ProcessResources of(List<Long> pids) {
        ProcessResources resources = new ProcessResources();
        for (long pid : pids) {
            resources.pids.add(pid);
            Path proc = Path.of("/proc", Long.toString(pid));
            for (String target : descriptors(proc)) {
                Matcher socket = SOCKET.matcher(target);
                if (socket.matches()) {
                    resources.sockets.add(socket.group(1));
                }
            }
            resources.memories.addAll(memfds(proc));
        }
        return resources;
    }

    static ProcessResources ofAll(List<ChildProcess> processes) {
        return of(processes.stream().map(ChildProcess::pid).toList());
    }

    int sockets() {
        return sockets.size();
    }

    int memories() {
        return memories.size();
    }

    /** What of it there still is; empty when all is gone. */
    List<String> left() {
        List<String> left = new ArrayList<>();
        for (long pid : pids) {
            if (Files.exists(Path.of("/proc", Long.toString(pid), "exe"))) {
                left.add("process " + pid);
            }
        }
        Set<String> now = new HashSet<>();
        inodes("unix", 6, now);
        inodes("tcp", 9, now);
        inodes("tcp6", 9, now);
        now.retainAll(sockets);
        now.forEach(inode -> left.add("socket " + inode));
        for (Path proc : processes()) {
            Set<String> held = memfds(proc);
            held.retainAll(memories);
            held.forEach(memory -> left.add("memory " + memory + " in " + proc));
        }
        return left;
    }

    private static void inodes(String table, int column, Set<String> into) {
        for (String line : lines(Path.of("/proc/net", table))) {
            String[] fields = line.strip().split(" +");
            if (fields.length > column) {
                into.add(fields[column]);
            }
        }
    }

    /** Mapped memfds of the product, each by device and inode. */
    private static Set<String> memfds(Path proc) {
        Set<String> found = new TreeSet<>();
        for (String line : lines(proc.resolve("maps"))) {
            if (MEMFD.matcher(line).find()) {
                String[] fields = line.split(" +", 6);
                found.add(fields[3] + "/" + fields[4]);
            }
        }
        return found;
    }

    private static List<String> descriptors(Path proc) {
        List<String> targets = new ArrayList<>();
        try (Stream<Path> links = Files.list(proc.resolve("fd"))) {
            for (Path link : links.toList()) {
                if (Files.isSymbolicLink(link)) {
                    targets.add(Files.readSymbolicLink(link).toString());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("process is not there: " + proc, e);
        }
        return targets;
    }

    private static List<Path> processes() {
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            return all.filter(path -> path.getFileName().toString().matches("\\d+")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> lines(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            return List.of(); // a process that ended meanwhile, or another user's, holds nothing
        }
    }
}

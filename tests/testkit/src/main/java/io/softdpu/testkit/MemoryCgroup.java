package io.softdpu.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A memory cgroup with a limit, below that of the test: of version 1 or 2, where this process may
 * make one. A process that exceeds the limit is killed by the kernel. One thread.
 */
public final class MemoryCgroup implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/fs/cgroup");

    private final Path folder;

    private MemoryCgroup(Path folder) {
        this.folder = folder;
    }

    /**
     * Makes one.
     *
     * @param limitBytes most memory of its processes together
     * @return empty where this process may not, or where there is no memory controller
     */
    public static Optional<MemoryCgroup> tryCreate(long limitBytes) {
        return tryCreate(ROOT.resolve("memory"), ":memory:", "memory.limit_in_bytes", limitBytes)
                .or(() -> tryCreate(ROOT, "0::", "memory.max", limitBytes));
    }

    private static Optional<MemoryCgroup> tryCreate(
            Path mount, String mark, String limitFile, long limitBytes) {
        Path folder = null;
        try {
            Optional<String> own =
                    Files.readAllLines(Path.of("/proc/self/cgroup")).stream()
                            .filter(line -> line.contains(mark))
                            .map(line -> line.substring(line.indexOf(mark) + mark.length()))
                            .findFirst();
            if (own.isEmpty()) {
                return Optional.empty();
            }
            Path parent = mount.resolve(own.get().substring(1));
            folder =
                    Files.createTempDirectory(
                            Files.isDirectory(parent) ? parent : mount, "softdpu-test-");
            Files.writeString(folder.resolve(limitFile), Long.toString(limitBytes));
            return Optional.of(new MemoryCgroup(folder));
        } catch (IOException e) {
            if (folder != null) {
                new MemoryCgroup(folder).close();
            }
            return Optional.empty();
        }
    }

    /**
     * Puts the process of a command into the cgroup before the JVM starts.
     *
     * @param command what to run
     * @return a new command
     */
    public JavaCommand around(JavaCommand command) {
        return command.behind(
                "sh",
                "-c",
                "echo $$ >\"$0\" && exec \"$@\"",
                folder.resolve("cgroup.procs").toString());
    }

    /** Kills what is in it and removes it. */
    @Override
    public void close() {
        try {
            for (String pid : processes()) {
                ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
            }
            Await.until("the cgroup is empty", () -> processes().isEmpty());
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> processes() {
        try {
            return Files.readAllLines(folder.resolve("cgroup.procs"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

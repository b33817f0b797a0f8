package io.softdpu.perf.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Which core each poller of a demo is bound to: target, service and initiator. Where there is a
 * core for each, each gets its own. Where there are two, the target, which copies, prefers one, and
 * the others, which only pass messages on, share the other; none is bound for good, because one
 * competitor on a core would stop its poller with nowhere to go. Where a quota leaves less than the
 * cores that it may run on, the scheduler is to choose among them.
 */
final class CpuChoice {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";
    private static final String ANY = "any";
    private static final String PREFER = "prefer:";
    private static final int POLLERS = 3;

    private CpuChoice() {}

    /** The values of {@code --cpu} on this machine. */
    static List<String> here() {
        try (Stream<String> lines = Files.lines(STATUS)) {
            String allowed =
                    lines.filter(line -> line.startsWith(ALLOWED))
                            .map(line -> line.substring(ALLOWED.length()).strip())
                            .findFirst()
                            .orElse("");
            // A quota (cgroup) may leave less than the mask shows.
            return choose(Runtime.getRuntime().availableProcessors(), allowed);
        } catch (IOException e) {
            // Not to bind is always possible.
            return Collections.nCopies(POLLERS, ANY);
        }
    }

    /**
     * The choice itself.
     *
     * @param available cores' worth of time that this process may use
     * @param allowed cores it may run on, as the kernel writes them: {@code 0-3,8}
     */
    static List<String> choose(int available, String allowed) {
        List<String> cores =
                Stream.of(allowed.split(",", -1))
                        .filter(range -> !range.isEmpty())
                        .flatMapToInt(CpuChoice::range)
                        .limit(POLLERS)
                        .mapToObj(Integer::toString)
                        .toList();
        if (available >= POLLERS && cores.size() >= POLLERS) {
            return cores;
        }
        return available >= 2 && cores.size() == 2
                ? List.of(PREFER + cores.get(1), PREFER + cores.get(0), PREFER + cores.get(0))
                : Collections.nCopies(POLLERS, ANY);
    }

    private static IntStream range(String range) {
        String[] ends = range.split("-", 2);
        return IntStream.rangeClosed(
                Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    }
}

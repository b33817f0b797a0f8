package io.softdpu.perf.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * CPU affinity of the polling threads of a demo: target, service and initiator. With three cores
 * each is pinned to its own. With two cores the target, which copies, has soft affinity to one, and
 * the others, which only forward messages, to the other; none has hard affinity, because a
 * competitor on the core would stop its thread. If a quota leaves less than the allowed cores, the
 * scheduler selects among them.
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
            // No affinity is always possible.
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

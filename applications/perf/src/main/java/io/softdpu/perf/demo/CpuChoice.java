package io.softdpu.perf.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * CPU affinity of the polling threads of a demo: target, service and initiator, each with the same
 * number. If there is a processor for each thread, each is pinned to its own. With two processors
 * for each three threads the target's, which copies, has soft affinity to one, and the others,
 * which only forward messages, to the other; none has hard affinity, because a competitor on the
 * processor would stop its thread. If a quota leaves less than the allowed processors, the
 * scheduler selects among them.
 */
final class CpuChoice {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";
    private static final String ANY = "any";
    private static final String PREFER = "prefer:";
    private static final int ROLES = DemoRole.values().length;

    private CpuChoice() {}

    /**
     * The value of {@code --cpu} of each role on this machine, by {@link DemoRole#index}.
     *
     * @param threads polling threads of each role
     */
    static List<String> here(int threads) {
        try (Stream<String> lines = Files.lines(STATUS)) {
            String allowed =
                    lines.filter(line -> line.startsWith(ALLOWED))
                            .map(line -> line.substring(ALLOWED.length()).strip())
                            .findFirst()
                            .orElse("");
            // A quota (cgroup) may leave less than the mask shows.
            return choose(threads, Runtime.getRuntime().availableProcessors(), allowed);
        } catch (IOException e) {
            // No affinity is always possible.
            return anywhere(threads);
        }
    }

    /**
     * The choice itself.
     *
     * @param threads polling threads of each role
     * @param available processors' worth of time that this process may use
     * @param allowed processors it may run on, as the kernel writes them: {@code 0-3,8}
     */
    static List<String> choose(int threads, int available, String allowed) {
        List<String> processors =
                Stream.of(allowed.split(",", -1))
                        .filter(range -> !range.isEmpty())
                        .flatMapToInt(CpuChoice::range)
                        .limit((long) ROLES * threads)
                        .mapToObj(Integer::toString)
                        .toList();
        if (available >= ROLES * threads && processors.size() == ROLES * threads) {
            return IntStream.range(0, ROLES)
                    .mapToObj(role -> processors.subList(role * threads, (role + 1) * threads))
                    .map(own -> String.join(",", own))
                    .toList();
        }
        if (available >= 2 * threads && processors.size() == 2 * threads) {
            String forwarding = preferred(processors.subList(0, threads));
            String copying = preferred(processors.subList(threads, 2 * threads));
            return List.of(copying, forwarding, forwarding);
        }
        return anywhere(threads);
    }

    private static String preferred(List<String> processors) {
        return processors.stream().map(PREFER::concat).collect(Collectors.joining(","));
    }

    private static List<String> anywhere(int threads) {
        return Collections.nCopies(ROLES, String.join(",", Collections.nCopies(threads, ANY)));
    }

    private static IntStream range(String range) {
        String[] ends = range.split("-", 2);
        return IntStream.rangeClosed(
                Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    }
}

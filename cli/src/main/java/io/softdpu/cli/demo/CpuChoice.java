package io.softdpu.cli.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Which core each poller of a demo is bound to. Where there is a core for each, each gets its own;
 * where there are fewer, none is bound: two bound pollers on one core only take turns when the
 * scheduler says so, and one competitor on a core stops its poller with nowhere to go.
 */
final class CpuChoice {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String ALLOWED = "Cpus_allowed_list:";
    private static final String ANY = "any";

    private CpuChoice() {}

    /** The values of {@code --cpu} for so many pollers on this machine. */
    static List<String> forPollers(int pollers) {
        try (Stream<String> lines = Files.lines(STATUS)) {
            String allowed =
                    lines.filter(line -> line.startsWith(ALLOWED))
                            .map(line -> line.substring(ALLOWED.length()).strip())
                            .findFirst()
                            .orElse("");
            // A quota (cgroup) may leave less than the mask shows.
            return choose(pollers, Runtime.getRuntime().availableProcessors(), allowed);
        } catch (IOException e) {
            // Not to bind is always possible.
            return Collections.nCopies(pollers, ANY);
        }
    }

    /**
     * The choice itself.
     *
     * @param available cores' worth of time that this process may use
     * @param allowed cores it may run on, as the kernel writes them: {@code 0-3,8}
     */
    static List<String> choose(int pollers, int available, String allowed) {
        List<String> cores =
                Stream.of(allowed.split(",", -1))
                        .filter(range -> !range.isEmpty())
                        .flatMapToInt(CpuChoice::range)
                        .limit(pollers)
                        .mapToObj(Integer::toString)
                        .toList();
        return available < pollers || cores.size() < pollers
                ? Collections.nCopies(pollers, ANY)
                : cores;
    }

    private static IntStream range(String range) {
        String[] ends = range.split("-", 2);
        return IntStream.rangeClosed(
                Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    }
}

package io.softdpu.perf.child;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Memory of this process as the kernel accounts it. Any thread. */
public final class ProcessMemory {
    private static final Path ROLLUP = Path.of("/proc/self/smaps_rollup");
    private static final Path MAPS = Path.of("/proc/self/maps");
    private static final Pattern PSS = Pattern.compile("Pss: +(\\d{1,15}) kB");
    private static final Pattern MAPPING =
            Pattern.compile("(\\p{XDigit}{1,16})-(\\p{XDigit}{1,16}) .* /memfd:(\\S+).*");
    private static final int HEXADECIMAL = 16;

    private ProcessMemory() {}

    /**
     * Proportional resident bytes: a page that several processes have mapped counts in each by its
     * share, so the sum over them is the memory that they use together.
     *
     * @throws DpuException OPERATING_SYSTEM if the kernel does not tell
     */
    public static long proportionalBytes() {
        return proportionalBytes(lines(ROLLUP));
    }

    static long proportionalBytes(List<String> rollup) {
        return rollup.stream()
                .map(PSS::matcher)
                .filter(Matcher::matches)
                .mapToLong(found -> Long.parseLong(found.group(1)) << 10)
                .findFirst()
                .orElseThrow(() ->
                        new DpuException(
                                Status.OPERATING_SYSTEM,
                                "proportional resident bytes are not known: file="
                                        + ROLLUP
                                        + ", expected=a line Pss: N kB"));
    }

    /**
     * Bytes of address space of shared memory of a name.
     *
     * @param name of the memfd
     * @throws DpuException OPERATING_SYSTEM if the kernel does not tell
     */
    public static long mappedBytes(String name) {
        return mappedBytes(lines(MAPS), name);
    }

    static long mappedBytes(List<String> maps, String name) {
        return maps.stream()
                .map(MAPPING::matcher)
                .filter(found -> found.matches() && found.group(3).equals(name))
                .mapToLong(found ->
                        Long.parseUnsignedLong(found.group(2), HEXADECIMAL)
                                - Long.parseUnsignedLong(found.group(1), HEXADECIMAL))
                .sum();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "memory of the process is not known: file=" + file + ", reason=" + Reason.of(e),
                    e);
        }
    }
}

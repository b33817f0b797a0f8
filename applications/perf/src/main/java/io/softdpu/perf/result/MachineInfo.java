package io.softdpu.perf.result;

import io.softdpu.core.execution.CpuBinding;
import io.softdpu.linux.text.ForeignText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Properties of a machine on which figures depend.
 *
 * @param processors processors that the process may use
 * @param processorModel as the kernel names it; {@code unknown} where it does not
 * @param architecture as Java names it, such as {@code amd64}
 * @param kernel name and version of the kernel
 * @param jdk vendor and version of the JDK
 */
public record MachineInfo(
        int processors, String processorModel, String architecture, String kernel, String jdk) {
    private static final Path CPU_INFO = Path.of("/proc/cpuinfo");
    private static final String MODEL = "model name";
    private static final String UNKNOWN = "unknown";

    /** Those of this machine. */
    public static MachineInfo here() {
        return new MachineInfo(
                CpuBinding.availableProcessors(),
                processorModelHere(),
                System.getProperty("os.arch", UNKNOWN),
                System.getProperty("os.name", UNKNOWN)
                        + " "
                        + System.getProperty("os.version", UNKNOWN),
                System.getProperty("java.vendor", UNKNOWN) + " " + Runtime.version());
    }

    private static String processorModelHere() {
        try (Stream<String> lines = Files.lines(CPU_INFO)) {
            return processorModel(lines);
        } catch (IOException e) {
            return UNKNOWN; // a container may hide the file
        }
    }

    /** The model in the lines of {@code /proc/cpuinfo}. */
    static String processorModel(Stream<String> lines) {
        return lines.filter(line -> line.startsWith(MODEL) && line.contains(":"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .map(ForeignText::escapeAndCut)
                .orElse(UNKNOWN);
    }
}

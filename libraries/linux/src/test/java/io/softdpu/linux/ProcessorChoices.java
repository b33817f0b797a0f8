package io.softdpu.linux;

import static java.util.stream.Collectors.joining;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Program that prints the choices of the JVM and libc for this processor, in this process and in a
 * child process started as those of tests; bin/matrix compares them with its settings.
 */
public final class ProcessorChoices {
    private static final int CODE_BYTES = 32;

    private ProcessorChoices() {}

    /** Without arguments: both lines. With one: the line of this process, which it begins. */
    public static void main(String[] arguments) throws Exception {
        String process = arguments.length == 0 ? "parent" : arguments[0];
        System.out.printf(
                Locale.ROOT,
                "%s: UseAVX=%s, memmove=%s, x86_rep_movsb_threshold=%s%n",
                process,
                flag("UseAVX"),
                memmove(),
                tunable("glibc.cpu.x86_rep_movsb_threshold"));
        if (arguments.length == 0) {
            child();
        }
    }

    private static void child() throws IOException, InterruptedException {
        Process child =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                ProcessorChoices.class.getName(),
                                "child")
                        .inheritIO()
                        .start();
        int status = child.waitFor();
        if (status != 0) {
            throw new IOException("child process has failed: status=" + status);
        }
    }

    private static String flag(String name) {
        try {
            return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .getVMOption(name)
                    .getValue();
        } catch (IllegalArgumentException e) {
            return "none"; // of another architecture
        }
    }

    /**
     * The kind of vector register that memmove loads first. libc has an implementation for each
     * kind, without a name that could be asked for.
     */
    private static String memmove() {
        if (!System.getProperty("os.arch").equals("amd64")) {
            return "none";
        }
        byte[] code =
                MemorySegment.ofAddress(
                                Linker.nativeLinker()
                                        .defaultLookup()
                                        .find("memmove")
                                        .orElseThrow()
                                        .address())
                        .reinterpret(CODE_BYTES)
                        .toArray(ValueLayout.JAVA_BYTE);
        return firstVectorRegister(new String(code, StandardCharsets.ISO_8859_1));
    }

    private static String firstVectorRegister(String code) {
        String prologue =
                "(?:\u00f3\u000f\u001e\u00fa)?" // endbr64
                        + "\u0048\u0089\u00f8" // mov rax, rdi
                        + "\u0048\u0083\u00fa." // cmp rdx, the size of the register
                        + "(?:\u0072.|\u000f\u0082.{4})"; // jb
        Matcher load = Pattern.compile(prologue + "(.)(.)(.)(.)", Pattern.DOTALL).matcher(code);
        if (!load.lookingAt()) {
            return "unknown";
        }
        int first = load.group(1).charAt(0);
        return switch (first) {
            case 0x62 -> (load.group(4).charAt(0) & 0x40) != 0 ? "AVX-512" : "AVX-512VL";
            case 0xc4, 0xc5 -> "AVX2";
            case 0x0f, 0x66, 0xf3 -> "SSE2";
            default -> "unknown";
        };
    }

    /** As the dynamic linker of this process tells it, in the environment of this process. */
    private static String tunable(String name) throws IOException, InterruptedException {
        String linker;
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            linker =
                    mappings.filter(line -> line.matches(".*/ld[^/]*\\.so\\.[0-9]+"))
                            .map(line -> line.substring(line.indexOf('/')))
                            .findFirst()
                            .orElse(null);
        }
        if (linker == null) {
            return "unknown";
        }
        Process listing =
                new ProcessBuilder(linker, "--list-tunables").redirectErrorStream(true).start();
        String lines;
        try (InputStream output = listing.getInputStream()) {
            lines = new String(output.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
        listing.waitFor();
        String found =
                lines.lines()
                        .filter(line -> line.startsWith(name + ": "))
                        .map(line -> line.split(" ")[1])
                        .collect(joining());
        return found.isEmpty() ? "unknown" : found; // glibc before 2.33 lists none
    }
}

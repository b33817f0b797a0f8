package io.softdpu.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tells terminals from files and pipes. */
final class Terminal {
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    private Terminal() {}

    /**
     * True if standard error is a terminal. Java tells this of standard input and output together;
     * the kernel tells it of each.
     */
    static boolean isStandardError() {
        try {
            String device = Files.readSymbolicLink(STANDARD_ERROR).toString();
            return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }
}

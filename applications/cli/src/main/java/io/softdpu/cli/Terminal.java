package io.softdpu.cli;

import io.softdpu.perf.text.TextStyle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The kinds of the standard streams: terminal, file or pipe. */
final class Terminal {
    private static final Path STANDARD_OUTPUT = Path.of("/proc/self/fd/1");
    private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");

    // Of st_mode: inode(7).
    private static final int FILE_TYPE = 0170000;
    private static final int PIPE = 0010000;
    private static final int SOCKET = 0140000;

    private Terminal() {}

    /**
     * True if standard error is a terminal. Java reports this for standard input and output
     * together; the kernel reports it for each.
     */
    static boolean isStandardError() {
        return isTerminal(STANDARD_ERROR);
    }

    /** True if standard output is a terminal. */
    static boolean isStandardOutput() {
        return isTerminal(STANDARD_OUTPUT);
    }

    /** The style of results on standard output. */
    static TextStyle outputStyle() {
        return TextStyle.of(isStandardOutput(), System.getenv());
    }

    private static boolean isTerminal(Path stream) {
        try {
            String device = Files.readSymbolicLink(stream).toString();
            return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }

    /** True if standard output is a pipe or a socket, whose reader may close it. */
    static boolean isStandardOutputPipe() {
        try {
            int mode = (Integer) Files.getAttribute(STANDARD_OUTPUT, "unix:mode");
            return (mode & FILE_TYPE) == PIPE || (mode & FILE_TYPE) == SOCKET;
        } catch (IOException e) {
            return false; // closed
        }
    }
}

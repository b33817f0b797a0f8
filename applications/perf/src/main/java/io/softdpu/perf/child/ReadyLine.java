package io.softdpu.perf.child;

import java.util.OptionalInt;

/**
 * The line on standard output that announces that a role is ready for its peer. Users read it, and
 * a parent that starts the roles one after the other.
 */
public final class ReadyLine {
    private static final String LISTENING = "listening: port=";
    private static final String WAITING = "waiting: commandChannelName=";

    private ReadyLine() {}

    /** The target's line: its TCP port is open. */
    public static String listening(int port) {
        return LISTENING + port;
    }

    /** The service's line: it has its target, and its Comch server is open. */
    public static String waiting(String commandChannelName) {
        return WAITING + commandChannelName;
    }

    /** The port of a target's line; empty if it is another line. */
    public static OptionalInt portOf(String line) {
        if (!line.startsWith(LISTENING)) {
            return OptionalInt.empty();
        }
        String port = line.substring(LISTENING.length());
        return port.matches("\\d{1,5}")
                ? OptionalInt.of(Integer.parseInt(port))
                : OptionalInt.empty();
    }

    /** True for a service's line. */
    public static boolean isWaiting(String line) {
        return line.startsWith(WAITING);
    }
}

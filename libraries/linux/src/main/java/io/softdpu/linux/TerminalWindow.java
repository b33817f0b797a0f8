package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.OptionalInt;

/** The window of a terminal. Any thread. */
public final class TerminalWindow {
    private static final long TIOCGWINSZ = 0x5413;

    /** Offset of the number of columns in a struct winsize. */
    private static final long COLUMNS = 2;

    private static final MethodHandle IOCTL =
            Libc.bindVariadic("ioctl", 2, INT, INT, LONG, POINTER);

    private TerminalWindow() {}

    /**
     * The columns of a terminal.
     *
     * @param fd the descriptor, of any kind
     * @return empty if it is not a terminal, or one that does not know its size
     */
    public static OptionalInt columns(int fd) {
        CallState state = CallState.current();
        int result;
        try {
            result = (int) IOCTL.invokeExact(state.errno, fd, TIOCGWINSZ, state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result != 0) {
            return OptionalInt.empty();
        }
        int columns = Short.toUnsignedInt(state.scratch.get(ValueLayout.JAVA_SHORT, COLUMNS));
        return columns == 0 ? OptionalInt.empty() : OptionalInt.of(columns);
    }
}

package io.softdpu.cli;

import io.softdpu.testkit.Await;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The command line of softdpu as a process that pauses at a given step, so that a signal arrives
 * exactly there: the thread that is about to print a certain line says {@code paused} and goes on
 * when the signal has done what it does, and waits for the command to end.
 */
public final class PausedCommand {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private PausedCommand() {}

    /**
     * Runs the command.
     *
     * @param arguments what is found in the line before which it pauses, as a regular expression,
     *     and the words of the command line
     */
    public static void main(String[] arguments) {
        PrintStream realOutput = System.out;
        Pattern line = Pattern.compile(arguments[0]);
        System.setOut(new PrintStream(new Pausing(System.out, line, realOutput), true));
        System.setErr(new PrintStream(new Pausing(System.err, line, realOutput), true));
        String[] command = new String[arguments.length - 1];
        System.arraycopy(arguments, 1, command, 0, command.length);
        SoftDpu.main(command);
    }

    /** Forwards whole lines, and pauses before the first that matches. */
    private static final class Pausing extends FilterOutputStream {
        private final Pattern awaited;
        private final PrintStream news;
        private final StringBuilder line = new StringBuilder();
        private boolean paused;

        Pausing(OutputStream out, Pattern awaited, PrintStream news) {
            super(out);
            this.awaited = awaited;
            this.news = news;
        }

        @Override
        public synchronized void write(int octet) throws IOException {
            line.append((char) (octet & 0xff));
            if (octet == '\n') {
                if (!paused && awaited.matcher(line).find()) {
                    paused = true;
                    news.println("paused");
                    Await.until("a signal has come", PausedCommand::hasSignalCome);
                }
                out.write(line.toString().getBytes(StandardCharsets.ISO_8859_1));
                out.flush();
                line.setLength(0);
            }
        }
    }

    /**
     * Whoever got it waits for this command to end, or for a lock of the thread that pauses. Not
     * for anything else: it also waits a moment where both load classes, before it has done what it
     * does.
     */
    private static boolean hasSignalCome() {
        ThreadInfo[] all = THREADS.getThreadInfo(THREADS.getAllThreadIds(), Integer.MAX_VALUE);
        return Stream.of(all)
                .filter(Objects::nonNull) // has ended since
                .filter(thread -> thread.getThreadName().equals("softdpu-signal"))
                .anyMatch(thread ->
                        thread.getLockOwnerId() == Thread.currentThread().threadId()
                                || isAwaitingTheEnd(thread));
    }

    private static boolean isAwaitingTheEnd(ThreadInfo thread) {
        return thread.getThreadState() == Thread.State.TIMED_WAITING
                && Stream.of(thread.getStackTrace())
                        .map(StackTraceElement::getClassName)
                        .anyMatch(CountDownLatch.class.getName()::equals);
    }
}

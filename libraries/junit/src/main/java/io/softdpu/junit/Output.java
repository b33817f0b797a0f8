package io.softdpu.junit;

import io.softdpu.core.process.LineReader;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Last lines of a stream of a process, read by a thread of its own: how much a process prints is
 * its own choice, and the memory is that of the test. Any thread.
 */
final class Output {
    /** Limit of the characters of a line; longer ones are cut. */
    static final int MAX_LINE_CHARACTERS = 4096;

    /** Limit of the kept lines. */
    static final int MAX_LINES = 10_000;

    /** Limit of the characters of all kept lines: 4 to 8 MiB. */
    static final int MAX_CHARACTERS = 4 << 20;

    /** Line number N is in element N % MAX_LINES. */
    private final @Nullable String[] lines = new @Nullable String[MAX_LINES];

    /** Number of the first line that is kept, and of the next that comes. */
    private long first;

    private long added;
    private int characters;

    /** Number of the line after the last that was awaited. */
    private long next;

    private boolean ended;

    Output(InputStream from, String threadName) {
        Thread reader = new Thread(() -> read(from), "softdpu-junit-" + threadName);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(InputStream from) {
        try (LineReader reader =
                new LineReader(
                        new InputStreamReader(from, StandardCharsets.UTF_8), MAX_LINE_CHARACTERS)) {
            for (String line = reader.next(); line != null; line = reader.next()) {
                add(line);
            }
        } catch (IOException e) {
            add("(output has ended early: " + Reason.of(e) + ")");
        } finally {
            end();
        }
    }

    synchronized void add(String line) {
        while (added - first == MAX_LINES || characters > MAX_CHARACTERS - line.length()) {
            characters -= line(first).length();
            lines[slot(first++)] = null;
        }
        lines[slot(added++)] = line;
        characters += line.length();
        notifyAll();
    }

    private static int slot(long number) {
        return (int) (number % MAX_LINES);
    }

    private String line(long number) {
        String line = lines[slot(number)];
        if (line == null) {
            throw new AssertionError("line is not kept: number=" + number);
        }
        return line;
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** Number of lines that came and are not kept any more. */
    synchronized long dropped() {
        return first;
    }

    /** The lines that are kept. */
    synchronized List<String> lines() {
        List<String> kept = new ArrayList<>();
        for (long number = first; number < added; number++) {
            kept.add(line(number));
        }
        return List.copyOf(kept);
    }

    /** The next wanted line; null when the stream has ended or the time is over before one. */
    synchronized @Nullable String awaitNext(Predicate<String> wanted, Duration timeout) {
        long start = System.nanoTime();
        while (true) {
            next = Math.max(next, first);
            while (next < added) {
                String line = line(next++);
                if (wanted.test(line)) {
                    return line;
                }
            }
            if (ended || !await(start, timeout)) {
                return null;
            }
        }
    }

    /** Whether the stream has ended: no line comes after those that are here. */
    synchronized boolean hasEnded() {
        return ended;
    }

    /** Waits for the end of the stream; a process that it has started may keep it open. */
    synchronized void awaitEnd(Duration timeout) {
        long start = System.nanoTime();
        while (!ended) {
            if (!await(start, timeout)) {
                return;
            }
        }
    }

    /** Waits for a change; false when the time is over. */
    private boolean await(long start, Duration timeout) {
        long leftNanos = TimeUnit.NANOSECONDS.convert(timeout) - (System.nanoTime() - start);
        if (leftNanos <= 0) {
            return false;
        }
        try {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(leftNanos, 1_000_000));
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for output", e);
        }
    }
}

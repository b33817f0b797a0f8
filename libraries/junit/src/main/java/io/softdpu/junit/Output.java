package io.softdpu.junit;

import java.io.BufferedReader;
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

/** Lines of a stream of a process, read by a thread of its own. Any thread. */
final class Output {
    private final List<String> lines = new ArrayList<>();
    private int next;
    private boolean ended;

    Output(InputStream from, String threadName) {
        Thread reader = new Thread(() -> read(from), "softdpu-junit-" + threadName);
        reader.setDaemon(true);
        reader.start();
    }

    private void read(InputStream from) {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            add("(output has ended early: " + e.getMessage() + ")");
        } finally {
            end();
        }
    }

    synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    /** The next wanted line; null when the stream has ended or the time is over before one. */
    synchronized @Nullable String awaitNext(Predicate<String> wanted, Duration timeout) {
        long start = System.nanoTime();
        while (true) {
            while (next < lines.size()) {
                String line = lines.get(next++);
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
        long leftNanos = timeout.toNanos() - (System.nanoTime() - start);
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

package io.softdpu.testkit;

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

/** The lines of a stream of a process, collected by a thread of its own. Any thread. */
final class Output {

    private final List<String> lines = new ArrayList<>();
    private boolean ended;

    Output(InputStream from, String threadName) {
        Thread reader = new Thread(() -> read(from), "testkit-" + threadName);
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
            // A killed process may take its pipe with it; the test sees that it has ended.
            add("testkit: output broke off: " + e.getMessage());
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

    /** The first line that fits, or null when the stream ends or the deadline passes before. */
    synchronized @Nullable String await(Predicate<String> wanted, Duration deadline)
            throws InterruptedException {
        long start = System.nanoTime();
        int looked = 0;
        while (true) {
            for (; looked < lines.size(); looked++) {
                if (wanted.test(lines.get(looked))) {
                    return lines.get(looked);
                }
            }
            if (ended || !waitUntil(start, deadline)) {
                return null;
            }
        }
    }

    synchronized void awaitEnd() throws InterruptedException {
        long start = System.nanoTime();
        while (!ended) {
            if (!waitUntil(start, Patience.DEADLINE)) {
                // A descendant holds the pipe; closing the process kills it, too.
                return;
            }
        }
    }

    /** Waits for a change; false when the deadline has passed. */
    private boolean waitUntil(long start, Duration deadline) throws InterruptedException {
        long leftNanos = deadline.toNanos() - (System.nanoTime() - start);
        if (leftNanos <= 0) {
            return false;
        }
        TimeUnit.NANOSECONDS.timedWait(this, Math.max(leftNanos, 1_000_000));
        return true;
    }
}

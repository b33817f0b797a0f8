package io.softdpu.fabric.link;

import io.softdpu.fabric.thread.BusLoop;
import io.softdpu.fabric.thread.BusWatch;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Limit of the system calls by which the bus thread serves the doorbells of several links together,
 * however many they are and however often their peers ring: {@value #CALLS_PER_INTERVAL} per
 * millisecond. A doorbell beyond that waits in its socket, and its link takes turns with others in
 * a queue: none is lost, and none waits longer than one turn of each other link.
 *
 * <p>A turn drains up to {@value io.softdpu.linux.Doorbell#DRAIN_LIMIT} doorbells and serves them
 * at once. The calls of a turn are known after it; what it takes beyond the limit is subtracted
 * from the next millisecond.
 *
 * <p>On the bus thread.
 */
public final class DoorbellBudget {
    /** Limit of system calls per interval. */
    public static final int CALLS_PER_INTERVAL = 256;

    private static final long INTERVAL_NANOS = 1_000_000;

    /** Links that have waited longest first. */
    private final ArrayDeque<Link> waiting = new ArrayDeque<>();

    private final Turns turns = new Turns();
    private long refilledAtNanos = System.nanoTime();
    private int left = CALLS_PER_INTERVAL;

    /** Deadline of the next turns; null while no link waits. */
    private @Nullable BusWatch watch;

    /** Creates a budget of which nothing is used. */
    public DoorbellBudget() {
        // All fields have their first values.
    }

    /** A link has a doorbell: serves it now, or in its turn. */
    void ready(Link link) {
        if (waiting.isEmpty() && isLeft()) {
            if (link.takeTurn() == Link.Turn.ENDED) {
                link.listenOnBus(false); // its end is reported without that
            }
            return;
        }
        link.listenOnBus(false);
        use(1);
        waiting.add(link);
        if (watch == null) {
            watch = link.loop().join(turns);
            awaitNextInterval(watch);
        }
    }

    /** Counts system calls of the bus thread that doorbells of these links have caused. */
    void use(int calls) {
        left -= calls;
    }

    /** A link has ended, or is not to be served any more. */
    void forget(Link link) {
        if (waiting.remove(link) && waiting.isEmpty()) {
            endWatch();
        }
    }

    private boolean isLeft() {
        long intervals = (System.nanoTime() - refilledAtNanos) / INTERVAL_NANOS;
        if (intervals > 0) {
            refilledAtNanos += intervals * INTERVAL_NANOS;
            left = (int) Math.min(CALLS_PER_INTERVAL, left + intervals * CALLS_PER_INTERVAL);
        }
        return left > 0;
    }

    private void awaitNextInterval(BusWatch of) {
        of.setDeadline(refilledAtNanos + INTERVAL_NANOS);
    }

    private void endWatch() {
        BusWatch ended = watch;
        if (ended != null) {
            watch = null;
            ended.end();
        }
    }

    /** Turns of the links that wait. */
    private final class Turns implements BusLoop.Handler {
        @Override
        public void onEvents(int events) {
            // It has no descriptor.
        }

        @Override
        public void onDeadline() {
            while (!waiting.isEmpty() && isLeft()) {
                Link link = waiting.remove();
                switch (link.takeTurn()) {
                    case SERVED -> waiting.add(link); // there may be more: the next time
                    case IDLE -> {
                        link.listenOnBus(true);
                        use(1);
                    }
                    case ENDED -> {
                        // Its end is reported without listening for doorbells.
                    }
                }
            }
            BusWatch open = watch;
            if (open == null) {
                return;
            }
            if (waiting.isEmpty()) {
                endWatch();
            } else {
                awaitNextInterval(open);
            }
        }

        @Override
        public void onShutdown() {
            watch = null;
            waiting.clear();
        }
    }
}

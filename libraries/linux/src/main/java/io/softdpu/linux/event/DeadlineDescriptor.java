package io.softdpu.linux.event;

import io.softdpu.linux.Epoll;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.TimerFd;

/**
 * Timerfd of a poller: ends its waits, and makes its epoll readable at the nearest deadline for
 * event loops of the program.
 *
 * <p>A wait that ends before its timeout leaves it armed, and a later wait with a later end keeps
 * it: waits of a second each that end after microseconds then cost one system call per second.
 */
final class DeadlineDescriptor {
    private final int fd;
    private boolean armed;
    private boolean following;

    /** Deadline that it is armed for; unspecified unless armed. */
    private long deadlineNanos;

    DeadlineDescriptor(Epoll epoll, long key) {
        fd = TimerFd.create();
        try {
            epoll.add(fd, Epoll.IN, key);
        } catch (RuntimeException e) {
            FileDescriptors.close(fd);
            throw e;
        }
    }

    /**
     * Makes it readable at the deadline or before; whether the deadline is still to come. Where an
     * earlier one has passed it is armed for this one and no longer readable.
     */
    boolean arm(long nanos) {
        long nowNanos = System.nanoTime();
        if (nanos - nowNanos <= 0) {
            return false;
        }
        boolean sooner = armed && deadlineNanos - nowNanos > 0 && deadlineNanos - nanos <= 0;
        if (!sooner) {
            armAt(nanos, nowNanos);
        }
        return true;
    }

    private void armAt(long nanos, long nowNanos) {
        TimerFd.arm(fd, Math.max(1, nanos - nowNanos));
        deadlineNanos = nanos;
        armed = true;
    }

    void disarm() {
        if (armed) {
            TimerFd.disarm(fd);
            armed = false;
        }
    }

    void setFollowing(boolean following) {
        this.following = following;
    }

    /** Arms it for the nearest deadline if it follows deadlines; once per deadline. */
    void follow(TimerQueue timers) {
        if (!following) {
            return;
        }
        if (timers.isEmpty()) {
            disarm();
            return;
        }
        long nearestNanos = timers.first().deadlineNanos;
        if (!armed || deadlineNanos != nearestNanos) {
            armAt(nearestNanos, System.nanoTime());
        }
    }

    void close() {
        following = false;
        armed = false;
        FileDescriptors.close(fd);
    }
}

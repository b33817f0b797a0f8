package io.softdpu.linux.event;

import io.softdpu.linux.Epoll;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.TimerFd;

/**
 * Timerfd of a poller: ends its waits if epoll_pwait2 is missing, and makes its epoll readable at
 * the nearest deadline for event loops of the program. Opened at the first use.
 */
final class DeadlineDescriptor {
    private final Epoll epoll;
    private final long key;
    private int fd = -1;
    private boolean armed;
    private boolean following;

    /** Deadline that it is armed for; unspecified unless armed and following. */
    private long deadlineNanos;

    DeadlineDescriptor(Epoll epoll, long key) {
        this.epoll = epoll;
        this.key = key;
    }

    void open() {
        if (fd >= 0) {
            return;
        }
        int made = TimerFd.create();
        try {
            epoll.add(made, Epoll.IN, key);
        } catch (RuntimeException e) {
            FileDescriptors.close(made);
            throw e;
        }
        fd = made;
    }

    void arm(long delayNanos) {
        TimerFd.arm(fd, delayNanos);
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
            deadlineNanos = nearestNanos;
            arm(Math.max(1, nearestNanos - System.nanoTime()));
        }
    }

    void close() {
        following = false;
        armed = false;
        if (fd >= 0) {
            FileDescriptors.close(fd);
            fd = -1;
        }
    }
}

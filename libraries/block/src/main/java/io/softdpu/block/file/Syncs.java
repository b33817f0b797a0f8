package io.softdpu.block.file;

import io.softdpu.core.Status;
import io.softdpu.linux.LinuxException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;

/**
 * Syncs of a device: one at a time for all of its channels, by one open file, each serving all
 * groups that want one when it begins. Done by threads of the device.
 *
 * <p>The kernel reports a lost page once per open file, and not to one that is opened after another
 * has seen the report; a disk reports a failed flush of its cache to that flush alone. So a single
 * open file syncs, which was open before any that writes, and nothing else takes its reports. A
 * failure is noted before a further sync can begin, and then none begins any more. It is noted by
 * the thread that has met it, and does not wait for the engine of a channel.
 */
final class Syncs {
    private final Runnable call;
    private final IntConsumer onFailure;

    /** Groups of the channels; replaced by another array when one is opened or closed. */
    private volatile SyncGroup[] groups = new SyncGroup[0];

    private final AtomicBoolean busy = new AtomicBoolean();
    private volatile boolean failed;

    /**
     * Creates the syncs of a device.
     *
     * @param call makes durable what was written; throws a LinuxException if that was lost
     * @param onFailure is told the errno of the first failure, before any request ends with it
     */
    Syncs(Runnable call, IntConsumer onFailure) {
        this.call = call;
        this.onFailure = onFailure;
    }

    /** Begins to serve a group. Any thread. */
    synchronized void add(SyncGroup group) {
        List<SyncGroup> all = new ArrayList<>(List.of(groups));
        all.add(group);
        groups = all.toArray(new SyncGroup[0]);
    }

    /** Ends that, for a group that is idle. Any thread. */
    synchronized void remove(SyncGroup group) {
        List<SyncGroup> all = new ArrayList<>(List.of(groups));
        all.remove(group);
        groups = all.toArray(new SyncGroup[0]);
    }

    /** Whether one has failed, so that none succeeds any more. Any thread. */
    boolean hasFailed() {
        return failed;
    }

    /** Takes a loss that another has learned of for a sync that has failed. Any thread. */
    void fail() {
        failed = true;
    }

    /** Whether a sync is wanted, and none is under way. Any thread. */
    boolean isWanted() {
        return !busy.get() && isWanted(groups);
    }

    private static boolean isWanted(SyncGroup[] all) {
        for (SyncGroup group : all) {
            if (group.isWanted()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Does a sync if one is wanted and none is under way. Any thread.
     *
     * @return whether it did; one may be wanted again then
     */
    boolean work() {
        if (!isWanted() || !busy.compareAndSet(false, true)) {
            return false;
        }
        SyncGroup[] all = groups;
        for (SyncGroup group : all) {
            group.begin();
        }
        try {
            sync();
        } finally {
            Status ended = failed ? Status.IO_FAILED : Status.SUCCESS;
            for (SyncGroup group : all) {
                group.end(ended);
            }
            busy.set(false);
        }
        return true;
    }

    private void sync() {
        if (failed) {
            return;
        }
        boolean durable = false;
        try {
            call.run();
            durable = true;
        } catch (LinuxException e) { // of whatever errno: the report was taken, and is not repeated
            failed = true;
            onFailure.accept(e.errno());
        } finally {
            if (!durable) {
                failed = true; // an error of this program has ended it
            }
        }
    }
}

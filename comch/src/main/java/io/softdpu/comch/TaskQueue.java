package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A queue of producer sends with room for all that there are. One thread; allocates nothing. */
final class TaskQueue {
    private final @Nullable ComchProducerSendTask[] tasks;
    private final int mask;
    private int head;
    private int count;

    TaskQueue(int capacity) {
        tasks = new @Nullable ComchProducerSendTask[ChannelLimits.roundUpToPowerOfTwo(capacity)];
        mask = tasks.length - 1;
    }

    int size() {
        return count;
    }

    boolean isEmpty() {
        return count == 0;
    }

    void add(ComchProducerSendTask task) {
        int place = (head + count) & mask;
        if (tasks[place] != task) { // often the same task again, and a look costs less than a store
            tasks[place] = task;
        }
        count++;
    }

    /** The oldest; only of a queue that is not empty. */
    ComchProducerSendTask peek() {
        return Objects.requireNonNull(tasks[head], "queue is empty");
    }

    /** The one at this place, 0 for the oldest. */
    ComchProducerSendTask get(int index) {
        return Objects.requireNonNull(tasks[(head + index) & mask], "beyond the end");
    }

    /** Takes the oldest; only of a queue that is not empty. */
    ComchProducerSendTask remove() {
        ComchProducerSendTask task = peek(); // stays there: the pool keeps it alive anyway
        head = (head + 1) & mask;
        count--;
        return task;
    }
}

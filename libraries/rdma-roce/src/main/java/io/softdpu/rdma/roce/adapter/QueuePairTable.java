package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.ConnectionCounter;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs of an adapter by their numbers. The low bits of a number are the place in the table,
 * the others count the uses of the place: so a number comes back after all others of its place, and
 * of all places the one that has been free for the longest is used next.
 */
final class QueuePairTable {
    private static final int RESERVED_NUMBERS = 2; // 0 and 1: management

    private final @Nullable QueuePair[] places;
    private final int[] numbers;
    private final int mask;
    private final int[] free;
    private int firstFree;
    private int freeCount;

    QueuePairTable(int size, int firstNumber) {
        places = new @Nullable QueuePair[size];
        numbers = new int[size];
        mask = size - 1;
        free = new int[size];
        freeCount = size;
        for (int i = 0; i < size; i++) {
            int number = SequenceNumber.add(firstNumber, i);
            free[i] = number & mask;
            numbers[number & mask] = number;
        }
    }

    /** Number for the next queue pair; -1 if there is no place. */
    int takeNumber() {
        if (freeCount == 0) {
            return -1;
        }
        int place = free[firstFree];
        firstFree = firstFree + 1 & mask;
        freeCount--;
        int number = numbers[place];
        while (number < RESERVED_NUMBERS) {
            number = SequenceNumber.add(number, places.length);
        }
        numbers[place] = SequenceNumber.add(number, places.length);
        return number;
    }

    void put(QueuePair queuePair) {
        places[queuePair.number() & mask] = queuePair;
    }

    /** The queue pair of a number; null if there is none. */
    @Nullable QueuePair get(int number) {
        QueuePair queuePair = places[number & mask];
        return queuePair == null || queuePair.number() != number ? null : queuePair;
    }

    /** Removes a queue pair; returns whether it was there. */
    boolean remove(QueuePair queuePair) {
        int place = queuePair.number() & mask;
        if (places[place] != queuePair) {
            return false;
        }
        places[place] = null;
        free[firstFree + freeCount & mask] = place;
        freeCount++;
        return true;
    }

    /** Adds the counts of all queue pairs, each at the place of its {@link ConnectionCounter}. */
    void addCounts(long[] into) {
        for (QueuePair each : places) {
            if (each != null) {
                each.counters().addTo(into);
            }
        }
    }

    int count() {
        return places.length - freeCount;
    }
}

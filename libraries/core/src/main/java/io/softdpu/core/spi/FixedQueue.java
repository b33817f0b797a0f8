package io.softdpu.core.spi;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * First-in, first-out queue of bounded size for the objects of a pool: tasks, requests, copies.
 * Allocates nothing after its construction. One thread.
 *
 * <p>A removed element stays in its slot until another is stored there: the pool keeps it alive
 * anyway, and often the same object is stored there again, which a comparison detects at less than
 * the cost of a store.
 *
 * @param <T> type of the elements
 */
public final class FixedQueue<T> {
    private static final int MAX_CAPACITY = 1 << 30;

    private final @Nullable Object[] elements;
    private final int mask;
    private final int capacity;
    private int head;
    private int size;

    /**
     * Creates an empty queue.
     *
     * @param capacity limit of elements, 0 or more
     */
    public FixedQueue(int capacity) {
        if (capacity < 0 || capacity > MAX_CAPACITY) {
            throw new IllegalArgumentException(
                    "queue cannot be created: capacity="
                            + capacity
                            + ", expected=0 to "
                            + MAX_CAPACITY);
        }
        int places = capacity <= 1 ? 1 : Integer.highestOneBit(capacity - 1) << 1;
        this.elements = new @Nullable Object[places];
        this.mask = places - 1;
        this.capacity = capacity;
    }

    /** Number of elements. */
    public int size() {
        return size;
    }

    /** Whether there is no element. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Whether it has as many elements as its capacity. */
    public boolean isFull() {
        return size == capacity;
    }

    /**
     * Adds the newest element.
     *
     * @throws IllegalStateException if the queue is full
     */
    @SuppressWarnings("ReferenceEquality") // elements are objects, not values
    public void add(T element) {
        if (size == capacity) {
            throw new IllegalStateException("queue is full: capacity=" + capacity);
        }
        int place = (head + size) & mask;
        if (elements[place] != element) {
            elements[place] = element;
        }
        size++;
    }

    /**
     * The oldest element, which stays.
     *
     * @throws IndexOutOfBoundsException if there is none
     */
    public T peek() {
        return get(0);
    }

    /**
     * An element by its age.
     *
     * @param index 0 for the oldest
     * @throws IndexOutOfBoundsException if there are fewer elements
     */
    @SuppressWarnings("unchecked") // only elements are stored
    public T get(int index) {
        Objects.checkIndex(index, size);
        return (T) Objects.requireNonNull(elements[(head + index) & mask], "an element");
    }

    /**
     * Removes the oldest element.
     *
     * @throws IndexOutOfBoundsException if there is none
     */
    public T remove() {
        T element = get(0);
        head = (head + 1) & mask;
        size--;
        return element;
    }

    /** Removes the oldest element; null if there is none. */
    public @Nullable T poll() {
        return size == 0 ? null : remove();
    }
}

package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import org.jspecify.annotations.Nullable;

/**
 * The list that begins with a buf, or that buf alone: its elements, and what a task does with them.
 * Each buf has one, made with it, and is in its own or in that of its head. The bufs of a list are
 * linked by {@link Buf#next}. The thread that has the bufs.
 */
@SuppressWarnings("ReferenceEquality") // bufs are objects, not values
final class BufList {
    /** What a task does with a list. */
    enum Use {
        /** The user's. */
        NONE,
        /** A task reads it. */
        SOURCE,
        /** A task writes it. */
        DESTINATION
    }

    private final Buf head;
    private Buf last;
    private int length = 1;
    private Use use = Use.NONE;

    BufList(Buf head) {
        this.head = head;
        this.last = head;
    }

    Buf last() {
        return last;
    }

    int length() {
        return length;
    }

    boolean isInFlight() {
        return use != Use.NONE;
    }

    /** Puts another list behind this one; its elements are in this one then. */
    void append(BufList list) {
        last.next = list.head;
        last = list.last;
        length += list.length;
        list.moveElements(this);
    }

    /** Takes out an element behind the head, and all those behind it, into that element's list. */
    void split(BufList list) {
        Buf before = head;
        int kept = 1;
        while (before.next != null && before.next != list.head) {
            before = before.next;
            kept++;
        }
        list.last = last;
        list.length = length - kept;
        before.next = null;
        last = before;
        length = kept;
        list.moveElements(list);
    }

    /** Ends the list: its head stands alone again. */
    void clear() {
        last = head;
        length = 1;
    }

    private void moveElements(BufList to) {
        for (@Nullable Buf element = head; element != null; element = element.next) {
            element.within = to;
        }
    }

    /**
     * Takes the list for a task.
     *
     * @return SUCCESS; INVALID_VALUE if it is longer; IN_USE if a task has it already
     */
    Status take(Use by, int maxLength) {
        if (use != Use.NONE) {
            return Status.IN_USE;
        }
        if (length > maxLength) {
            return Status.INVALID_VALUE;
        }
        use = by;
        return Status.SUCCESS;
    }

    /** Gives the list back to the user. */
    void giveBack() {
        use = Use.NONE;
    }

    /**
     * Refuses a buf behind the head.
     *
     * @throws DpuException NOT_PERMITTED if it is not the head
     */
    void requireHead(Buf buf) {
        if (head != buf) {
            throw new DpuException(
                    Status.NOT_PERMITTED,
                    "buf is in a list behind its head: buf=%s, listLength=%d"
                            .formatted(buf, length));
        }
    }
}

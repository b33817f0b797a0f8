package io.softdpu.core.memory;

import org.jspecify.annotations.Nullable;

/**
 * Linking of bufs into lists. The links are fields of the bufs: each references its head and the
 * next element, and a head its last element and the length. So a task accesses one object for a buf
 * or a list. The thread that has the bufs.
 */
@SuppressWarnings("ReferenceEquality") // bufs are objects, not values
final class BufList {
    private BufList() {}

    /** Appends a list to another; both are given by their heads. */
    static void append(Buf head, Buf list) {
        head.last.next = list;
        head.last = list.last;
        head.listLength += list.listLength;
        setHead(list, head);
        head.setListed(true);
    }

    /** Splits a list at an element after the head. */
    static void split(Buf head, Buf list) {
        Buf before = head;
        int kept = 1;
        while (before.next != null && before.next != list) {
            before = before.next;
            kept++;
        }
        list.last = head.last;
        list.listLength = head.listLength - kept;
        before.next = null;
        head.last = before;
        head.listLength = kept;
        setHead(list, list);
        head.setListed(kept > 1);
    }

    /** Clears the links of one element. */
    static void clear(Buf element) {
        element.head = element;
        element.next = null;
        element.last = element;
        element.listLength = 1;
        element.setListed(false);
    }

    private static void setHead(Buf first, Buf head) {
        boolean listed = head.listLength > 1;
        for (@Nullable Buf element = first; element != null; element = element.next) {
            element.head = head;
            element.setListed(listed);
        }
    }
}

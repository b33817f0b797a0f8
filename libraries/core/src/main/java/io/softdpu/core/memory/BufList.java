package io.softdpu.core.memory;

import org.jspecify.annotations.Nullable;

/**
 * Linking of bufs into lists. The links are fields of the bufs: each names its head and what
 * follows it, and a head its last element and how many there are. So a task that takes a buf, alone
 * or with its list, looks at that one object. The thread that has the bufs.
 */
@SuppressWarnings("ReferenceEquality") // bufs are objects, not values
final class BufList {
    private BufList() {}

    /** Puts a list behind another; both are named by their heads. */
    static void append(Buf head, Buf list) {
        head.last.next = list;
        head.last = list.last;
        head.listLength += list.listLength;
        setHead(list, head);
    }

    /** Takes an element behind the head out, and all those behind it: a list of its own then. */
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
    }

    /** Ends the links of one element. */
    static void clear(Buf element) {
        element.head = element;
        element.next = null;
        element.last = element;
        element.listLength = 1;
    }

    private static void setHead(Buf first, Buf head) {
        for (@Nullable Buf element = first; element != null; element = element.next) {
            element.head = head;
        }
    }
}

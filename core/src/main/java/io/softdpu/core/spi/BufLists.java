package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.MemoryAccess;
import io.softdpu.core.memory.Buf;
import org.jspecify.annotations.Nullable;

/**
 * A list of bufs taken as one piece of memory, for the libraries that move its bytes: what its
 * elements hold together, and how much can be written to them.
 *
 * <p>A buf that is in no list is a list of one. Elements are gone through with {@code
 * buf.nextInList()} from the head on. The whole list is marked by {@link Regions#markSource} or
 * {@link Regions#markDestination} on its head. On the thread that has the bufs; allocates nothing.
 */
public final class BufLists {
    private static final MemoryAccess MEMORY = MemoryAccess.get();

    private BufLists() {}

    /** How much data its elements have, together: what a task reads. */
    public static long dataLength(Buf list) {
        long sum = 0;
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            sum = saturatedAdd(sum, element.dataLength());
        }
        return sum;
    }

    /** How much can still be written behind the data of its elements, together. */
    public static long tailroom(Buf list) {
        long sum = 0;
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            sum = saturatedAdd(sum, element.tailroom());
        }
        return sum;
    }

    /**
     * Counts bytes that were written into the tailrooms, the first element's to its end, then the
     * second's, and so on: their data lengths grow by them.
     *
     * @throws DpuException INVALID_VALUE if all tailrooms together are smaller; nothing has changed
     *     then
     */
    public static void appendData(Buf list, long sizeBytes) {
        if (sizeBytes < 0 || sizeBytes > tailroom(list)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "more data than tailroom: sizeBytes=%d, tailroom=%d, listLength=%d"
                            .formatted(sizeBytes, tailroom(list), list.listLength()));
        }
        long left = sizeBytes;
        for (@Nullable Buf element = list;
                element != null && left > 0;
                element = element.nextInList()) {
            long here = Math.min(left, element.tailroom());
            MEMORY.appendData(element, here);
            left -= here;
        }
    }

    /** Elements may overlap, so that many large ones come to more than there is memory. */
    private static long saturatedAdd(long sum, long more) {
        return sum > Long.MAX_VALUE - more ? Long.MAX_VALUE : sum + more;
    }
}

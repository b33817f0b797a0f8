package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.Regions;
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
    private static final Regions<Mmap, Buf, Permissions, Device> REGIONS = MemoryServices.regions();

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
            REGIONS.appendData(element, here);
            left -= here;
        }
    }

    /**
     * Whether the device may use all elements so, as {@link Regions#checkUse(Object, Object,
     * Object)} says it of one; of neighbours in one mmap the first is asked.
     *
     * @return SUCCESS, or why the first element cannot be used that cannot
     */
    @SuppressWarnings("ReferenceEquality") // mmaps are objects, not values
    public static Status checkUse(Buf list, Device device, Permissions needed) {
        @Nullable Mmap asked = null;
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            Mmap mmap = element.mmap();
            if (mmap != asked) {
                Status status = REGIONS.checkUse(mmap, device, needed);
                if (status != Status.SUCCESS) {
                    return status;
                }
                asked = mmap;
            }
        }
        return Status.SUCCESS;
    }

    /**
     * A list in the message with which a task is refused: what it is, how long it is and may be.
     *
     * @param argument what the task calls it: {@code source}
     * @param list the head of the list, or null
     * @param maxListLength how many elements the library accepts
     * @return {@code ", source=buf[...], maxListLength=1"}
     */
    public static String describe(String argument, @Nullable Buf list, int maxListLength) {
        return ", %s=%s, maxListLength=%d".formatted(argument, list, maxListLength);
    }

    /** Elements may overlap, so that many large ones come to more than there is memory. */
    private static long saturatedAdd(long sum, long more) {
        return sum > Long.MAX_VALUE - more ? Long.MAX_VALUE : sum + more;
    }
}

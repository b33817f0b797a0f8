package io.softdpu.core.spi;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.core.memory.Buf;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * Operations on a list of bufs as a whole, for libraries: its data length and tailroom.
 *
 * <p>A buf in no list is a list of one. Iterate with {@code buf.nextInList()} from the head. The
 * whole list is marked by {@link Regions#markSource} or {@link Regions#markDestination} on its
 * head. On the thread that has the bufs; allocates nothing.
 */
public final class BufLists {

    private BufLists() {}

    /** Sum of the data lengths of its elements, which a task reads. */
    public static long dataLength(Buf list) {
        long sum = 0;
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            sum = saturatedAdd(sum, element.dataLength());
        }
        return sum;
    }

    /** Sum of the tailrooms of its elements. */
    public static long tailroom(Buf list) {
        long sum = 0;
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            sum = saturatedAdd(sum, element.tailroom());
        }
        return sum;
    }

    /**
     * Adds bytes that were written into the tailrooms, in the order of the elements, to their data
     * lengths.
     *
     * @throws DpuException INVALID_VALUE, without effect, if the sum of the tailrooms is smaller
     */
    public static void appendData(Buf list, long sizeBytes) {
        if (sizeBytes < 0 || sizeBytes > tailroom(list)) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "more data than tailroom: sizeBytes=%d, tailroom=%d, listLength=%d",
                            sizeBytes, tailroom(list), list.listLength()));
        }
        long left = sizeBytes;
        for (@Nullable Buf element = list;
                element != null && left > 0;
                element = element.nextInList()) {
            long here = Math.min(left, element.tailroom());
            Regions.appendData(element, here);
            left -= here;
        }
    }

    // ---- refusals that are common to the libraries ----

    /**
     * The refusal of a buf without references.
     *
     * @param operand its name in the task: {@code source}
     */
    public static Refusal released(String operand, Buf buf) {
        return Refusal.of(
                Status.BAD_STATE, "buf was released: %s=%s, expected=a buf in use", operand, buf);
    }

    /**
     * The refusal of a list with less tailroom than a task writes.
     *
     * @param operand its name in the task: {@code destination}
     */
    public static Refusal tooLittleTailroom(String operand, Buf list, long neededBytes) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "tailroom %d < %d: %s=%s, expected=tailroom for all the data: a buf by address"
                        + " (bufByAddress, where bufByData leaves none), or Buf.resetDataLength",
                tailroom(list),
                neededBytes,
                operand,
                list);
    }

    /**
     * The refusal of a list with more data than the library moves at a time.
     *
     * @param operand its name in the task: {@code source}
     */
    public static Refusal tooMuchData(String operand, Buf list, long limitBytes) {
        return Refusal.of(
                Status.INVALID_VALUE,
                "data length %d > %d: %s=%s, expected=%d bytes at most",
                dataLength(list),
                limitBytes,
                operand,
                list,
                limitBytes);
    }

    /** Adds without overflow: overlapping elements may sum up to more than the memory. */
    private static long saturatedAdd(long sum, long more) {
        return sum > Long.MAX_VALUE - more ? Long.MAX_VALUE : sum + more;
    }
}

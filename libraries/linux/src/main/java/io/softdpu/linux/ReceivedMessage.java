package io.softdpu.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * Reusable buffer for one message of a Unix socket and its descriptors. One thread at a time.
 *
 * <p>Descriptors belong to this object until they are taken; {@link #close} and the next receive
 * close those that were not. A message that does not fit, in bytes or in descriptors, is {@link
 * #truncated}: its bytes are cut and none of its descriptors is kept, since their order would be
 * unknown.
 */
public final class ReceivedMessage implements AutoCloseable {
    /** Alignment of all structures in the buffer. */
    static final int ALIGNMENT = 8;

    private static final int MSG_TRUNC = 0x20;

    /** Control data was truncated. */
    static final int MSG_CTRUNC = 8;

    private static final int SOL_SOCKET = 1;

    /** Marks a descriptor that was taken. */
    private static final int TAKEN = -1;

    private final MemorySegment header;
    private final MemorySegment control;
    private final MemorySegment data;
    private final int[] descriptors;
    private final IntConsumer disposal;
    private int descriptorCount;
    private int length;
    private boolean truncated;
    private boolean tableFull;

    /**
     * Allocates the buffer.
     *
     * @param maxBytes longest message that fits, above 0
     * @param maxDescriptors most descriptors that fit, 0 to {@link
     *     DescriptorPassing#MAX_DESCRIPTORS}
     */
    public ReceivedMessage(int maxBytes, int maxDescriptors) {
        this(maxBytes, maxDescriptors, FileDescriptors::close);
    }

    /**
     * Allocates the buffer.
     *
     * @param maxBytes length of the longest message, above 0
     * @param maxDescriptors limit of descriptors, 0 to {@link DescriptorPassing#MAX_DESCRIPTORS}
     * @param disposal called with each descriptor that is not taken, instead of a close here:
     *     closing one that a peer has sent may block
     */
    public ReceivedMessage(int maxBytes, int maxDescriptors, IntConsumer disposal) {
        if (maxBytes <= 0) {
            throw new IllegalArgumentException("maxBytes must be above 0: maxBytes=" + maxBytes);
        }
        Objects.checkIndex(maxDescriptors, DescriptorPassing.MAX_DESCRIPTORS + 1);
        int controlBytes =
                maxDescriptors == 0 ? 0 : Abi.CmsgHdr.space(maxDescriptors * Integer.BYTES);
        // One allocation, so that the header, which is passed to the call, keeps alive what it
        // points to.
        int dataOffset = Abi.MsgHdr.BYTES + Abi.IoVec.BYTES + controlBytes;
        MemorySegment memory = Arena.ofAuto().allocate(dataOffset + (long) maxBytes, ALIGNMENT);
        header = memory.asSlice(0, Abi.MsgHdr.BYTES);
        MemorySegment vector = memory.asSlice(Abi.MsgHdr.BYTES, Abi.IoVec.BYTES);
        control = memory.asSlice(Abi.MsgHdr.BYTES + Abi.IoVec.BYTES, controlBytes);
        data = memory.asSlice(dataOffset, maxBytes);
        descriptors = new int[maxDescriptors];
        this.disposal = disposal;
        vector.set(Libc.LONG, Abi.IoVec.BASE, data.address());
        vector.set(Libc.LONG, Abi.IoVec.LENGTH, maxBytes);
        header.set(Libc.LONG, Abi.MsgHdr.IOV, vector.address());
        header.set(Libc.LONG, Abi.MsgHdr.IOV_LENGTH, 1);
        header.set(Libc.LONG, Abi.MsgHdr.CONTROL, controlBytes == 0 ? 0 : control.address());
    }

    /**
     * The buffer of bytes; beyond {@link #length} it has bytes of earlier messages.
     *
     * @return the whole buffer, the same segment each time
     */
    public MemorySegment segment() {
        return data;
    }

    /**
     * Bytes of the message that were received.
     *
     * @return at most the buffer's size, even if the message was longer
     */
    public int length() {
        return length;
    }

    /**
     * Whether the message did not fit.
     *
     * @return whether bytes or descriptors are missing; then there are no descriptors at all
     */
    public boolean truncated() {
        return truncated;
    }

    /**
     * The reason if descriptors are missing.
     *
     * @return true if this process has reached its limit of open files; false if the peer sent more
     *     than fit
     */
    public boolean descriptorTableFull() {
        return tableFull;
    }

    /**
     * Descriptors that came with the message.
     *
     * @return their number, those taken included
     */
    public int descriptors() {
        return descriptorCount;
    }

    /**
     * A descriptor, for inspection; it stays this object's.
     *
     * @param index which, from 0
     * @return the descriptor
     * @throws IllegalStateException if it was taken before
     */
    public int descriptor(int index) {
        Objects.checkIndex(index, descriptorCount);
        int fd = descriptors[index];
        if (fd == TAKEN) {
            throw new IllegalStateException("descriptor taken before: index=" + index);
        }
        return fd;
    }

    /**
     * Takes a descriptor, which then belongs to the caller.
     *
     * @param index which, from 0
     * @return the descriptor, close-on-exec
     * @throws IllegalStateException if it was taken before
     */
    public int takeDescriptor(int index) {
        int fd = descriptor(index);
        descriptors[index] = TAKEN;
        return fd;
    }

    /**
     * Closes, or disposes of, the descriptors that were not taken. The buffer can be used again.
     */
    @Override
    public void close() {
        int count = descriptorCount;
        descriptorCount = 0;
        for (int i = 0; i < count; i++) {
            if (descriptors[i] != TAKEN) {
                disposal.accept(descriptors[i]);
            }
        }
    }

    /** The msghdr to pass to recvmsg. */
    MemorySegment header() {
        return header;
    }

    /** Empties the buffer and resets the header fields that the kernel changes. */
    void prepare() {
        close();
        length = 0;
        truncated = false;
        tableFull = false;
        header.set(Libc.LONG, Abi.MsgHdr.CONTROL_LENGTH, control.byteSize());
        header.set(Libc.INT, Abi.MsgHdr.FLAGS, 0);
    }

    /** Reads the header that the kernel wrote for a message of this length. */
    void arrived(int bytes) {
        length = bytes;
        int flags = header.get(Libc.INT, Abi.MsgHdr.FLAGS);
        // Padding may admit one descriptor more than requested; then the message counts as
        // truncated.
        boolean surplus = collectDescriptors();
        truncated = surplus || (flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
        tableFull = (flags & MSG_CTRUNC) != 0 && descriptorCount < descriptors.length;
        if (truncated) {
            close();
        }
    }

    /** Takes over all descriptors in the control area; true if there were more than fit. */
    private boolean collectDescriptors() {
        boolean surplus = false;
        long end = header.get(Libc.LONG, Abi.MsgHdr.CONTROL_LENGTH);
        long at = 0;
        while (end - at >= Abi.CmsgHdr.DATA) {
            long size = control.get(Libc.LONG, at + Abi.CmsgHdr.LENGTH);
            if (size < Abi.CmsgHdr.DATA || size > end - at) {
                break;
            }
            if (control.get(Libc.INT, at + Abi.CmsgHdr.LEVEL) == SOL_SOCKET
                    && control.get(Libc.INT, at + Abi.CmsgHdr.TYPE)
                            == DescriptorPassing.SCM_RIGHTS) {
                long last = at + size - Integer.BYTES;
                for (long p = at + Abi.CmsgHdr.DATA; p <= last; p += Integer.BYTES) {
                    surplus |= !keep(control.get(ValueLayout.JAVA_INT, p));
                }
            }
            at += Abi.CmsgHdr.align((int) size);
        }
        return surplus;
    }

    private boolean keep(int fd) {
        RestrictedThreads.received(fd);
        Origins.descriptorOpened(fd);
        if (descriptorCount < descriptors.length) {
            descriptors[descriptorCount++] = fd;
            return true;
        }
        disposal.accept(fd);
        return false;
    }
}

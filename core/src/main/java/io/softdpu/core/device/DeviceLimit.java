package io.softdpu.core.device;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.spi.Arguments;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What the profile of a device can limit: a library, and what it has a most of.
 *
 * <p>A device whose topology says nothing of a limit has as much as the library has at all; a
 * topology can only lower that. The libraries refuse what is beyond, and their capabilities tell
 * the value that holds.
 */
public enum DeviceLimit {
    /** Longest name of a Comm Channel server in bytes, the NUL of the C API included. */
    COMCH_MAX_NAME_LENGTH("comch", true),
    /** Largest message of the Comm Channel's basic path in bytes. */
    COMCH_MAX_MESSAGE_SIZE("comch", true),
    /** Longest queue of received Comm Channel messages. */
    COMCH_MAX_RECEIVE_QUEUE_SIZE("comch", false),
    /** Most clients of a Comm Channel server at a time. */
    COMCH_MAX_CLIENTS("comch", false),
    /** Most send tasks of a Comm Channel server or client. */
    COMCH_MAX_SEND_TASKS("comch", false),
    /** Most send tasks of a producer. */
    COMCH_PRODUCER_MAX_TASKS("comch-producer", false),
    /** Most bytes in a producer's send. */
    COMCH_PRODUCER_MAX_BUFFER_SIZE("comch-producer", true),
    /** Most post receive tasks of a consumer. */
    COMCH_CONSUMER_MAX_TASKS("comch-consumer", false),
    /** Largest free room of a posted buffer in bytes. */
    COMCH_CONSUMER_MAX_BUFFER_SIZE("comch-consumer", true),
    /** Largest RDMA message, read or write in bytes. */
    RDMA_MAX_MESSAGE_SIZE("rdma", true),
    /** Largest send queue of an RDMA connection, in tasks; rounded down to a power of two. */
    RDMA_MAX_SEND_QUEUE_SIZE("rdma", false),
    /** Most connections of an RDMA instance. */
    RDMA_MAX_CONNECTIONS("rdma", false),
    /** Most receive tasks of an RDMA instance. */
    RDMA_MAX_RECEIVE_TASKS("rdma", false),
    /** Most tasks of a DMA context. */
    DMA_MAX_TASKS("dma", false),
    /** Most bytes that one DMA copies. */
    DMA_MAX_BUFFER_SIZE("dma", true),
    /** Most elements of a chain of bufs that DMA reads or writes. */
    DMA_MAX_BUFFER_LIST_LENGTH("dma", false);

    private final String library;
    private final String capability;
    private final boolean bytes;

    DeviceLimit(String library, boolean bytes) {
        this.library = library;
        this.capability = name().substring(library.length() + 1).toLowerCase(Locale.ROOT);
        this.bytes = bytes;
    }

    /** The library that it is a limit of, for example {@code comch}. */
    public String library() {
        return library;
    }

    /** The capability of the library that tells it, for example {@code max_clients}. */
    public String capability() {
        return capability;
    }

    /** Whether it is a number of bytes; else a number of things. */
    public boolean isBytes() {
        return bytes;
    }

    /** What a topology calls it: library and capability, for example {@code comch.max_clients}. */
    public String id() {
        return library + "." + capability;
    }

    /**
     * The limit with this {@linkplain #id() id}.
     *
     * @throws DpuException INVALID_VALUE if there is none, naming those that there are
     */
    public static DeviceLimit of(String id) {
        Arguments.notNull(id, "id");
        for (DeviceLimit limit : values()) {
            if (limit.id().equals(id)) {
                return limit;
            }
        }
        throw new DpuException(
                Status.INVALID_VALUE,
                "no such limit: limit="
                        + id
                        + ", available="
                        + Arrays.stream(values())
                                .map(DeviceLimit::id)
                                .collect(Collectors.joining(", ", "[", "]")));
    }

    /** {@link #id()}. */
    @Override
    public String toString() {
        return id();
    }
}

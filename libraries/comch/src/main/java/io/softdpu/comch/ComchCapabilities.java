package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.PciFunction;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.linux.text.Text;
import java.nio.charset.StandardCharsets;

/**
 * Capabilities and limits of a device for the Comm Channel (Comm Channel guide, "Device Support").
 *
 * <p>The limit of an unsupported feature is 0. A topology can take producers or consumers from a
 * device, by 0 for {@link #PRODUCER_TASKS_LIMIT} or {@link #CONSUMER_TASKS_LIMIT}. Immutable; any
 * thread.
 */
public final class ComchCapabilities {
    /** The limit that lowers {@link #maxNameBytes()}. */
    public static final DeviceLimit NAME_LENGTH_LIMIT =
            DeviceLimit.ofBytes("comch", "max_name_length");

    /** The limit that lowers {@link #maxMessageBytes()}. */
    public static final DeviceLimit MESSAGE_SIZE_LIMIT =
            DeviceLimit.ofBytes("comch", "max_message_size");

    /** The limit that lowers {@link #maxReceiveQueueSize()}. */
    public static final DeviceLimit RECEIVE_QUEUE_SIZE_LIMIT =
            DeviceLimit.ofCount("comch", "max_receive_queue_size");

    /** The limit that lowers {@link #maxClients()}. */
    public static final DeviceLimit CLIENTS_LIMIT = DeviceLimit.ofCount("comch", "max_clients");

    /** The limit that lowers {@link #maxSendTasks()}. */
    public static final DeviceLimit SEND_TASKS_LIMIT =
            DeviceLimit.ofCount("comch", "max_send_tasks");

    /** The limit that lowers {@link #maxProducerTasks()}; 0 for a device without producers. */
    public static final DeviceLimit PRODUCER_TASKS_LIMIT =
            DeviceLimit.ofOptionalCount("comch-producer", "max_tasks");

    /** The limit that lowers {@link #maxProducerBufferBytes()}. */
    public static final DeviceLimit PRODUCER_BUFFER_SIZE_LIMIT =
            DeviceLimit.ofBytes("comch-producer", "max_buffer_size");

    /** The limit that lowers {@link #maxConsumerTasks()}; 0 for a device without consumers. */
    public static final DeviceLimit CONSUMER_TASKS_LIMIT =
            DeviceLimit.ofOptionalCount("comch-consumer", "max_tasks");

    /** The limit that lowers {@link #maxConsumerBufferBytes()}. */
    public static final DeviceLimit CONSUMER_BUFFER_SIZE_LIMIT =
            DeviceLimit.ofBytes("comch-consumer", "max_buffer_size");

    static final int MAX_CLIENTS = 512;
    static final int MAX_SEND_TASKS = 8192;
    static final long MAX_BUFFER_BYTES = 1L << 31;
    static final int MAX_LIST_LENGTH = 1;

    private final PciFunction function;
    private final boolean server;
    private final boolean client;

    private ComchCapabilities(DeviceInfo device) {
        this.function = device.function();
        this.server = ChannelName.canServe(device);
        this.client = ChannelName.canConnect(device);
    }

    /** The capabilities of a device. */
    public static ComchCapabilities of(DeviceInfo device) {
        return new ComchCapabilities(Arguments.notNull(device, "device"));
    }

    /** Whether a server can be created on it: it is a port of the DPU. */
    public boolean isServerSupported() {
        return server;
    }

    /** Whether a client can be created on it: it is a function that the DPU shows to the host. */
    public boolean isClientSupported() {
        return client;
    }

    /**
     * Whether producers and their send task are supported: on both sides of a connection, unless
     * the device's limit of their tasks is 0.
     */
    public boolean isProducerSupported() {
        return maxProducerTasks() > 0;
    }

    /**
     * Whether consumers and their post receive task are supported: on both sides of a connection,
     * unless the device's limit of their tasks is 0.
     */
    public boolean isConsumerSupported() {
        return maxConsumerTasks() > 0;
    }

    /** Longest server name in bytes of UTF-8, the NUL of the C API included. */
    public int maxNameBytes() {
        return basic(NAME_LENGTH_LIMIT, ChannelLimits.MAX_NAME_BYTES + 1);
    }

    /** Largest message of the basic path in bytes. */
    public int maxMessageBytes() {
        return basic(MESSAGE_SIZE_LIMIT, ChannelLimits.MAX_MESSAGE_BYTES);
    }

    /** Longest queue of received messages, in messages. */
    public int maxReceiveQueueSize() {
        return basic(RECEIVE_QUEUE_SIZE_LIMIT, ChannelLimits.MAX_RECEIVE_QUEUE);
    }

    /** Largest number of clients that a server may have at a time. */
    public int maxClients() {
        return server ? basic(CLIENTS_LIMIT, MAX_CLIENTS) : 0;
    }

    /** Largest number of send tasks of a server or client. */
    public int maxSendTasks() {
        return basic(SEND_TASKS_LIMIT, MAX_SEND_TASKS);
    }

    /** Largest number of send tasks of a producer. */
    public int maxProducerTasks() {
        return basic(PRODUCER_TASKS_LIMIT, MAX_SEND_TASKS);
    }

    /** Largest number of post receive tasks of a consumer. */
    public int maxConsumerTasks() {
        return basic(CONSUMER_TASKS_LIMIT, ChannelLimits.MAX_POSTED_BUFFERS);
    }

    /** Largest number of producers of one side of a connection. */
    public int maxProducers() {
        return isProducerSupported() ? ConsumerRegistry.MAX_PRODUCERS : 0;
    }

    /** Largest number of consumers of one side of a connection, stopping ones included. */
    public int maxConsumers() {
        return isConsumerSupported() ? ChannelLimits.MAX_CONSUMERS : 0;
    }

    /** Largest data of a producer's send, in bytes. */
    public long maxProducerBufferBytes() {
        return isProducerSupported()
                ? function.lowered(PRODUCER_BUFFER_SIZE_LIMIT, MAX_BUFFER_BYTES)
                : 0;
    }

    /** Largest tailroom of a posted buffer, in bytes. */
    public long maxConsumerBufferBytes() {
        return isConsumerSupported()
                ? function.lowered(CONSUMER_BUFFER_SIZE_LIMIT, MAX_BUFFER_BYTES)
                : 0;
    }

    /**
     * Most elements of a buffer list, of producers and of consumers: 1, since chained buffers are
     * not supported.
     */
    public int maxBufferListLength() {
        return basic(MAX_LIST_LENGTH);
    }

    /** Largest immediate data of a producer's send, in bytes. */
    public int maxImmediateBytes() {
        return basic(FastPathRing.IMMEDIATE_BYTES);
    }

    /** Rejects a server name that is illegal, or longer than the device supports. */
    void requireLegalName(String name) {
        Hello.requireLegalName(name);
        int sizeBytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (sizeBytes >= maxNameBytes()) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "server name is too long for the device: name=%s, sizeBytes=%d,"
                                    + " expected=at most %d, device=%s",
                            name, sizeBytes, maxNameBytes() - 1, function.key()));
        }
    }

    /** Refuses a producer on a device that has none. */
    void requireProducers() {
        if (!isProducerSupported()) {
            throw unsupported("producers", PRODUCER_TASKS_LIMIT);
        }
    }

    /** Refuses a consumer on a device that has none. */
    void requireConsumers() {
        if (!isConsumerSupported()) {
            throw unsupported("consumers", CONSUMER_TASKS_LIMIT);
        }
    }

    private DpuException unsupported(String what, DeviceLimit limit) {
        return new DpuException(
                Status.NOT_SUPPORTED,
                Text.format(
                        "device does not support %s: device=%s, limit=%s, value=0, expected=another"
                                + " device, or 1 or more in the topology",
                        what, function.key(), limit));
    }

    private int basic(DeviceLimit limit, int ofLibrary) {
        return basic((int) function.lowered(limit, ofLibrary));
    }

    private int basic(int limit) {
        return server || client ? limit : 0;
    }
}

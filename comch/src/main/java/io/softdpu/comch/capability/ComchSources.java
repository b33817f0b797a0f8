package io.softdpu.comch.capability;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/** The three libraries that the Comm Channel is: server and client, producer, consumer. */
public final class ComchSources {
    private ComchSources() {}

    /** Server, client, and the messages between them. */
    public static final class Messages implements CapabilitySource {
        /** For ServiceLoader. */
        public Messages() {}

        @Override
        public String library() {
            return "comch";
        }

        @Override
        public List<Capability> capabilities(DeviceInfo device) {
            ComchCapabilities comch = ComchCapabilities.of(device);
            return List.of(
                    Capability.support("server", comch.isServerSupported()),
                    Capability.support("client", comch.isClientSupported()),
                    Capability.limit(DeviceLimit.COMCH_MAX_NAME_LENGTH, comch.maxNameLength()),
                    Capability.limit(DeviceLimit.COMCH_MAX_MESSAGE_SIZE, comch.maxMessageSize()),
                    Capability.limit(
                            DeviceLimit.COMCH_MAX_RECEIVE_QUEUE_SIZE, comch.maxReceiveQueueSize()),
                    Capability.limit(DeviceLimit.COMCH_MAX_CLIENTS, comch.maxClients()),
                    Capability.limit(DeviceLimit.COMCH_MAX_SEND_TASKS, comch.maxSendTasks()));
        }
    }

    /** The sending end of the fast path. */
    public static final class Producer implements CapabilitySource {
        /** For ServiceLoader. */
        public Producer() {}

        @Override
        public String library() {
            return "comch-producer";
        }

        @Override
        public List<Capability> capabilities(DeviceInfo device) {
            ComchCapabilities comch = ComchCapabilities.of(device);
            return List.of(
                    Capability.support("task_send", comch.isProducerSupported()),
                    Capability.limit("max_producers", Unit.COUNT, comch.maxProducers()),
                    Capability.limit(
                            DeviceLimit.COMCH_PRODUCER_MAX_TASKS, comch.maxProducerTasks()),
                    Capability.limit(
                            DeviceLimit.COMCH_PRODUCER_MAX_BUFFER_SIZE,
                            comch.maxProducerBufferSize()),
                    Capability.limit(
                            "max_buffer_list_length", Unit.COUNT, comch.maxBufferListLength()),
                    Capability.limit("max_immediate_size", Unit.BYTES, comch.maxImmediateSize()));
        }
    }

    /** The receiving end of the fast path. */
    public static final class Consumer implements CapabilitySource {
        /** For ServiceLoader. */
        public Consumer() {}

        @Override
        public String library() {
            return "comch-consumer";
        }

        @Override
        public List<Capability> capabilities(DeviceInfo device) {
            ComchCapabilities comch = ComchCapabilities.of(device);
            return List.of(
                    Capability.support("task_post_receive", comch.isConsumerSupported()),
                    Capability.limit("max_consumers", Unit.COUNT, comch.maxConsumers()),
                    Capability.limit(
                            DeviceLimit.COMCH_CONSUMER_MAX_TASKS, comch.maxConsumerTasks()),
                    Capability.limit(
                            DeviceLimit.COMCH_CONSUMER_MAX_BUFFER_SIZE,
                            comch.maxConsumerBufferSize()),
                    Capability.limit(
                            "max_buffer_list_length", Unit.COUNT, comch.maxBufferListLength()),
                    Capability.limit("max_immediate_size", Unit.BYTES, comch.maxImmediateSize()));
        }
    }
}

package io.softdpu.comch.capability;

import io.softdpu.comch.ComchCapabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.List;

/**
 * Capability sources of the three Comm Channel libraries: server and client, producer, consumer.
 */
public final class ComchSources {
    private ComchSources() {}

    /** Capabilities of server and client. */
    public static final class Messages implements CapabilitySource {
        /** For ServiceLoader. */
        public Messages() {}

        @Override
        public String library() {
            return "comch";
        }

        @Override
        public List<DeviceLimit> limits() {
            return List.of(
                    ComchCapabilities.NAME_LENGTH_LIMIT,
                    ComchCapabilities.MESSAGE_SIZE_LIMIT,
                    ComchCapabilities.RECEIVE_QUEUE_SIZE_LIMIT,
                    ComchCapabilities.CLIENTS_LIMIT,
                    ComchCapabilities.SEND_TASKS_LIMIT);
        }

        @Override
        public List<Capability> capabilities(DeviceInfo device) {
            ComchCapabilities comch = ComchCapabilities.of(device);
            return List.of(
                    Capability.support("server", comch.isServerSupported()),
                    Capability.support("client", comch.isClientSupported()),
                    Capability.limit(ComchCapabilities.NAME_LENGTH_LIMIT, comch.maxNameBytes()),
                    Capability.limit(ComchCapabilities.MESSAGE_SIZE_LIMIT, comch.maxMessageBytes()),
                    Capability.limit(
                            ComchCapabilities.RECEIVE_QUEUE_SIZE_LIMIT,
                            comch.maxReceiveQueueSize()),
                    Capability.limit(ComchCapabilities.CLIENTS_LIMIT, comch.maxClients()),
                    Capability.limit(ComchCapabilities.SEND_TASKS_LIMIT, comch.maxSendTasks()));
        }
    }

    /** Capabilities of producers. */
    public static final class Producer implements CapabilitySource {
        /** For ServiceLoader. */
        public Producer() {}

        @Override
        public String library() {
            return "comch-producer";
        }

        @Override
        public List<DeviceLimit> limits() {
            return List.of(
                    ComchCapabilities.PRODUCER_TASKS_LIMIT,
                    ComchCapabilities.PRODUCER_BUFFER_SIZE_LIMIT);
        }

        @Override
        public List<Capability> capabilities(DeviceInfo device) {
            ComchCapabilities comch = ComchCapabilities.of(device);
            boolean supported = comch.isProducerSupported();
            return List.of(
                    Capability.support("task_send", supported),
                    Capability.limit("max_producers", Unit.COUNT, comch.maxProducers()),
                    Capability.limit(
                            ComchCapabilities.PRODUCER_TASKS_LIMIT, comch.maxProducerTasks()),
                    Capability.limit(
                            ComchCapabilities.PRODUCER_BUFFER_SIZE_LIMIT,
                            comch.maxProducerBufferBytes()),
                    Capability.limit(
                            "max_buffer_list_length",
                            Unit.COUNT,
                            supported ? comch.maxBufferListLength() : 0),
                    Capability.limit(
                            "max_immediate_size",
                            Unit.BYTES,
                            supported ? comch.maxImmediateBytes() : 0));
        }
    }

    /** Capabilities of consumers. */
    public static final class Consumer implements CapabilitySource {
        /** For ServiceLoader. */
        public Consumer() {}

        @Override
        public String library() {
            return "comch-consumer";
        }

        @Override
        public List<DeviceLimit> limits() {
            return List.of(
                    ComchCapabilities.CONSUMER_TASKS_LIMIT,
                    ComchCapabilities.CONSUMER_BUFFER_SIZE_LIMIT);
        }

        @Override
        public List<Capability> capabilities(DeviceInfo device) {
            ComchCapabilities comch = ComchCapabilities.of(device);
            boolean supported = comch.isConsumerSupported();
            return List.of(
                    Capability.support("task_post_receive", supported),
                    Capability.limit("max_consumers", Unit.COUNT, comch.maxConsumers()),
                    Capability.limit(
                            ComchCapabilities.CONSUMER_TASKS_LIMIT, comch.maxConsumerTasks()),
                    Capability.limit(
                            ComchCapabilities.CONSUMER_BUFFER_SIZE_LIMIT,
                            comch.maxConsumerBufferBytes()),
                    Capability.limit(
                            "max_buffer_list_length",
                            Unit.COUNT,
                            supported ? comch.maxBufferListLength() : 0),
                    Capability.limit(
                            "max_immediate_size",
                            Unit.BYTES,
                            supported ? comch.maxImmediateBytes() : 0));
        }
    }
}

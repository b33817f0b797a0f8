package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Devices without producers or consumers: their profile has 0 for the limit of their tasks. */
class DeviceWithoutFastPathTest {
    @TempDir Path folder;

    private Card card;
    private Peer without;
    private Peer with;
    private ProgressEngine engineWithout;
    private ProgressEngine engineWith;

    /** A pair of which the device of one side has 0 for a limit. */
    private Card card(Side side, DeviceLimit limit) {
        Topology.Builder topology = Topology.builder("without");
        for (var function : Topology.builtin().functions()) {
            topology.add(
                    function.side() == side
                            ? function.toBuilder().limit(limit, 0).build()
                            : function);
        }
        card = new Card(folder, topology.build());
        Card.Pair pair = card.pair();
        boolean host = side == Side.HOST;
        without = host ? pair.client() : pair.server();
        with = host ? pair.server() : pair.client();
        engineWithout = host ? card.hostEngine : card.dpuEngine;
        engineWith = host ? card.dpuEngine : card.hostEngine;
        return card;
    }

    @Clause("cc-061")
    @ParameterizedTest
    @EnumSource(
            value = Side.class,
            names = {"HOST", "DPU"})
    void shouldRefuseProducersAndConsumersOfThePeerWithoutProducers(Side side) throws Exception {
        try (Card open = card(side, ComchCapabilities.PRODUCER_TASKS_LIMIT)) {
            DeviceInfo device = without.endpoint.device().info();
            ComchCapabilities can = ComchCapabilities.of(device);
            assertThat(can.isProducerSupported()).isFalse();
            assertThat(can.maxProducerTasks()).isZero();
            assertThat(can.maxProducers()).isZero();
            assertThat(can.maxProducerBufferBytes()).isZero();
            assertThat(can.isConsumerSupported()).isTrue();
            assertThat(Capabilities.of(device, "comch-producer").all())
                    .noneMatch(Capability::isSupported);
            assertThat(Capabilities.of(device, "comch-consumer").all())
                    .allMatch(Capability::isSupported);

            assertRefused(Status.NOT_SUPPORTED, () -> ComchProducer.create(without.connection()))
                    .hasMessageContainingAll(
                            "device does not support producers",
                            "device=" + device.function().key(),
                            "limit=comch-producer.max_tasks",
                            "value=0",
                            "expected=another device");
            assertRefused(Status.NOT_SUPPORTED, () -> ComchStream.create(without.connection()));
            Queue.Receiving refused = new Queue.Receiving(with, engineWith, 4096, 1).run(open);
            open.until("refused", () -> refused.consumer.state() == ContextState.IDLE);
            assertRefusedByPeer(refused.consumer);
            assertThat(without.consumers).isEmpty();

            assertCarries(with, engineWith, without, engineWithout);
        }
    }

    @Clause("cc-061")
    @ParameterizedTest
    @EnumSource(
            value = Side.class,
            names = {"HOST", "DPU"})
    void shouldRefuseConsumersWithoutThem(Side side) throws Exception {
        try (Card open = card(side, ComchCapabilities.CONSUMER_TASKS_LIMIT)) {
            DeviceInfo device = without.endpoint.device().info();
            ComchCapabilities can = ComchCapabilities.of(device);
            assertThat(can.isConsumerSupported()).isFalse();
            assertThat(can.maxConsumerTasks()).isZero();
            assertThat(can.maxConsumers()).isZero();
            assertThat(can.maxConsumerBufferBytes()).isZero();
            assertThat(can.isProducerSupported()).isTrue();
            assertThat(Capabilities.of(device, "comch-consumer").all())
                    .noneMatch(Capability::isSupported);
            assertThat(Capabilities.of(device, "comch-producer").all())
                    .allMatch(Capability::isSupported);

            Card.Memory memory = open.memory(without.endpoint.device(), 4096);
            assertRefused(
                            Status.NOT_SUPPORTED,
                            () -> ComchConsumer.create(without.connection(), memory.mmap()))
                    .hasMessageContainingAll(
                            "device does not support consumers",
                            "device=" + device.function().key(),
                            "limit=comch-consumer.max_tasks",
                            "value=0",
                            "expected=another device");
            assertRefused(Status.NOT_SUPPORTED, () -> ComchStream.create(without.connection()));

            assertCarries(without, engineWithout, with, engineWith);
        }
    }

    private static void assertRefusedByPeer(ComchConsumer consumer) {
        assertThat(consumer.failure().status()).isEqualTo(Status.NOT_SUPPORTED);
        assertThat(consumer.failure())
                .hasMessageContainingAll(
                        "peer refused the consumer: id=", "expected=", "a device with producers");
    }

    /** The other direction of the connection works. */
    private void assertCarries(
            Peer from, ProgressEngine fromEngine, Peer to, ProgressEngine toEngine) {
        Queue.Receiving receiving = new Queue.Receiving(to, toEngine, 4096, 1).run(card);
        assertThat(receiving.post(0, 64)).isEqualTo(Status.SUCCESS);
        Queue.Sending sending = new Queue.Sending(from, fromEngine, 4096, 1).run(card);
        assertThat(sending.send(receiving.consumer.id(), new byte[] {1, 2, 3}, new byte[0]))
                .isEqualTo(Status.SUCCESS);
        card.until("received", () -> receiving.data.size() == 1);
        assertThat(receiving.data.getFirst()).containsExactly(1, 2, 3);
    }
}

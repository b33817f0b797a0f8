package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The profile of a device lowers what the library has, and the library keeps to it. */
class LimitedDeviceTest {
    @TempDir Path folder;

    private static Topology builtinWith(UnaryOperator<PciFunctionBuilder> change) {
        Topology.Builder topology = Topology.builder("changed");
        Topology.builtin()
                .functions()
                .forEach(f -> topology.add(change.apply(f.toBuilder()).build()));
        return topology.build();
    }

    private Card limited() {
        return new Card(
                folder,
                builtinWith(f ->
                        f.limit(ComchCapabilities.NAME_LENGTH_LIMIT, 20)
                                .limit(ComchCapabilities.MESSAGE_SIZE_LIMIT, 100)
                                .limit(ComchCapabilities.RECEIVE_QUEUE_SIZE_LIMIT, 8)
                                .limit(ComchCapabilities.CLIENTS_LIMIT, 3)
                                .limit(ComchCapabilities.SEND_TASKS_LIMIT, 32)
                                .limit(ComchCapabilities.PRODUCER_TASKS_LIMIT, 5)
                                .limit(ComchCapabilities.PRODUCER_BUFFER_SIZE_LIMIT, 512)
                                .limit(ComchCapabilities.CONSUMER_TASKS_LIMIT, 6)
                                .limit(ComchCapabilities.CONSUMER_BUFFER_SIZE_LIMIT, 1L << 40)));
    }

    @Clause({"core-267", "cc-074", "cc-075", "cc-076", "cc-077", "cc-078", "cc-087"})
    @Test
    void shouldRefuseAConfigurationBeyondTheLimitsOfTheDevice() throws Exception {
        try (Card card = limited()) {
            ComchCapabilities limits = ComchCapabilities.of(card.p0.info());
            assertThat(limits.maxNameLength()).isEqualTo(20);
            assertThat(limits.maxConsumerBufferSize())
                    .as("no more than there is")
                    .isEqualTo(1L << 31);
            assertRefused(
                            Status.INVALID_VALUE,
                            () -> ComchServer.create(card.p0, card.hpf0, "n".repeat(20)))
                    .hasMessageContainingAll("sizeBytes=20", "maximum=19", "dpu/p0");
            assertRefused(Status.INVALID_VALUE, () -> ComchClient.create(card.pf0, "n".repeat(20)));
            ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "n".repeat(19)));
            assertThat(server.maxMessageSize()).isEqualTo(100);
            assertThat(server.receiveQueueSize()).isEqualTo(8);
            assertThat(server.maxClients()).isEqualTo(3);
            server.setMaxMessageSize(100);
            assertRefused(Status.INVALID_VALUE, () -> server.setMaxMessageSize(101))
                    .hasMessageContainingAll("maxMessageSize=101", "maximum=100");
            assertRefused(Status.INVALID_VALUE, () -> server.setReceiveQueueSize(9));
            assertRefused(Status.INVALID_VALUE, () -> server.setMaxClients(4));
            assertRefused(
                    Status.INVALID_VALUE, () -> server.setSendTasks(33, task -> {}, task -> {}));
        }
    }

    @Clause({"core-267", "cc-079", "cc-101", "cc-115", "cc-116"})
    @Test
    void shouldRefuseBuffersBeyondTheLimitsOfTheDevice() throws Exception {
        try (Card card = limited()) {
            Card.Pair pair = card.pair();
            ComchConsumer consumer =
                    card.keep(
                            ComchConsumer.create(
                                    pair.server().connection, card.memory(card.p0, 4096).mmap()));
            assertRefused(
                    Status.INVALID_VALUE,
                    () -> consumer.setPostReceiveTasks(7, task -> {}, task -> {}));
            Queue.Receiving receiving =
                    new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 6).run(card);
            assertThat(receiving.post(0, 1024)).isEqualTo(Status.SUCCESS);
            ComchProducer producer = card.keep(ComchProducer.create(pair.client().connection()));
            assertRefused(
                    Status.INVALID_VALUE, () -> producer.setSendTasks(6, task -> {}, task -> {}));
            Queue.Sending sending =
                    new Queue.Sending(pair.client(), card.hostEngine, 4096, 5).run(card);
            Buf tooLong = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 513);
            ComchProducerSendTask task =
                    sending.producer.allocateSendTask(tooLong, receiving.consumer.id());
            card.settle();
            assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
            tooLong.setDataLength(512);
            task.submit();
            card.until("received", () -> !receiving.statuses.isEmpty());
            assertThat(receiving.data.getFirst()).hasSize(512);
        }
    }

    @Clause("core-268")
    @Test
    void shouldTellTheSameByNameAsByGetter() throws Exception {
        try (Card card = limited()) {
            for (Device device : new Device[] {card.p0, card.pf0}) {
                ComchCapabilities comch = ComchCapabilities.of(device.info());
                Capabilities messages = Capabilities.of(device.info(), "comch");
                assertThat(messages.isSupported("server")).isEqualTo(comch.isServerSupported());
                assertThat(messages.isSupported("client")).isEqualTo(comch.isClientSupported());
                assertThat(messages.limit("max_message_size")).isEqualTo(100);
                assertThat(Capabilities.of(device.info(), "comch-producer").limit("max_tasks"))
                        .isEqualTo(5)
                        .isEqualTo(comch.maxProducerTasks());
                assertThat(
                                Capabilities.of(device.info(), "comch-consumer")
                                        .limit("max_buffer_size"))
                        .isEqualTo(comch.maxConsumerBufferSize());
            }
            Capabilities sub = Capabilities.of(card.dpu.findDevice("p0s0"), "comch");
            assertThat(sub.isSupported("max_message_size")).isFalse();
            assertRefused(Status.NOT_SUPPORTED, () -> sub.limit("max_message_size"))
                    .hasMessageContainingAll("max_message_size", "comch", "p0s0");
        }
    }

    @Test
    void shouldKeepToEachLimitThatItDeclares() {
        List<String> libraries = List.of("comch", "comch-producer", "comch-consumer");
        assertThat(libraries)
                .flatExtracting(Capabilities::limitsOf)
                .extracting(DeviceLimit::id)
                .containsExactly(
                        "comch.max_name_length",
                        "comch.max_message_size",
                        "comch.max_receive_queue_size",
                        "comch.max_clients",
                        "comch.max_send_tasks",
                        "comch-producer.max_tasks",
                        "comch-producer.max_buffer_size",
                        "comch-consumer.max_tasks",
                        "comch-consumer.max_buffer_size");
        Topology one =
                builtinWith(f -> {
                    libraries.forEach(name ->
                            Capabilities.limitsOf(name).forEach(limit -> f.limit(limit, 1)));
                    return f;
                });
        try (Machine dpu = open(one)) {
            for (String library : libraries) {
                Capabilities can = Capabilities.of(dpu.findDevice("p0"), library);
                for (DeviceLimit limit : Capabilities.limitsOf(library)) {
                    assertThat(can.get(limit.capability())).isEqualTo(Capability.limit(limit, 1));
                }
            }
        }
    }

    @Test
    void shouldOpenNoMachineWithALimitThatItDoesNotDeclare() {
        assertRefused(
                        Status.INVALID_VALUE,
                        () -> open(builtinWith(f -> f.limit("comch-producer.max_clients", 1))))
                .hasMessageContainingAll(
                        "limit=comch-producer.max_clients",
                        "available=[comch-producer.max_tasks, comch-producer.max_buffer_size]");
    }

    private Machine open(Topology topology) {
        return Machine.builder(Side.DPU)
                .fabricFolder(folder.resolve("fabric"))
                .topology(topology)
                .open();
    }

    @Clause({"cc-019", "core-037"})
    @Test
    void shouldNeedACardThatShowsFunctionsToTheHost() throws Exception {
        Topology plainAdapter = builtinWith(f -> f.parent(null).representor(null));
        Path fabric = folder.resolve("fabric");
        try (Machine host =
                        Machine.builder(Side.HOST)
                                .fabricFolder(fabric)
                                .topology(plainAdapter)
                                .open();
                Machine dpu =
                        Machine.builder(Side.DPU)
                                .fabricFolder(fabric)
                                .topology(plainAdapter)
                                .open();
                Device pf0 = host.findDevice("pf0").open();
                Device p0 = dpu.findDevice("p0").open()) {
            assertThat(p0.representors()).isEmpty();
            assertRefused(Status.NOT_FOUND, () -> p0.findRepresentor("0b:00.0"));
            assertRefused(Status.NOT_SUPPORTED, () -> ComchClient.create(pf0, "name"))
                    .hasMessageContaining("0b:00.0 pf0");
            assertThat(ComchCapabilities.of(pf0.info()).isClientSupported()).isFalse();
        }
    }
}

package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits of a device's profile: they lower those of the library, which enforces them. */
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

    @Clause({"core-267", "cc-074"})
    @Test
    void shouldRefuseANameBeyondTheLimitOfTheDevice() throws Exception {
        try (Card card = limited()) {
            assertThat(ComchCapabilities.of(card.p0.info()).maxNameBytes()).isEqualTo(20);
            assertRefused(
                            Status.INVALID_VALUE,
                            () -> ComchServer.create(card.p0, card.hpf0, "n".repeat(20)))
                    .hasMessageContainingAll("sizeBytes=20", "expected=at most 19", "dpu/p0");
            assertRefused(Status.INVALID_VALUE, () -> ComchClient.create(card.pf0, "n".repeat(20)));
            String twentyBytes = "\u00e4".repeat(10);
            assertRefused(
                    Status.INVALID_VALUE,
                    () -> ComchServer.create(card.p0, card.hpf0, twentyBytes));
            assertRefused(Status.INVALID_VALUE, () -> ComchClient.create(card.pf0, twentyBytes));
            card.keep(ComchServer.create(card.p0, card.hpf0, "n".repeat(19)));
            card.keep(ComchClient.create(card.pf0, "n".repeat(19)));
        }
    }

    @Clause({"core-267", "cc-075", "cc-076"})
    @Test
    void shouldRefuseMessagesAndQueuesBeyondTheLimitsOfTheDevice() throws Exception {
        try (Card card = limited()) {
            List<ComchEndpoint> endpoints =
                    List.of(
                            card.keep(ComchServer.create(card.p0, card.hpf0, "name")),
                            card.keep(ComchClient.create(card.pf0, "name")));
            for (ComchEndpoint endpoint : endpoints) {
                ComchCapabilities limits = ComchCapabilities.of(endpoint.device().info());
                assertThat(limits.maxMessageBytes()).isEqualTo(100);
                assertThat(limits.maxReceiveQueueSize()).isEqualTo(8);
                assertThat(endpoint.maxMessageBytes()).isEqualTo(100);
                assertThat(endpoint.receiveQueueSize()).isEqualTo(8);
                endpoint.setMaxMessageBytes(100);
                endpoint.setReceiveQueueSize(8);
                assertRefused(Status.INVALID_VALUE, () -> endpoint.setMaxMessageBytes(101))
                        .hasMessageContainingAll("maxMessageSizeBytes=101", "expected=1 to 100");
                assertRefused(Status.INVALID_VALUE, () -> endpoint.setReceiveQueueSize(9));
            }
        }
    }

    @Clause({"core-267", "cc-077"})
    @Test
    void shouldRefuseOneClientMoreThanTheLimitOfTheDevice() throws Exception {
        try (Card card = limited()) {
            assertThat(ComchCapabilities.of(card.p0.info()).maxClients()).isEqualTo(3);
            Peer server = Peer.server(card, Card.NAME);
            assertRefused(
                    Status.INVALID_VALUE, () -> ((ComchServer) server.endpoint).setMaxClients(4));
            server.endpoint.start(); // with what it has by itself
            for (int i = 0; i < 3; i++) {
                Peer client = Peer.client(card, Card.NAME);
                client.endpoint.start();
                card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
            }
            Peer more = Peer.client(card, Card.NAME);
            more.endpoint.start();
            card.until("refused", () -> more.endpoint.state() == ContextState.IDLE);
            assertThat(more.endpoint.failure().status()).isEqualTo(Status.FULL);
        }
    }

    @Clause("core-267")
    @Clause({"cc-078", "cc-101", "cc-115"})
    @Clause("cc-086")
    @Test
    void shouldRefuseMoreTasksThanTheLimitsOfTheDevice() throws Exception {
        try (Card card = limited()) {
            ComchCapabilities limits = ComchCapabilities.of(card.p0.info());
            assertThat(limits.maxSendTasks()).isEqualTo(32);
            assertThat(limits.maxConsumerTasks()).isEqualTo(6);
            assertThat(limits.maxProducerTasks()).isEqualTo(5);
            Card.Pair pair = card.pair(); // whose server has 32 send tasks
            ComchServer server = card.keep(ComchServer.create(card.p0, card.hpf0, "name"));
            assertRefused(
                    Status.INVALID_VALUE, () -> server.setSendTasks(33, task -> {}, task -> {}));
            ComchClient client = card.keep(ComchClient.create(card.pf0, "name"));
            client.setSendTasks(32, task -> {}, task -> {});
            assertRefused(
                    Status.INVALID_VALUE, () -> client.setSendTasks(33, task -> {}, task -> {}));
            ComchConsumer consumer =
                    card.keep(
                            ComchConsumer.create(
                                    pair.server().connection, card.memory(card.p0, 4096).mmap()));
            consumer.setPostReceiveTasks(6, task -> {}, task -> {});
            assertRefused(
                    Status.INVALID_VALUE,
                    () -> consumer.setPostReceiveTasks(7, task -> {}, task -> {}));
            for (ComchConnection connection :
                    List.of(pair.client().connection(), pair.server().connection)) {
                ComchProducer producer = card.keep(ComchProducer.create(connection));
                producer.setSendTasks(5, task -> {}, task -> {});
                assertRefused(
                        Status.INVALID_VALUE,
                        () -> producer.setSendTasks(6, task -> {}, task -> {}));
            }
        }
    }

    @Clause("cc-010")
    @Test
    void shouldOfferAGibibyteOrMoreWithoutALimitAndOtherwiseTheLimitOfTheDevice() {
        try (Machine dpu = open(Topology.builtin())) {
            ComchCapabilities own = ComchCapabilities.of(dpu.findDevice("p0"));
            assertThat(own.maxProducerBufferBytes()).isGreaterThanOrEqualTo(1L << 30);
            assertThat(own.maxConsumerBufferBytes()).isGreaterThanOrEqualTo(1L << 30);
        }
        Topology lowered =
                builtinWith(f ->
                        f.limit(ComchCapabilities.PRODUCER_BUFFER_SIZE_LIMIT, (1L << 30) - 1)
                                .limit(ComchCapabilities.CONSUMER_BUFFER_SIZE_LIMIT, 4097));
        try (Machine dpu =
                Machine.builder(Side.DPU)
                        .fabricFolder(folder.resolve("lowered"))
                        .topology(lowered)
                        .open()) {
            ComchCapabilities limited = ComchCapabilities.of(dpu.findDevice("p0"));
            assertThat(limited.maxProducerBufferBytes()).isEqualTo((1L << 30) - 1);
            assertThat(limited.maxConsumerBufferBytes()).isEqualTo(4097);
        }
    }

    @Clause({"core-267", "cc-079", "cc-116"})
    @Clause("cc-010")
    @Test
    void shouldRefuseToSendABufferBeyondTheLimitOfTheDevice() throws Exception {
        try (Card card = limited()) {
            assertThat(ComchCapabilities.of(card.pf0.info()).maxProducerBufferBytes())
                    .isEqualTo(512);
            Card.Pair pair = card.pair();
            Queue.Receiving receiving =
                    new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 6).run(card);
            assertThat(receiving.post(0, 1024)).isEqualTo(Status.SUCCESS);
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

    @Clause("core-267")
    @Clause({"cc-010", "cc-079", "cc-102"})
    @Test
    void shouldRefuseToPostABufferBeyondTheLimitOfTheDevice() throws Exception {
        Topology small =
                builtinWith(f -> f.limit(ComchCapabilities.CONSUMER_BUFFER_SIZE_LIMIT, 1000));
        try (Card card = new Card(folder, small)) {
            assertThat(ComchCapabilities.of(card.p0.info()).maxConsumerBufferBytes())
                    .isEqualTo(1000);
            Card.Pair pair = card.pair();
            Queue.Receiving receiving =
                    new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 2).run(card);
            Queue.Sending sending =
                    new Queue.Sending(pair.client(), card.hostEngine, 4096, 2).run(card);
            Buf tooLong =
                    receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 0, 1001);
            ComchPostReceiveTask refused = receiving.consumer.allocatePostReceiveTask(tooLong);
            assertRefused(Status.INVALID_VALUE, refused::submit)
                    .hasMessageContainingAll("tailroom 1001 > 1000", "expected=1000 bytes at most");
            refused.free();
            tooLong.release();
            assertThat(receiving.post(0, 1000)).isEqualTo(Status.SUCCESS);
            int id = receiving.consumer.id();
            assertThat(sending.send(id, new byte[1001], new byte[0]))
                    .isEqualTo(Status.INVALID_VALUE);
            assertThat(sending.send(id, new byte[1000], new byte[0])).isEqualTo(Status.SUCCESS);
            card.until("received", () -> !receiving.statuses.isEmpty());
            assertThat(receiving.data.getFirst()).hasSize(1000);
        }
    }

    @Clause({"cc-074", "cc-075", "cc-076"})
    @Clause({"cc-077", "cc-086", "cc-115"})
    @Test
    void shouldTellTheLimitsOfTheDeviceAndNotOfAnother() {
        int[] most = {10}; // another one for each function
        Topology different =
                builtinWith(f -> {
                    most[0]++;
                    return f.limit(ComchCapabilities.NAME_LENGTH_LIMIT, most[0])
                            .limit(ComchCapabilities.MESSAGE_SIZE_LIMIT, most[0])
                            .limit(ComchCapabilities.RECEIVE_QUEUE_SIZE_LIMIT, most[0])
                            .limit(ComchCapabilities.CLIENTS_LIMIT, most[0])
                            .limit(ComchCapabilities.SEND_TASKS_LIMIT, most[0])
                            .limit(ComchCapabilities.PRODUCER_TASKS_LIMIT, most[0]);
                });
        try (Machine dpu = open(different)) {
            List<Long> told = new ArrayList<>();
            for (String id : new String[] {"p0", "p1"}) {
                DeviceInfo device = dpu.findDevice(id);
                long own = device.function().lowered(ComchCapabilities.SEND_TASKS_LIMIT, 1L << 20);
                told.add(own);
                ComchCapabilities limits = ComchCapabilities.of(device);
                assertThat(
                                new long[] {
                                    limits.maxNameBytes(),
                                    limits.maxMessageBytes(),
                                    limits.maxReceiveQueueSize(),
                                    limits.maxClients(),
                                    limits.maxSendTasks(),
                                    limits.maxProducerTasks()
                                })
                        .containsOnly(own);
            }
            assertThat(told).doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldNotRaiseALimitOfTheLibrary() throws Exception {
        try (Card card = limited()) {
            assertThat(ComchCapabilities.of(card.p0.info()).maxConsumerBufferBytes())
                    .as("no more than there is")
                    .isEqualTo(1L << 31);
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
                assertThat(messages.limit("max_name_length"))
                        .isEqualTo(20)
                        .isEqualTo(comch.maxNameBytes());
                assertThat(messages.limit("max_message_size"))
                        .isEqualTo(100)
                        .isEqualTo(comch.maxMessageBytes());
                assertThat(messages.limit("max_receive_queue_size"))
                        .isEqualTo(8)
                        .isEqualTo(comch.maxReceiveQueueSize());
                assertThat(messages.get("max_clients").value())
                        .isEqualTo(device == card.p0 ? 3 : 0)
                        .isEqualTo(comch.maxClients());
                assertThat(messages.limit("max_send_tasks"))
                        .isEqualTo(32)
                        .isEqualTo(comch.maxSendTasks());
                Capabilities producer = Capabilities.of(device.info(), "comch-producer");
                assertThat(producer.isSupported("task_send"))
                        .isEqualTo(comch.isProducerSupported());
                assertThat(producer.limit("max_producers")).isEqualTo(comch.maxProducers());
                assertThat(producer.limit("max_tasks"))
                        .isEqualTo(5)
                        .isEqualTo(comch.maxProducerTasks());
                assertThat(producer.limit("max_buffer_size"))
                        .isEqualTo(512)
                        .isEqualTo(comch.maxProducerBufferBytes());
                Capabilities consumer = Capabilities.of(device.info(), "comch-consumer");
                assertThat(consumer.isSupported("task_post_receive"))
                        .isEqualTo(comch.isConsumerSupported());
                assertThat(consumer.limit("max_consumers")).isEqualTo(comch.maxConsumers());
                assertThat(consumer.limit("max_tasks"))
                        .isEqualTo(6)
                        .isEqualTo(comch.maxConsumerTasks());
                assertThat(consumer.limit("max_buffer_size"))
                        .isEqualTo(1L << 31)
                        .isEqualTo(comch.maxConsumerBufferBytes());
                for (Capabilities both : List.of(producer, consumer)) {
                    assertThat(both.limit("max_buffer_list_length"))
                            .isEqualTo(comch.maxBufferListLength());
                    assertThat(both.limit("max_immediate_size"))
                            .isEqualTo(comch.maxImmediateBytes());
                }
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
                        "expected=a limit of comch-producer, one of [comch-producer.max_tasks,"
                                + " comch-producer.max_buffer_size]");
    }

    private Machine open(Topology topology) {
        return Machine.builder(Side.DPU)
                .fabricFolder(folder.resolve("fabric"))
                .topology(topology)
                .open();
    }

    @Clause({"cc-019", "cc-071", "core-037"})
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

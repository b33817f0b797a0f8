package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Predicate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Limits of a device's profile: they lower those of the provider, and instances enforce them. */
class ShmLimitedDeviceTest {
    @TempDir Path folder;

    private static Topology limited() {
        Topology.Builder topology = Topology.builder("limited");
        Topology.builtin().functions().stream()
                .map(f ->
                        f.toBuilder()
                                .limit(RdmaCapabilities.MESSAGE_SIZE_LIMIT, 4096)
                                .limit(RdmaCapabilities.SEND_QUEUE_SIZE_LIMIT, 100)
                                .limit(RdmaCapabilities.CONNECTIONS_LIMIT, 2)
                                .limit(RdmaCapabilities.RECEIVE_TASKS_LIMIT, 7)
                                .limit(RdmaCapabilities.RECEIVE_QUEUE_SIZE_LIMIT, 5)
                                .limit(RdmaCapabilities.SEND_QUEUE_ELEMENTS_LIMIT, 80)
                                .limit(RdmaCapabilities.SEND_BUFFER_LIST_LENGTH_LIMIT, 6)
                                .limit(RdmaCapabilities.RECEIVE_BUFFER_LIST_LENGTH_LIMIT, 3)
                                .limit(RdmaCapabilities.PATH_MTU_LIMIT, 1000)
                                .limit(RdmaCapabilities.tasksLimit(RdmaTaskType.SEND), 9)
                                .limit(RdmaCapabilities.tasksLimit(RdmaTaskType.READ), 0)
                                .build())
                .forEach(topology::add);
        return topology.build();
    }

    @ParameterizedTest
    @EnumSource
    @Clause("rdma-042")
    void shouldTellTheLimitsOfEachDeviceByItself(FunctionType limited) {
        Topology.Builder topology = Topology.builder("of one type");
        Topology.builtin().functions().stream()
                .map(f ->
                        f.type() == limited
                                ? f.toBuilder().limit(RdmaCapabilities.CONNECTIONS_LIMIT, 3).build()
                                : f)
                .forEach(topology::add);
        Topology built = topology.build();
        for (Side side : Side.values()) {
            try (Machine machine = open(side, built)) {
                for (DeviceInfo info : machine.devices()) {
                    assertThat(RdmaCapabilities.of(info).maxConnections() == 3)
                            .as("%s", info)
                            .isEqualTo(info.function().type() == limited);
                }
            }
        }
    }

    private static void refused(String what, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(what);
    }

    private Machine open(Side side, Topology topology) {
        return Machine.builder(side)
                .fabricFolder(folder.resolve("fabric"))
                .topology(topology)
                .open();
    }

    @Test
    @Clause("rdma-037")
    void shouldHaveADefaultWithinTheLimitsOfTheDevice() {
        try (Machine target = open(Side.TARGET, limited());
                Device t0 = target.findDevice("t0").open();
                Rdma rdma = Rdma.create(t0)) {
            assertThat(rdma.sendQueueSize()).isEqualTo(64);
            rdma.setReceiveTasks(7, task -> {}, task -> {});
            assertThat(rdma.receiveQueueSize()).isEqualTo(4);
        }
    }

    /** The default of one property respects a limit of its product with another. */
    @Test
    @Clause("rdma-037")
    void shouldHaveADefaultWithinTheLimitOfAProduct() {
        try (Machine target =
                        open(
                                Side.TARGET,
                                withLimit(
                                        RdmaCapabilities.SEND_QUEUE_ELEMENTS_LIMIT,
                                        80,
                                        t -> true));
                Device t0 = target.findDevice("t0").open();
                Rdma rdma = Rdma.create(t0)) {
            assertThat(rdma.sendQueueSize()).isEqualTo(64);
            assertThat(rdma.setMaxSendBufferListLength(1).maxSendBufferListLength()).isEqualTo(1);
        }
    }

    private static Topology withLimit(DeviceLimit limit, long value, Predicate<PciFunction> which) {
        Topology.Builder topology = Topology.builder("with a limit");
        Topology.builtin().functions().stream()
                .map(f -> which.test(f) ? f.toBuilder().limit(limit, value).build() : f)
                .forEach(topology::add);
        return topology.build();
    }

    @Test
    @Clause({"core-267", "core-268", "rdma-041"})
    void shouldRefuseAConfigurationBeyondTheLimitsOfTheDevice() {
        try (Machine target = open(Side.TARGET, limited());
                Device t0 = target.findDevice("t0").open();
                Rdma rdma = Rdma.create(t0)) {
            RdmaCapabilities can = RdmaCapabilities.of(t0.info());
            assertThat(can.maxMessageBytes()).isEqualTo(4096);
            assertThat(can.maxSendQueueSize()).as("a power of two").isEqualTo(64);
            assertThat(can.maxConnections()).isEqualTo(2);
            assertThat(can.maxReceiveTasks()).isEqualTo(7);
            Capabilities uniform = Capabilities.of(t0.info(), "rdma");
            assertThat(uniform.limit("max_message_size")).isEqualTo(4096);
            assertThat(uniform.limit("max_send_queue_size")).isEqualTo(64);
            assertThat(uniform.limit("max_connections")).isEqualTo(2);
            assertThat(uniform.limit("max_receive_tasks")).isEqualTo(7);
            assertThat(can.maxReceiveQueueSize()).as("a power of two").isEqualTo(4);
            assertThat(uniform.limit("max_receive_queue_size")).isEqualTo(4);
            assertThat(can.maxSendQueueElements()).isEqualTo(80);
            assertThat(uniform.limit("max_send_queue_elements")).isEqualTo(80);
            assertThat(can.maxSendBufferListLength()).isEqualTo(6);
            assertThat(uniform.limit("max_send_buffer_list_length")).isEqualTo(6);
            assertThat(can.maxReceiveBufferListLength()).isEqualTo(3);
            assertThat(uniform.limit("max_receive_buffer_list_length")).isEqualTo(3);
            assertThat(can.maxPathMtuBytes()).as("a power of two").isEqualTo(512);
            assertThat(uniform.limit("max_path_mtu")).isEqualTo(512);
            assertThat(can.maxTasks(RdmaTaskType.SEND)).isEqualTo(9);
            assertThat(uniform.limit("max_send_tasks")).isEqualTo(9);
            assertThat(can.isSupported(RdmaTaskType.READ)).as("a profile without reads").isFalse();
            assertThat(uniform.isSupported("instance")).isTrue();
            for (RdmaTaskType type : RdmaTaskType.values()) {
                assertThat(uniform.isSupported("task_" + type.name().toLowerCase(Locale.ROOT)))
                        .as("%s", type)
                        .isEqualTo(can.isSupported(type));
            }
            refused("65", () -> rdma.setSendQueueSize(65));
            refused("3", () -> rdma.setMaxConnections(3));
            refused("8", () -> rdma.setReceiveTasks(8, task -> {}, task -> {}));
            refused("10", () -> rdma.setSendTasks(10, task -> {}, task -> {}));
            refused("5", () -> rdma.setReceiveQueueSize(5));
            refused("7", () -> rdma.setMaxSendBufferListLength(7));
            refused("4", () -> rdma.setReceiveBufferListLength(4));
            refused("1024", () -> rdma.setPathMtuBytes(1024));
            assertThat(rdma.pathMtuBytes()).as("the default, lowered").isEqualTo(512);
            refused("elements=128", () -> rdma.setMaxSendBufferListLength(2));
            rdma.setSendQueueSize(32).setMaxSendBufferListLength(2);
            refused("elements=128", () -> rdma.setSendQueueSize(64));
            rdma.setMaxSendBufferListLength(1);
            assertThatThrownBy(() -> rdma.setReadTasks(1, task -> {}, task -> {}))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                    .hasMessageContainingAll("type=READ", "limit=rdma.max_read_tasks");
            assertThat(rdma.setSendQueueSize(33).sendQueueSize()).isEqualTo(64);
            assertThat(rdma.setMaxConnections(2).maxConnections()).isEqualTo(2);
            rdma.setReceiveTasks(7, task -> {}, task -> {});
        }
    }

    private static void setTasks(Rdma rdma, RdmaTaskType type, int count) {
        switch (type) {
            case RECEIVE -> rdma.setReceiveTasks(count, task -> {}, task -> {});
            case SEND -> rdma.setSendTasks(count, task -> {}, task -> {});
            case SEND_IMMEDIATE -> rdma.setSendImmediateTasks(count, task -> {}, task -> {});
            case READ -> rdma.setReadTasks(count, task -> {}, task -> {});
            case WRITE -> rdma.setWriteTasks(count, task -> {}, task -> {});
            case WRITE_IMMEDIATE -> rdma.setWriteImmediateTasks(count, task -> {}, task -> {});
            case ATOMIC_COMPARE_AND_SWAP ->
                    rdma.setCompareAndSwapTasks(count, task -> {}, task -> {});
            case ATOMIC_FETCH_AND_ADD -> rdma.setFetchAndAddTasks(count, task -> {}, task -> {});
            case REMOTE_SYNC_EVENT_GET ->
                    rdma.setRemoteSyncEventGetTasks(count, task -> {}, task -> {});
            case REMOTE_SYNC_EVENT_NOTIFY_SET ->
                    rdma.setRemoteSyncEventNotifySetTasks(count, task -> {}, task -> {});
            case REMOTE_SYNC_EVENT_NOTIFY_ADD ->
                    rdma.setRemoteSyncEventNotifyAddTasks(count, task -> {}, task -> {});
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_NONE, names = "REMOTE_.*")
    @Clause({"rdma-089", "rdma-123", "rdma-136"})
    @Clause({"rdma-145", "rdma-043"})
    void shouldNotSupportATypeOfTasksThatTheProfileLacks(RdmaTaskType lacking) {
        assertNotSupported(lacking);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.MATCH_ANY, names = "REMOTE_.*")
    @Clause({"rdma-152", "rdma-163", "rdma-172"})
    void shouldNotSupportOperationsOnRemoteSyncEventsThatTheProfileLacks(RdmaTaskType lacking) {
        assertNotSupported(lacking);
    }

    private void assertNotSupported(RdmaTaskType lacking) {
        Topology.Builder topology = Topology.builder("without one type");
        Topology.builtin().functions().stream()
                .map(f -> f.toBuilder().limit(RdmaCapabilities.tasksLimit(lacking), 0).build())
                .forEach(topology::add);
        try (Machine target = open(Side.TARGET, topology.build());
                Device t0 = target.findDevice("t0").open();
                Rdma rdma = Rdma.create(t0)) {
            RdmaCapabilities can = RdmaCapabilities.of(t0.info());
            Capabilities uniform = Capabilities.of(t0.info(), "rdma");
            for (RdmaTaskType type : RdmaTaskType.values()) {
                boolean supported = type != lacking;
                String name = "task_" + type.name().toLowerCase(Locale.ROOT);
                assertThat(can.isSupported(type)).as("%s", type).isEqualTo(supported);
                assertThat(uniform.isSupported(name)).as(name).isEqualTo(supported);
                if (supported) {
                    setTasks(rdma, type, can.maxTasks(type));
                } else {
                    assertThatThrownBy(() -> setTasks(rdma, type, 1))
                            .isInstanceOfSatisfying(
                                    DpuException.class,
                                    e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                            .hasMessageContainingAll(
                                    "type=" + type, RdmaCapabilities.tasksLimit(type).id());
                }
            }
        }
    }
}

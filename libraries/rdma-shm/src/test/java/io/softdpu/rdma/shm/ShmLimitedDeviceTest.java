package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.Locale;
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
        }
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
            assertThat(uniform.limit("max_send_buffer_list_length"))
                    .isEqualTo(can.maxSendBufferListLength());
            assertThat(uniform.limit("max_receive_buffer_list_length"))
                    .isEqualTo(can.maxReceiveBufferListLength());
            assertThat(uniform.isSupported("instance")).isTrue();
            for (RdmaTaskType type : RdmaTaskType.values()) {
                assertThat(uniform.isSupported("task_" + type.name().toLowerCase(Locale.ROOT)))
                        .as("%s", type)
                        .isEqualTo(can.isSupported(type));
            }
            refused("65", () -> rdma.setSendQueueSize(65));
            refused("3", () -> rdma.setMaxConnections(3));
            refused("8", () -> rdma.setReceiveTasks(8, task -> {}, task -> {}));
            assertThat(rdma.setSendQueueSize(33).sendQueueSize()).isEqualTo(64);
            assertThat(rdma.setMaxConnections(2).maxConnections()).isEqualTo(2);
            rdma.setReceiveTasks(7, task -> {}, task -> {});
        }
    }
}

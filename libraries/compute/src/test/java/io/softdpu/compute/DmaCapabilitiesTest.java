package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DmaCapabilitiesTest {
    @TempDir Path folder;

    /** A card whose only port has little of everything. */
    private static Topology small() {
        return Topology.builder("small")
                .add(
                        PciFunction.builder(Side.DPU, "p0")
                                .ibdevName("ib_p0")
                                .type(FunctionType.PF)
                                .pciAddress("03:00.0")
                                .ipv4("127.1.2.3")
                                .macAddress("02:00:00:00:00:01")
                                .vuid("V-p0")
                                .limit(DmaCapabilities.TASKS_LIMIT, 3)
                                .limit(DmaCapabilities.BUFFER_SIZE_LIMIT, 1000)
                                .limit(DmaCapabilities.BUFFER_LIST_LENGTH_LIMIT, 2)
                                .build())
                .build();
    }

    @Test
    @Clause("core-268")
    void shouldTellTheLimitsOfADeviceThatIsNotOpen() {
        try (Machine machine = machine(Side.DPU, Topology.builtin())) {
            DeviceInfo p0 = machine.findDevice("p0");
            DmaCapabilities dma = DmaCapabilities.of(p0);
            assertThat(dma.isSupported()).isTrue();
            assertThat(dma.isMemcpySupported()).isTrue();
            assertThat(dma.maxBufferListLength()).isEqualTo(64);
            assertThat(dma.maxBufferBytes()).isEqualTo(2L << 30);
            assertThat(dma.maxTasks()).isEqualTo(65536);
            Capabilities same = Capabilities.of(p0, "dma");
            assertThat(same.isSupported("task_memcpy")).isTrue();
            assertThat(same.limit("max_buffer_list_length")).isEqualTo(64);
            assertThat(same.limit("max_buffer_size")).isEqualTo(2L << 30);
            assertThat(same.limit("max_tasks")).isEqualTo(65536);
        }
    }

    @Test
    @Clause({"core-001", "core-266", "core-268"})
    void shouldHaveNoDmaOnADeviceThatIsNotOnTheCard() {
        try (Machine target = machine(Side.TARGET, Topology.builtin());
                Device t0 = target.findDevice("t0").open()) {
            assertThat(DmaCapabilities.of(t0.info()).isSupported()).isFalse();
            assertThat(DmaCapabilities.of(t0.info()).maxBufferListLength()).isZero();
            assertThat(Capabilities.of(t0.info(), "dma").isSupported("task_memcpy")).isFalse();
            assertThatThrownBy(() -> Dma.create(t0))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                    .hasMessageContaining("t0");
        }
        try (Machine host = machine(Side.HOST, Topology.builtin())) {
            assertThat(host.devices()).isNotEmpty();
            assertThat(host.devices())
                    .allMatch(device -> DmaCapabilities.of(device).isMemcpySupported());
        }
    }

    @Test
    @Clause({"core-107", "core-108", "core-267"})
    void shouldHoldToTheLimitsOfTheProfile() throws Exception {
        try (Machine machine = machine(Side.DPU, small());
                Device p0 = machine.findDevice("p0").open();
                DmaFixture fixture = new DmaFixture(p0)) {
            assertThat(fixture.dma.capabilities().maxTasks()).isEqualTo(3);
            assertThat(fixture.dma.capabilities().maxBufferBytes()).isEqualTo(1000);
            assertThat(fixture.dma.capabilities().maxBufferListLength()).isEqualTo(2);
            assertThatThrownBy(() -> fixture.start(4))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                    .hasMessageContaining("count=4, expected=1 to 3");
            fixture.start(3);
            Mmap memory = fixture.local(8192);
            assertThat(fixture.copy(fixture.source(memory, 0, 1000), room(fixture, memory)))
                    .isEqualTo(Status.SUCCESS);
            assertThat(fixture.refused(fixture.source(memory, 0, 1001), room(fixture, memory)))
                    .isEqualTo(Status.INVALID_VALUE);
            assertThat(fixture.copy(list(fixture, memory, 2), room(fixture, memory)))
                    .isEqualTo(Status.SUCCESS);
            assertThat(fixture.refused(list(fixture, memory, 3), room(fixture, memory)))
                    .isEqualTo(Status.INVALID_VALUE);
        }
    }

    @Test
    void shouldKeepToEachLimitThatItDeclares() {
        assertThat(Capabilities.limitsOf("dma"))
                .extracting(DeviceLimit::id)
                .containsExactly(
                        "dma.max_tasks", "dma.max_buffer_size", "dma.max_buffer_list_length");
        PciFunctionBuilder p0 = small().functions().getFirst().toBuilder();
        Capabilities.limitsOf("dma").forEach(limit -> p0.limit(limit, 1));
        Topology one = Topology.builder("one").add(p0.build()).build();
        try (Machine machine = machine(Side.DPU, one)) {
            Capabilities dma = Capabilities.of(machine.findDevice("p0"), "dma");
            for (DeviceLimit limit : Capabilities.limitsOf("dma")) {
                assertThat(dma.get(limit.capability())).isEqualTo(Capability.limit(limit, 1));
            }
        }
    }

    @Test
    void shouldOpenNoMachineWithALimitThatItDoesNotDeclare() {
        PciFunction p0 =
                small().functions().getFirst().toBuilder().limit("dma.max_jobs", 1).build();
        Topology unknown = Topology.builder("unknown").add(p0).build();
        assertThatThrownBy(() -> machine(Side.DPU, unknown))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll("limit=dma.max_jobs", "dpu/p0", "dma.max_tasks");
    }

    private static Buf room(DmaFixture fixture, Mmap memory) {
        return fixture.destination(memory, 4096, 4096);
    }

    private static Buf list(DmaFixture fixture, Mmap memory, int elements) {
        Buf head = fixture.source(memory, 0, 10);
        for (int i = 1; i < elements; i++) {
            head.chain(fixture.source(memory, 100L * i, 10));
        }
        return head;
    }

    private Machine machine(Side side, Topology topology) {
        return Machine.builder(side)
                .topology(topology)
                .fabricFolder(folder.resolve("fabric"))
                .open();
    }
}

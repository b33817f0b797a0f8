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
import io.softdpu.core.device.Topology;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShaCapabilitiesTest {
    @TempDir Path folder;

    /** A card whose only port has these limits of SHA. */
    private static Topology small(int tasks, int sizeBytes, int listLength) {
        return Topology.builder("small")
                .add(
                        PciFunction.builder(Side.DPU, "p0")
                                .ibdevName("ib_p0")
                                .type(FunctionType.PF)
                                .pciAddress("03:00.0")
                                .ipv4("127.1.2.3")
                                .macAddress("02:00:00:00:00:01")
                                .vuid("V-p0")
                                .limit(ShaCapabilities.TASKS_LIMIT, tasks)
                                .limit(ShaCapabilities.SOURCE_BUFFER_SIZE_LIMIT, sizeBytes)
                                .limit(ShaCapabilities.BUFFER_LIST_LENGTH_LIMIT, listLength)
                                .build())
                .build();
    }

    @Test
    @Clause("core-268")
    void shouldTellTheLimitsOfADeviceThatIsNotOpen() {
        try (Machine machine = machine(Side.DPU, Topology.builtin())) {
            DeviceInfo p0 = machine.findDevice("p0");
            ShaCapabilities sha = ShaCapabilities.of(p0);
            assertThat(sha.isSupported()).isTrue();
            assertThat(sha.isHardwareSupported()).isFalse();
            assertThat(sha.maxTasks()).isEqualTo(16_384);
            assertThat(sha.maxSourceBufferBytes()).isEqualTo(2L << 30);
            assertThat(sha.maxBufferListLength()).isEqualTo(64);
            assertThat(sha.partialHashBlockBytes(ShaAlgorithm.SHA1)).isEqualTo(64);
            assertThat(sha.partialHashBlockBytes(ShaAlgorithm.SHA256)).isEqualTo(64);
            assertThat(sha.partialHashBlockBytes(ShaAlgorithm.SHA512)).isEqualTo(128);
            assertThat(sha.minDestinationBufferBytes(ShaAlgorithm.SHA1)).isEqualTo(20);
            assertThat(sha.minDestinationBufferBytes(ShaAlgorithm.SHA256)).isEqualTo(32);
            assertThat(sha.minDestinationBufferBytes(ShaAlgorithm.SHA512)).isEqualTo(64);
            Capabilities same = Capabilities.of(p0, "sha");
            assertThat(same.limit("max_tasks")).isEqualTo(16_384);
            assertThat(same.limit("max_source_buffer_size")).isEqualTo(2L << 30);
            assertThat(same.limit("max_buffer_list_length")).isEqualTo(64);
            assertThat(same.isSupported("hardware")).isFalse();
            for (ShaAlgorithm algorithm : ShaAlgorithm.values()) {
                assertThat(sha.isHashSupported(algorithm)).isTrue();
                assertThat(sha.isPartialHashSupported(algorithm)).isTrue();
                String name = "_sha" + algorithm.standardName().substring(4);
                assertThat(same.isSupported("task_hash" + name)).isTrue();
                assertThat(same.isSupported("task_partial_hash" + name)).isTrue();
                assertThat(same.limit("partial_hash_block_size" + name))
                        .isEqualTo(algorithm.blockBytes());
                assertThat(same.limit("min_destination_buffer_size" + name))
                        .isEqualTo(algorithm.digestBytes());
            }
        }
    }

    @Test
    @Clause({"core-001", "core-266", "core-268"})
    void shouldHaveNoShaWhereTheDeviceOrItsProfileHasNone() {
        try (Machine target = machine(Side.TARGET, Topology.builtin())) {
            refuses(target, "t0");
        }
        try (Machine dpu = machine(Side.DPU, small(0, 1000, 2))) {
            refuses(dpu, "p0");
            try (Device p0 = dpu.findDevice("p0").open();
                    Dma dma = Dma.create(p0)) {
                assertThat(dma.capabilities().isSupported()).as("another library").isTrue();
            }
        }
        try (Machine host = machine(Side.HOST, Topology.builtin())) {
            assertThat(host.devices())
                    .isNotEmpty()
                    .allMatch(device -> ShaCapabilities.of(device).isSupported());
        }
    }

    private static void refuses(Machine machine, String name) {
        try (Device device = machine.findDevice(name).open()) {
            ShaCapabilities sha = ShaCapabilities.of(device.info());
            assertThat(sha.isSupported()).isFalse();
            assertThat(sha.maxSourceBufferBytes()).isZero();
            assertThat(sha.maxBufferListLength()).isZero();
            assertThat(Capabilities.of(device.info(), "sha").all())
                    .as("nothing is supported, and each limit is 0")
                    .allSatisfy(each -> assertThat(each.value()).isZero());
            assertThatThrownBy(() -> Sha.create(device))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                    .hasMessageContainingAll(
                            "device has no SHA: device=" + device,
                            "limit=sha.max_tasks, maxTasks=0");
        }
    }

    @Test
    @Clause({"core-107", "core-108", "core-267"})
    void shouldHoldToTheLimitsOfTheProfile() throws Exception {
        try (Machine machine = machine(Side.DPU, small(3, 1000, 2));
                Device p0 = machine.findDevice("p0").open();
                ShaFixture fixture = new ShaFixture(p0)) {
            assertThatThrownBy(() -> fixture.start(4))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                    .hasMessageContaining("count=4, expected=1 to 3");
            fixture.start(3);
            Mmap memory = fixture.base.local(8192);
            Buf room = fixture.base.destination(memory, 4096, 4096);
            assertThat(hash(fixture, fixture.base.source(memory, 0, 1000), room))
                    .isEqualTo(Status.SUCCESS);
            assertThat(hash(fixture, fixture.base.source(memory, 0, 1001), room))
                    .isEqualTo(Status.INVALID_VALUE);
            assertThat(hash(fixture, list(fixture, memory, 2), room)).isEqualTo(Status.SUCCESS);
            assertThat(hash(fixture, list(fixture, memory, 3), room))
                    .isEqualTo(Status.INVALID_VALUE);
            room.release();
        }
    }

    private static Status hash(ShaFixture fixture, Buf source, Buf destination) {
        return fixture.hash(ShaAlgorithm.SHA256, source, destination);
    }

    private static Buf list(ShaFixture fixture, Mmap memory, int elements) {
        Buf head = fixture.base.source(memory, 0, 10);
        for (int i = 1; i < elements; i++) {
            head.chain(fixture.base.source(memory, 100L * i, 10));
        }
        return head;
    }

    @Test
    void shouldKeepToEachLimitThatItDeclares() {
        assertThat(Capabilities.limitsOf("sha"))
                .extracting(DeviceLimit::id)
                .containsExactly(
                        "sha.max_tasks",
                        "sha.max_source_buffer_size",
                        "sha.max_buffer_list_length");
        assertThat(Capabilities.limitsOf("sha").stream().filter(DeviceLimit::optional))
                .containsExactly(ShaCapabilities.TASKS_LIMIT);
        try (Machine machine = machine(Side.DPU, small(1, 1, 1))) {
            Capabilities sha = Capabilities.of(machine.findDevice("p0"), "sha");
            for (DeviceLimit limit : Capabilities.limitsOf("sha")) {
                assertThat(sha.get(limit.capability())).isEqualTo(Capability.limit(limit, 1));
            }
        }
    }

    private Machine machine(Side side, Topology topology) {
        return Machine.builder(side)
                .topology(topology)
                .fabricFolder(folder.resolve("fabric"))
                .open();
    }
}

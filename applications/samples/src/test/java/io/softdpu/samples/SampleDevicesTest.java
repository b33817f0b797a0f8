package io.softdpu.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.FunctionType;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.OwnFabric;
import java.nio.file.Path;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the choice of devices for samples. */
@ExtendWith(OwnFabric.class)
class SampleDevicesTest {
    @TempDir Path folder;

    /** A card whose functions have other names than those of the built-in one. */
    private static Topology other(int dmaTasksOfFirst) {
        return Topology.builder("other")
                .add(
                        PciFunction.builder(Side.DPU, "up0")
                                .ibdevName("mlx5_1")
                                .ipv4("127.9.0.1")
                                .vuid("TEST-1")
                                .activeRate(1_000_000_000)
                                .type(FunctionType.PF)
                                .pciAddress("05:00.0")
                                .macAddress("02:53:44:00:00:01")
                                .limit("dma.max_tasks", dmaTasksOfFirst)
                                .build())
                .add(
                        PciFunction.builder(Side.DPU, "up1")
                                .ibdevName("mlx5_2")
                                .ipv4("127.9.0.2")
                                .vuid("TEST-2")
                                .activeRate(1_000_000_000)
                                .type(FunctionType.PF)
                                .pciAddress("05:00.1")
                                .macAddress("02:53:44:00:00:02")
                                .build())
                .add(
                        PciFunction.builder(Side.HOST, "fn1")
                                .ibdevName("mlx5_3")
                                .ipv4("127.9.0.3")
                                .vuid("TEST-3")
                                .activeRate(1_000_000_000)
                                .type(FunctionType.PF)
                                .pciAddress("0d:00.0")
                                .macAddress("02:53:44:00:00:03")
                                .parent("up1")
                                .representor("rep1")
                                .build())
                .build();
    }

    private Machine dpuOf(Topology topology) {
        return Machine.builder(Side.DPU)
                .fabricFolder(folder.resolve("fabric"))
                .topology(topology)
                .open();
    }

    @Test
    void shouldChooseTheFirstDeviceWithEnoughTasks() {
        try (Machine machine = dpuOf(other(8))) {
            assertThat(SampleDevices.forDma(machine, null, 8, 4096).interfaceName())
                    .isEqualTo("up0");
            assertThat(SampleDevices.forDma(machine, null, 9, 4096).interfaceName())
                    .isEqualTo("up1");
            assertThat(SampleDevices.forDma(machine, "up0", 9, 4096).interfaceName())
                    .isEqualTo("up0");
        }
    }

    @Test
    void shouldChooseFunctionPortAndRepresentorThatBelongTogether() {
        Topology topology = other(8);
        assertThat(SampleDevices.hostFunction(topology, null)).isEqualTo("fn1");
        assertThat(SampleDevices.port(topology, null, null)).isEqualTo("up1");
        assertThat(SampleDevices.port(topology, null, "rep1")).isEqualTo("up1");
        try (Machine machine = dpuOf(topology)) {
            DeviceInfo port = machine.findDevice("up1");
            assertThat(SampleDevices.representor(port, null)).isEqualTo("rep1");
            assertNamesWhatIsMissing(
                    () -> SampleDevices.representor(machine.findDevice("up0"), null),
                    "a function of the host at the port up0");
        }
    }

    @Test
    void shouldChooseOnTheBuiltInCardTheFirstPort() {
        Topology topology = Topology.builtin();
        assertThat(SampleDevices.hostFunction(topology, null)).isEqualTo("pf0");
        assertThat(SampleDevices.port(topology, null, null)).isEqualTo("p0");
        assertThat(SampleDevices.port(topology, null, "hpf1")).isEqualTo("p1");
    }

    @Test
    void shouldNameWhatTheTopologyLacks() {
        Topology lonely =
                Topology.builder("lonely")
                        .add(
                                PciFunction.builder(Side.TARGET, "t0")
                                        .ibdevName("mlx5_4")
                                        .ipv4("127.9.0.4")
                                        .vuid("TEST-4")
                                        .activeRate(1_000_000_000)
                                        .type(FunctionType.PF)
                                        .pciAddress("05:00.0")
                                        .macAddress("02:53:44:00:00:04")
                                        .build())
                        .build();
        assertNamesWhatIsMissing(
                () -> SampleDevices.hostFunction(lonely, null),
                "a function of the host that a port of the DPU exposes");
        try (Machine machine = dpuOf(lonely)) {
            assertNamesWhatIsMissing(
                    () -> SampleDevices.forDma(machine, null, 16, 4096),
                    "a device of the side dpu for DMA with 16 tasks of 4096 bytes");
        }
    }

    @Test
    void shouldRunASampleOnTheTopologyOfItsSettings() {
        SampleSettings settings = new SampleSettings(other(8), java.util.Map.of());
        new PePolling().run(settings, System.out);
    }

    private static void assertNamesWhatIsMissing(ThrowingCallable call, String missing) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                .hasMessageContaining("topology lacks a device for this sample: topology=")
                .hasMessageContaining("expected=" + missing);
    }
}

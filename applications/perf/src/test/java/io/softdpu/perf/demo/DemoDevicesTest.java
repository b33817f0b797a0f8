package io.softdpu.perf.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Side;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.topology.json.TopologyJson;
import org.junit.jupiter.api.Test;

class DemoDevicesTest {
    @Test
    void shouldTakeTheFirstFunctionItsPortAndTheTarget() {
        DemoDevices builtin = DemoDevices.of(Topology.builtin());
        assertThat(builtin.host().pciAddress()).hasToString("0b:00.0");
        assertThat(builtin.port().pciAddress()).hasToString("03:00.0");
        assertThat(builtin.target().interfaceName()).isEqualTo("t0");
        DemoDevices guide = DemoDevices.of(TopologyJson.shipped("storage-guide"));
        assertThat(guide.host().pciAddress()).hasToString("3b:00.0");
        assertThat(guide.port().pciAddress()).hasToString("03:00.0");
    }

    @Test
    void shouldSayWhatATopologyLacks() {
        Topology.Builder noTarget = Topology.builder("no target");
        Topology.builtin().functions().stream()
                .filter(f -> f.side() != Side.TARGET)
                .forEach(noTarget::add);
        assertThatThrownBy(() -> DemoDevices.of(noTarget.build()))
                .hasMessageContainingAll("no target", "a device of the target");
        Topology.Builder noDpu = Topology.builder("card as a plain adapter");
        Topology.builtin().functions().stream()
                .filter(f -> f.side() == Side.HOST)
                .map(f -> f.toBuilder().parent(null).representor(null).build())
                .forEach((PciFunction f) -> noDpu.add(f));
        assertThatThrownBy(() -> DemoDevices.of(noDpu.build()))
                .hasMessageContaining("a function of the host that a port of the DPU made");
    }
}

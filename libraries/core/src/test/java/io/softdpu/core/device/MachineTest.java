package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.capability.Capabilities;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MachineTest {
    @TempDir Path folder;

    @Test
    void shouldLetBothSidesLiveInOneProgram() throws Exception {
        try (Machines machines = new Machines(folder)) {
            Machine host = machines.open(Side.HOST);
            Machine dpu = machines.open(Side.DPU);
            assertThat(host.fabricFolder()).isEqualTo(dpu.fabricFolder());
            assertThat(host.side()).isEqualTo(Side.HOST);
            assertThat(host.topology()).isEqualTo(Topology.builtin());
            assertThat(host.devices()).hasSize(5);
            assertThat(dpu.devices()).hasSize(4);
        }
    }

    @Test
    void shouldRefuseAnotherTopologyInTheSameFolderAndNameBoth() throws Exception {
        Topology.Builder other = Topology.builder("smaller");
        Topology.builtin().functionsOf(Side.HOST).stream()
                .filter(f -> f.parent() == null)
                .forEach(other::add);
        Topology smaller = other.build();
        try (Machines machines = new Machines(folder)) {
            machines.open(Side.HOST);
            Machine.Builder second =
                    Machine.builder(Side.DPU).fabricFolder(machines.folder()).topology(smaller);
            Thrown.with(Status.BAD_CONFIG, second::open)
                    .hasMessageContainingAll(
                            "default",
                            "smaller",
                            Topology.builtin().sha256Hex().substring(0, 8),
                            smaller.sha256Hex().substring(0, 8));
        }
        // With nobody left the folder takes any topology.
        Machine.builder(Side.DPU)
                .fabricFolder(folder.resolve("fabric"))
                .topology(smaller)
                .open()
                .close();
    }

    @Test
    void shouldRefuseLimitsThatMakeNoSense() {
        Machine.Builder builder = Machine.builder(Side.HOST);
        Thrown.with(Status.INVALID_VALUE, () -> builder.retainedLimitBytes(-1));
        Thrown.with(Status.INVALID_VALUE, () -> builder.importLimitBytes(0));
        Thrown.with(Status.INVALID_VALUE, () -> builder.importedBytesLimit(0));
        Thrown.with(Status.INVALID_VALUE, () -> builder.importedBytesLimitPerPeer(0));
        Thrown.with(Status.INVALID_VALUE, () -> builder.handshakeTimeout(Duration.ZERO));
    }

    @Test
    void shouldTellHowMuchMemoryOfPeersItMaps() {
        try (Machine machine = builder().open()) {
            long all = machine.importedBytesLimit();
            assertThat(all).isPositive();
            assertThat(machine.importedBytesLimitPerPeer()).isEqualTo(all - all / 4);
            Capabilities core = Capabilities.of(machine.findDevice("pf0"), "core");
            assertThat(core.limit("max_imported_bytes")).isEqualTo(all);
            assertThat(core.limit("max_imported_bytes_per_peer")).isEqualTo(all - all / 4);
        }
        try (Machine machine =
                builder().importedBytesLimit(1000).importedBytesLimitPerPeer(900).open()) {
            assertThat(machine.importedBytesLimit()).isEqualTo(1000);
            assertThat(machine.importedBytesLimitPerPeer()).isEqualTo(900);
        }
    }

    private Machine.Builder builder() {
        return Machine.builder(Side.HOST).fabricFolder(folder.resolve("fabric"));
    }
}

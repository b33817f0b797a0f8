package io.softdpu.core.capability;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machine;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CapabilitiesTest {
    @TempDir Path folder;
    private Machines machines;
    private Machine dpu;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        dpu = machines.open(Side.DPU);
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @Test
    @Clause({"core-266", "core-268"})
    void shouldTakeADeviceAndGiveAResultOrAStatus() {
        DeviceInfo p0 = dpu.findDevice("p0");
        Capabilities core = Capabilities.of(p0, "core");
        assertThat(core.library()).isEqualTo("core");
        assertThat(core.device()).isSameAs(p0);
        assertThat(core.isSupported("mmap_from_export_pci")).isTrue();
        assertThat(core.isSupported("mmap_export_pci")).isFalse();
        assertThat(Capabilities.of(dpu.findDevice("p0s0"), "core").isSupported("hotplug_manager"))
                .isFalse();
        Thrown.with(Status.NOT_FOUND, () -> core.isSupported("warp_drive"))
                .hasMessageContainingAll("warp_drive", "library=core", "representor_list");
        Thrown.with(Status.INVALID_VALUE, () -> core.limit("representor_list"))
                .hasMessageContaining("no limit");
        Thrown.with(Status.NOT_FOUND, () -> Capabilities.of(p0, "sha"))
                .hasMessageContainingAll("library=sha", "core");
        Thrown.with(Status.INVALID_VALUE, () -> Capabilities.of(null, "core"));
    }

    @Test
    void shouldListEachLibraryOnceAndCoreFirst() {
        assertThat(Capabilities.libraries()).startsWith("core").doesNotHaveDuplicates();
        assertThat(Capabilities.of(dpu.findDevice("p0")))
                .extracting(Capabilities::library)
                .isEqualTo(Capabilities.libraries());
    }

    @Test
    void shouldPrintWhatItSays() {
        assertThat(Capability.support("server", true)).hasToString("server=yes");
        assertThat(Capability.support("server", false)).hasToString("server=no");
        assertThat(Capability.limit(DeviceLimit.COMCH_MAX_CLIENTS, 3)).hasToString("max_clients=3");
        assertThat(Capability.limit(DeviceLimit.RDMA_MAX_MESSAGE_SIZE, 0))
                .hasToString("max_message_size=0 bytes")
                .extracting(Capability::isSupported)
                .isEqualTo(false);
    }

    @Test
    void shouldRefuseACapabilityThatCannotBe() {
        Thrown.with(Status.INVALID_VALUE, () -> new Capability("Server", Unit.SUPPORT, 1));
        Thrown.with(Status.INVALID_VALUE, () -> new Capability("server", Unit.SUPPORT, 2))
                .hasMessageContaining("value=2");
        Thrown.with(Status.INVALID_VALUE, () -> Capability.limit("most", Unit.COUNT, -1));
    }

    @Test
    void shouldFindEachLimitByItsId() {
        for (DeviceLimit limit : DeviceLimit.values()) {
            assertThat(DeviceLimit.of(limit.id())).isSameAs(limit);
            assertThat(limit.id()).isEqualTo(limit.library() + "." + limit.capability());
        }
        assertThat(DeviceLimit.COMCH_PRODUCER_MAX_TASKS.id()).isEqualTo("comch-producer.max_tasks");
        assertThat(Arrays.stream(DeviceLimit.values()).map(DeviceLimit::id))
                .doesNotHaveDuplicates();
        Thrown.with(Status.INVALID_VALUE, () -> DeviceLimit.of("comch.max"))
                .hasMessageContainingAll("comch.max", "comch.max_clients");
    }
}

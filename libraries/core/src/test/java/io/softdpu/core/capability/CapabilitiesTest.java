package io.softdpu.core.capability;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.capability.Capability.Unit;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Machine;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.List;
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
        assertThat(core.limit("max_imported_bytes")).isEqualTo(dpu.importedBytesLimit());
        assertThat(core.limit("max_imported_bytes_per_peer"))
                .isEqualTo(dpu.importedBytesLimitPerPeer())
                .isNotEqualTo(dpu.importedBytesLimit());
        Thrown.with(Status.NOT_FOUND, () -> core.isSupported("warp_drive"))
                .hasMessageContainingAll("warp_drive", "library=core", "representor_list");
        Thrown.with(Status.INVALID_VALUE, () -> core.limit("representor_list"))
                .hasMessageContaining("no limit");
        Thrown.with(Status.NOT_FOUND, () -> Capabilities.of(p0, "sha"))
                .hasMessageContainingAll("library=sha", "core");
        Thrown.with(Status.INVALID_VALUE, () -> Capabilities.of(null, "core"));
    }

    @Test
    @Clause("core-268")
    void shouldTellTheSameByNameAsByGetter() {
        for (Machine machine : List.of(dpu, machines.open(Side.HOST))) {
            for (DeviceInfo device : machine.devices()) {
                Capabilities core = Capabilities.of(device, "core");
                assertThat(core.isSupported("mmap_export_pci"))
                        .isEqualTo(device.isMmapExportPciSupported());
                assertThat(core.isSupported("mmap_from_export_pci"))
                        .isEqualTo(device.isMmapFromExportPciSupported());
                assertThat(core.isSupported("representor_list"))
                        .isEqualTo(device.isRepresentorListSupported());
                assertThat(core.isSupported("hotplug_manager"))
                        .isEqualTo(device.isHotplugManagerSupported());
            }
        }
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
        assertThat(Capability.limit(ExampleSource.THINGS, 3)).hasToString("max_things=3");
        assertThat(Capability.limit(ExampleSource.SIZE, 0))
                .hasToString("max_size=0 bytes")
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
    void shouldTellWhichLimitsALibraryDeclares() {
        assertThat(Capabilities.limitsOf("core")).isEmpty();
        assertThat(Capabilities.limitsOf("example"))
                .containsExactly(ExampleSource.THINGS, ExampleSource.SIZE, ExampleSource.EXTRAS);
        Thrown.with(Status.NOT_FOUND, () -> Capabilities.limitsOf("sha"))
                .hasMessageContainingAll("library=sha", "core", "example");
        assertThat(Capabilities.acceptsLimit("example.max_things")).isTrue();
        assertThat(Capabilities.acceptsLimit("example.max_thing")).isFalse();
        assertThat(Capabilities.acceptsLimit("core.max_imported_bytes")).isFalse();
        for (String absent : new String[] {"sha", "exam", "examples-of-others", "xpl", "cores"}) {
            assertThat(Capabilities.acceptsLimit(absent + ".max_things"))
                    .as("the library is not loaded: %s", absent)
                    .isTrue();
        }
        for (String misspelt :
                new String[] {"exmaple", "exampl", "examplee", "eample", "exomple"}) {
            assertThat(Capabilities.acceptsLimit(misspelt + ".max_things")).as(misspelt).isFalse();
            assertThat(Capabilities.acceptedInsteadOf(misspelt + ".max_thing"))
                    .isEqualTo(
                            "a limit of example, one of [example.max_things, example.max_size,"
                                    + " example.max_extras]; did you mean example.max_things?");
        }
        assertThat(Capabilities.acceptedInsteadOf("example.unlike_any"))
                .startsWith("a limit of example, one of [")
                .endsWith("]");
        assertThat(Capabilities.acceptedInsteadOf("core.max_imported_bytes"))
                .isEqualTo("a limit of another library, core declares none");
        Thrown.with(Status.INVALID_VALUE, () -> Capabilities.acceptsLimit("example"))
                .hasMessageContainingAll("limit=example", "comch.max_clients");
    }

    @Test
    void shouldTakeNoLibraryThatDeclaresLimitsWrongly() {
        DeviceLimit own = DeviceLimit.ofCount("odd", "max_things");
        Capabilities.requireConsistent(odd(own, DeviceLimit.ofBytes("odd", "max_size")));
        assertThatThrownBy(() -> Capabilities.requireConsistent(odd(own, ExampleSource.THINGS)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("limit=example.max_things", "library=odd");
        assertThatThrownBy(() ->
                        Capabilities.requireConsistent(
                                odd(own, DeviceLimit.ofBytes("odd", "max_things"))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("each once");
    }

    private static CapabilitySource odd(DeviceLimit... limits) {
        return new CapabilitySource() {
            @Override
            public String library() {
                return "odd";
            }

            @Override
            public List<DeviceLimit> limits() {
                return List.of(limits);
            }

            @Override
            public List<Capability> capabilities(DeviceInfo device) {
                return List.of();
            }
        };
    }
}

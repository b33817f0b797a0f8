package io.softdpu.core.capability;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.DeviceLimit;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.PciFunctionBuilder;
import io.softdpu.core.device.Topology;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits in the profiles of functions, of present and missing libraries. */
class ProfileTest {
    @TempDir Path folder;
    private Machines machines;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private static Topology limited(String id, long most) {
        return limited(id, most, function -> function);
    }

    private static Topology limited(String id, long most, UnaryOperator<PciFunctionBuilder> more) {
        Topology.Builder topology = Topology.builder("limited");
        Topology.builtin()
                .functions()
                .forEach(f -> topology.add(more.apply(f.toBuilder().limit(id, most)).build()));
        return topology.build();
    }

    private Machine.Builder machine(Topology topology) {
        return Machine.builder(Side.DPU).fabricFolder(machines.folder()).topology(topology);
    }

    @Test
    void shouldAnswerTheLoweredLimit() {
        Machine dpu = machines.add(machine(limited("example.max_things", 3)).open());
        Capabilities example = Capabilities.of(dpu.findDevice("p0"), "example");
        assertThat(example.limit("max_things")).isEqualTo(3);
        assertThat(example.limit("max_size")).isEqualTo(4096);
    }

    @Test
    void shouldNotRaiseALimit() {
        Machine dpu = machines.add(machine(limited("example.max_things", Long.MAX_VALUE)).open());
        assertThat(Capabilities.of(dpu.findDevice("p0"), "example").limit("max_things"))
                .isEqualTo(8);
    }

    @Test
    void shouldOpenNoMachineWithALimitThatItsLibraryDoesNotDeclare() {
        Thrown.with(Status.INVALID_VALUE, () -> machine(limited("example.most", 3)).open())
                .hasMessageContainingAll(
                        "limit=example.most",
                        "function=host/pf0",
                        "library=example",
                        "expected=a limit of example, one of [example.max_things,"
                                + " example.max_size, example.max_extras]");
        Thrown.with(Status.INVALID_VALUE, () -> machine(limited("exampel.max_size", 3)).open())
                .hasMessageContainingAll(
                        "limit=exampel.max_size",
                        "function=host/pf0",
                        "expected=a limit of example, one of [example.max_things,",
                        "; did you mean example.max_size?");
        assertThat(Files.exists(machines.folder())).as("joined the folder").isFalse();
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> machine(limited("core.max_imported_bytes", 3)).open())
                .hasMessageContaining("library=core, expected=a limit of another library");
    }

    @Test
    void shouldTakeZeroForALimitThatItsLibraryDeclaresAsOptional() {
        Topology without = limited("example.max_things", 1, f -> f.limit(ExampleSource.EXTRAS, 0));
        assertThat(without.canonicalText()).contains(" limit.example.max_extras=0 ");
        assertThat(Topology.parse("again", without.canonicalText()).sha256Hex())
                .isEqualTo(without.sha256Hex());
        Machine dpu = machines.add(machine(without).open());
        Capabilities example = Capabilities.of(dpu.findDevice("p0"), "example");
        assertThat(example.isSupported("max_extras")).isFalse();
        assertThat(example.isSupported("max_things")).isTrue();
        Thrown.with(Status.NOT_SUPPORTED, () -> example.limit("max_extras"));
        Device p0 = machines.add(dpu.findDevice("p0").open());
        p0.plug(emulated().limit("example.max_extras", 0).build());
        assertThat(Capabilities.leastValueOf("example.max_extras")).isZero();
        assertThat(Capabilities.leastValueOf("example.max_things")).isEqualTo(1);
        assertThat(Capabilities.leastValueOf("example.most")).isEqualTo(1);
        assertThat(Capabilities.leastValueOf("sha.max_things")).as("nobody can tell").isZero();
    }

    @Test
    void shouldRefuseZeroForAnyOtherLimit() {
        Thrown.with(Status.INVALID_VALUE, () -> emulated().limit(ExampleSource.THINGS, 0))
                .hasMessageContainingAll(
                        "function=host/e0",
                        "limit=example.max_things",
                        "value=0",
                        "expected=1 or more");
        Thrown.with(Status.INVALID_VALUE, () -> emulated().limit(ExampleSource.EXTRAS, -1))
                .hasMessageContainingAll("value=-1", "expected=0 or more");
        for (String id : new String[] {"example.max_things", "example.max_size"}) {
            Thrown.with(Status.INVALID_VALUE, () -> machine(limited(id, 0)).open())
                    .hasMessageContainingAll(
                            "limit=" + id, "function=host/pf0", "value=0", "expected=1 or more");
        }
        assertThat(Files.exists(machines.folder())).as("joined the folder").isFalse();
        Device p0 = machines.device(Side.DPU, "p0");
        PciFunction none = emulated().limit("example.max_things", 0).build();
        Thrown.with(Status.INVALID_VALUE, () -> p0.plug(none))
                .hasMessageContainingAll("limit=example.max_things", "value=0");
        p0.plug(emulated().build());
        Thrown.with(Status.INVALID_VALUE, () -> p0.change(none))
                .hasMessageContainingAll("limit=example.max_things", "value=0");
        assertThat(none.lowered(ExampleSource.THINGS, 8)).as("plugged in elsewhere").isEqualTo(1);
    }

    @Test
    void shouldKeepALimitOfALibraryThatIsNotThere() {
        Topology topology = limited("sha.max_things", 3);
        assertThat(topology.sha256Hex()).isNotEqualTo(Topology.builtin().sha256Hex());
        assertThat(topology.canonicalText()).contains(" limit.sha.max_things=3\n");
        Machine dpu = machines.add(machine(topology).open());
        assertThat(dpu.findDevice("p0").function().profile()).containsEntry("sha.max_things", 3L);
        assertThat(Capabilities.of(dpu.findDevice("p0"), "example").limit("max_things"))
                .isEqualTo(8);
        Thrown.with(Status.BAD_CONFIG, () -> machine(Topology.builtin()).open())
                .hasMessageContainingAll(topology.sha256Hex(), Topology.builtin().sha256Hex());
        Thrown.with(Status.BAD_CONFIG, () -> machine(limited("sha.max_things", 4)).open());
    }

    @Test
    void shouldPlugInAndChangeOnlyWithLimitsThatTheirLibrariesDeclare() {
        Device p0 = machines.device(Side.DPU, "p0");
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> p0.plug(emulated().limit("example.most", 3).build()))
                .hasMessageContainingAll("limit=example.most", "host/e0", "example.max_things");
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> p0.plug(emulated().limit("exmaple.max_thing", 3).build()))
                .hasMessageContainingAll(
                        "limit=exmaple.max_thing", "; did you mean example.max_things?");
        Thrown.with(Status.INVALID_VALUE, () -> p0.plug(emulated().limit("core.most", 3).build()))
                .hasMessageContaining("expected=a limit of another library, core declares none");
        assertThat(p0.machine().topologyNow()).isEqualTo(Topology.builtin());
        PciFunction plugged =
                emulated().limit("example.max_things", 3).limit("sha.max_things", 4).build();
        p0.plug(plugged);
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> p0.change(plugged.toBuilder().limit("example.most", 3).build()))
                .hasMessageContaining("limit=example.most");
        Machine host = machines.open(Side.HOST);
        assertThat(host.findDevice("e0").function().profile())
                .containsExactly(
                        Map.entry("example.max_things", 3L), Map.entry("sha.max_things", 4L));
        assertThat(Capabilities.of(host.findDevice("e0"), "example").limit("max_things"))
                .isEqualTo(3);
    }

    @Test
    void shouldReadWhatAProgramWithOtherLibrariesHasPluggedIn() throws Exception {
        Device p0 = machines.device(Side.DPU, "p0");
        p0.plug(emulated().limit("sha.max_things", 3).build());
        Path note = machines.folder().resolve("hotplug");
        Files.writeString(
                note, Files.readString(note).replace("sha.max_things=3", "example.newer=3"));
        Machine host = machines.open(Side.HOST);
        assertThat(host.findDevice("e0").function().profile()).containsKey("example.newer");
        assertThat(Capabilities.of(host.findDevice("e0"), "example").limit("max_things"))
                .as("lowered by nothing")
                .isEqualTo(8);
    }

    @Test
    void shouldRefuseWhatIsNoLimitByItsForm() {
        for (String id :
                new String[] {
                    "", "example", ".max_things", "example.", "Example.max_things",
                    "example.max.things", "example.max-things", "1.max_things", "a b.c", "a.b\n"
                }) {
            Thrown.with(Status.INVALID_VALUE, () -> emulated().limit(id, 1))
                    .hasMessageContaining("malformed limit");
            Thrown.with(Status.INVALID_VALUE, () -> DeviceLimit.libraryOf(id));
        }
        Thrown.with(Status.INVALID_VALUE, () -> DeviceLimit.ofCount("a.b", "c"))
                .hasMessageContainingAll("limit=a.b.c", DeviceLimit.ID_FORM);
        Thrown.with(Status.INVALID_VALUE, () -> DeviceLimit.ofBytes("a", "b.c"));
        Map<String, Long> profile = new HashMap<>(Map.of("sha.max_things", -1L));
        Thrown.with(Status.INVALID_VALUE, () -> withProfile(profile))
                .hasMessageContainingAll("limit=sha.max_things", "value=-1");
        Thrown.with(Status.INVALID_VALUE, () -> withProfile(Map.of("things", 1L)))
                .hasMessageContaining("limit=things");
    }

    @Test
    void shouldKeepNoMapOfTheCaller() {
        Map<String, Long> profile = new HashMap<>(Map.of("sha.b", 2L, "sha.a", 1L));
        PciFunction function = withProfile(profile);
        profile.clear();
        assertThat(function.profile())
                .containsExactly(Map.entry("sha.a", 1L), Map.entry("sha.b", 2L));
    }

    private static PciFunction withProfile(Map<String, Long> profile) {
        PciFunction f = emulated().build();
        return new PciFunction(
                f.side(),
                f.interfaceName(),
                f.ibdevName(),
                f.type(),
                f.pciAddress(),
                f.parent(),
                f.representor(),
                f.ipv4(),
                f.ipv6(),
                f.macAddress(),
                f.vuid(),
                f.activeRateBitsPerSecond(),
                profile,
                f.hotplugged());
    }

    private static PciFunctionBuilder emulated() {
        return PciFunction.builder(Side.HOST, "e0")
                .ibdevName("ib_e0")
                .pciAddress("0c:00.0")
                .parent("p0")
                .representor("r_e0")
                .ipv4("127.12.0.1")
                .macAddress("02:53:44:0c:00:01")
                .vuid("SDPU-e0");
    }
}

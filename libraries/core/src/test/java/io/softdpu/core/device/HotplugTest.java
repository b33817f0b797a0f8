package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.StartsProcesses;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Functions that are plugged in, changed and unplugged while the programs of the card are running.
 */
class HotplugTest {

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Machine dpu;
    private Device p0;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        dpu = machines.open(Side.DPU);
        p0 = machines.device(dpu, "p0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private static PciFunctionBuilder emulated(String name, String pci) {
        return PciFunction.builder(Side.HOST, name)
                .ibdevName("ib_" + name)
                .pciAddress(pci)
                .parent("p0")
                .representor("r_" + name)
                .ipv4("127.12.0.1")
                .macAddress("02:53:44:0c:00:01")
                .vuid("SDPU-" + name);
    }

    private static List<String> names(List<DeviceInfo> devices) {
        return devices.stream().map(DeviceInfo::interfaceName).toList();
    }

    private static List<String> representorNames(List<RepresentorInfo> representors) {
        return representors.stream().map(RepresentorInfo::interfaceName).toList();
    }

    @Test
    @Clause("core-061")
    void shouldShowWhatWasPluggedInNewListsAlone() {
        List<DeviceInfo> before = host.devices();
        List<RepresentorInfo> representorsBefore = p0.representors();
        RepresentorInfo plugged = p0.plug(emulated("e0", "0c:00.0").build());

        assertThat(plugged.isHotplugged()).isTrue();
        assertThat(plugged.pciAddress()).hasToString("0c:00.0");
        assertThat(names(before)).doesNotContain("e0");
        assertThat(names(host.devices())).contains("e0").containsAll(names(before));
        assertThat(representorNames(representorsBefore)).doesNotContain("r_e0");
        assertThat(representorNames(p0.representors())).contains("r_e0");
        assertThat(host.findDevice("0000:0c:00.0").function().hotplugged()).isTrue();
        assertThat(host.topology()).as("what all have agreed on").isEqualTo(Topology.builtin());
        assertThat(host.topologyNow()).isEqualTo(dpu.topologyNow());

        List<DeviceInfo> between = host.devices();
        List<RepresentorInfo> representorsBetween = p0.representors();
        p0.unplug(plugged);
        assertThat(names(between)).contains("e0");
        assertThat(representorNames(representorsBetween)).contains("r_e0").hasSize(5);
        assertThat(names(host.devices())).isEqualTo(names(before));
        assertThat(representorNames(p0.representors()))
                .isEqualTo(representorNames(representorsBefore));
    }

    @Test
    @Clause("core-269")
    void shouldTellOfEachDeviceWhetherItPlugsFunctionsIn() {
        for (Machine machine : List.of(host, dpu)) {
            for (DeviceInfo info : machine.devices()) {
                Device device = machines.device(machine, info.interfaceName());
                PciFunction function =
                        emulated("e0", "0c:00.0").parent(info.interfaceName()).build();
                if (info.isHotplugManagerSupported()) {
                    device.unplug(device.plug(function));
                } else {
                    Thrown.with(Status.NOT_SUPPORTED, () -> device.plug(function));
                }
            }
        }
        assertThat(
                        names(
                                dpu.devices().stream()
                                        .filter(DeviceInfo::isHotplugManagerSupported)
                                        .toList()))
                .containsExactly("p0", "p1");
    }

    @Test
    @Clause({"core-061", "core-062"})
    void shouldShowANewAddressInANewListAlone() {
        List<RepresentorInfo> listBefore = p0.representors();
        RepresentorInfo before = p0.findRepresentor("hpf0vf0");
        PciFunction functionBefore = before.function();
        DeviceInfo deviceBefore = host.findDevice("pf0vf0");
        RepresentorInfo now =
                p0.change(functionBefore.toBuilder().pciAddress("0d:00.1").vuid("changed").build());

        assertThat(now.pciAddress()).hasToString("0d:00.1");
        assertThat(before.pciAddress()).hasToString("0b:00.2");
        assertThat(listBefore)
                .extracting(info -> info.pciAddress().toString())
                .containsExactly("03:00.0", "0b:00.0", "0b:00.2", "0b:00.3");
        assertThat(before.function()).isEqualTo(functionBefore);
        assertThat(listBefore)
                .extracting(RepresentorInfo::vuid)
                .containsExactly(
                        "SDPU-dpu-p0s0", "SDPU-host-pf0", "SDPU-host-pf0vf0", "SDPU-host-pf0vf1");
        assertThat(p0.findRepresentor("hpf0vf0").vuid()).isEqualTo("changed");
        assertThat(p0.representors())
                .extracting(info -> info.pciAddress().toString())
                .containsExactlyInAnyOrder("03:00.0", "0b:00.0", "0d:00.1", "0b:00.3");
        assertThat(deviceBefore.pciAddress()).hasToString("0b:00.2");
        assertThat(p0.findRepresentor("0d:00.1").interfaceName()).isEqualTo("hpf0vf0");
        assertThat(host.findDevice("0d:00.1").interfaceName()).isEqualTo("pf0vf0");
        Thrown.with(Status.NOT_FOUND, () -> host.findDevice("0b:00.2"));
        Thrown.with(Status.NOT_FOUND, () -> p0.findRepresentor("0b:00.2"));
        assertThat(now.isHotplugged()).as("the card came with it").isFalse();
        RepresentorInfo changedAgain =
                p0.change(now.function().toBuilder().pciAddress("0d:00.2").build());
        assertThat(changedAgain.pciAddress()).hasToString("0d:00.2");
        assertThat(p0.representors())
                .extracting(info -> info.pciAddress().toString())
                .as("each change, not the first alone")
                .containsExactlyInAnyOrder("03:00.0", "0b:00.0", "0d:00.2", "0b:00.3");
        assertThat(now.pciAddress()).hasToString("0d:00.1");
        assertThat(host.findDevice("pf0vf0").pciAddress()).hasToString("0d:00.2");
        machines.add(before.open());
        machines.add(deviceBefore.open());
    }

    @Test
    @Clause("core-048")
    void shouldTellEmulatedFunctionsFromThoseOfTheNetwork() {
        p0.plug(emulated("e0", "0c:00.0").build());
        assertThat(representorNames(machines.device(dpu, "p1").representors()))
                .containsExactly("pf1sf0", "hpf1", "hpf1vf0");
        assertThat(representorNames(p0.representors(RepresentorFilter.EMULATED)))
                .containsExactly("r_e0");
        assertThat(representorNames(p0.representors(RepresentorFilter.NET)))
                .containsExactly("pf0sf0", "hpf0", "hpf0vf0", "hpf0vf1");
        assertThat(representorNames(p0.representors(RepresentorFilter.ALL)))
                .containsExactly("pf0sf0", "hpf0", "hpf0vf0", "hpf0vf1", "r_e0");
    }

    @Test
    void shouldKeepWhatIsOpenAndRefuseToOpenItAgain() {
        RepresentorInfo representor = p0.plug(emulated("e0", "0c:00.0").build());
        DeviceInfo info = host.findDevice("e0");
        Device open = machines.add(info.open());
        Representor opened = machines.add(representor.open());
        p0.unplug(representor);
        assertThat(open.info().interfaceName()).isEqualTo("e0");
        assertThat(opened.info().interfaceName()).isEqualTo("r_e0");
        Thrown.with(Status.NOT_FOUND, info::open)
                .hasMessageContainingAll("unplugged", "0c:00.0", "side=host");
        Thrown.with(Status.NOT_FOUND, () -> representor.open()).hasMessageContaining("r_e0");
        Thrown.with(Status.NOT_FOUND, () -> p0.unplug(representor))
                .hasMessageContainingAll("host/e0", "host/pf0 of p0");
    }

    @Test
    void shouldExportMemoryThroughAFunctionThatWasPluggedIn() {
        p0.plug(emulated("e0", "0c:00.0").build());
        Device e0 = machines.device(host, "e0");
        Device p1 = machines.device(dpu, "p1");
        SharedMemory memory = machines.add(SharedMemory.allocate(4096));
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(e0)
                                .start());
        byte[] blob = mmap.exportPci(e0);
        assertThat(machines.add(Mmap.createFromExport(blob, p0)).sizeBytes()).isEqualTo(4096);
        Thrown.with(Status.NOT_PERMITTED, () -> Mmap.createFromExport(blob, p1))
                .hasMessageContaining("exporter=0c:00.0 e0");
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        PciFunction e0 = emulated("e0", "0c:00.0").build();
        p0.plug(e0);
        Thrown.with(Status.INVALID_VALUE, () -> p0.plug(e0))
                .hasMessageContaining("host interface e0");
        Thrown.with(Status.INVALID_VALUE, () -> p0.plug(emulated("e1", "0b:00.0").build()))
                .hasMessageContainingAll("host pci 0000:0b:00.0", "host/pf0", "host/e1");
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> p0.plug(emulated("e1", "0c:00.1").parent("p1").build()))
                .hasMessageContainingAll("another port", "host/e1", "parent=p1");
        Thrown.with(
                Status.INVALID_VALUE,
                () -> p0.plug(emulated("e1", "0c:00.1").parent(null).representor(null).build()));
        Thrown.with(Status.NOT_FOUND, () -> p0.change(emulated("e9", "0c:00.1").build()));
        Thrown.with(
                        Status.INVALID_VALUE,
                        () -> p0.change(e0.toBuilder().pciAddress("0b:00.1").build()))
                .hasMessageContaining("host/pf1");
        Thrown.with(Status.NOT_PERMITTED, () -> p0.unplug(p0.findRepresentor("hpf0")))
                .hasMessageContaining("host/pf0");
        assertThat(names(host.devices())).hasSize(6);
    }

    @Test
    void shouldPlugThroughAPortOfTheDpuAlone() {
        PciFunction e0 = emulated("e0", "0c:00.0").build();
        Device pf0 = machines.device(host, "pf0");
        Device sub = machines.device(dpu, "p0s0");
        Thrown.with(Status.NOT_SUPPORTED, () -> pf0.plug(e0)).hasMessageContaining("side=host");
        Thrown.with(Status.NOT_SUPPORTED, () -> sub.plug(e0)).hasMessageContaining("p0s0");
        Device closed = dpu.findDevice("p0").open();
        closed.close();
        Thrown.with(Status.BAD_STATE, () -> closed.plug(e0));
    }

    @Test
    @StartsProcesses
    void shouldBeSeenByTheOtherProgramsOfTheCard(Processes processes) throws Exception {
        ChildProcess lister =
                processes.start(
                        JavaCommand.ofClass(ListingProcess.class)
                                .withArguments(machines.folder().toString()));
        String before = lister.awaitLine("^devices ");
        assertThat(before).doesNotContain("e0");
        p0.plug(emulated("e0", "0c:00.0").limit("comch.max_clients", 3).build());
        OutputStream ask = lister.standardInput();
        ask.write("again\n".getBytes(StandardCharsets.UTF_8));
        ask.flush();
        assertThat(lister.awaitLine("^now ")).contains("0c:00.0 ib_e0 e0");
        assertThat(lister.awaitLine("^kept ").substring("kept ".length()))
                .isEqualTo(before.substring("devices ".length()));
        ask.close();
        assertThat(lister.awaitExit()).isZero();
    }

    @Test
    void shouldForgetWhatWasPluggedInWhenTheLastProgramHasLeft() throws Exception {
        p0.plug(emulated("e0", "0c:00.0").build());
        machines.close();
        assertThat(names(machines.open(Side.HOST).devices())).doesNotContain("e0").hasSize(5);
    }

    @Test
    void shouldSayWhatCannotBeRead() throws Exception {
        p0.plug(emulated("e0", "0c:00.0").build());
        Path note = machines.folder().resolve("hotplug");
        String good = Files.readString(note);
        Files.writeString(note, good.replace("type=PF", "type=QF"));
        Thrown.with(Status.BAD_CONFIG, host::devices)
                .hasMessageContainingAll("default", "line=2", "type=QF");
        Files.writeString(note, good);
        assertThat(names(host.devices())).contains("e0");
    }
}

package io.softdpu.core.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.TinyContext;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceTest {
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

    @Test
    @Clause({"core-038", "core-057"})
    void shouldFindADeviceByEachOfItsNames() {
        Machine host = machines.open(Side.HOST);
        for (String id : List.of("0b:00.3", "0000:0b:00.3", "0B:00.3", "mlx5_3", "pf0vf1")) {
            DeviceInfo info = host.findDevice(id);
            assertThat(info.interfaceName()).isEqualTo("pf0vf1");
            assertThat(info.ibdevName()).isEqualTo("mlx5_3");
            assertThat(info.functionType()).isEqualTo(FunctionType.VF);
            assertThat(info.vuid()).isEqualTo("SDPU-host-pf0vf1");
            assertThat(info.ipv4().getHostAddress()).isEqualTo("127.11.3.1");
            assertThat(info.ipv6().isLinkLocalAddress()).isTrue();
            assertThat(info.macAddress()).isEqualTo("02:53:44:0b:03:01");
            assertThat(info.activeRateBitsPerSecond()).isEqualTo(200_000_000_000L);
        }
        assertThat(machines.open(Side.TARGET).findDevice("t0").pciAddress()).hasToString("41:00.0");
    }

    @Test
    @Clause("core-038")
    void shouldShowThePropertiesOfItsFunction() {
        machines.device(Side.DPU, "p1")
                .plug(
                        PciFunction.builder(Side.HOST, "e0")
                                .ibdevName("ib_e0")
                                .type(FunctionType.PF)
                                .pciAddress("0c:00.1")
                                .parent("p1")
                                .representor("r_e0")
                                .ipv4("127.12.0.9")
                                .ipv6("fd00::7")
                                .macAddress("02:53:44:0c:00:09")
                                .vuid("other-vendor-7")
                                .activeRate(25_000_000_000L)
                                .build());
        DeviceInfo e0 = machines.open(Side.HOST).findDevice("ib_e0");
        assertThat(e0.interfaceName()).isEqualTo("e0");
        assertThat(e0.ibdevName()).isEqualTo("ib_e0");
        assertThat(e0.pciAddress()).hasToString("0c:00.1");
        assertThat(e0.functionType()).isEqualTo(FunctionType.PF);
        assertThat(e0.vuid()).isEqualTo("other-vendor-7");
        assertThat(e0.ipv4().getHostAddress()).isEqualTo("127.12.0.9");
        assertThat(e0.ipv6().getHostAddress()).isEqualTo("fd00:0:0:0:0:0:0:7");
        assertThat(e0.macAddress()).isEqualTo("02:53:44:0c:00:09");
        assertThat(e0.activeRateBitsPerSecond()).isEqualTo(25_000_000_000L);
    }

    @Test
    @Clause({"core-039", "core-042", "core-045"})
    void shouldHaveTheLocalDevicesOfTheGuideAndNoRepresentors() {
        assertThat(machines.open(Side.HOST).devices())
                .extracting(DeviceInfo::toString, DeviceInfo::functionType)
                .containsExactly(
                        tuple("0b:00.0 mlx5_0 pf0", FunctionType.PF),
                        tuple("0b:00.1 mlx5_1 pf1", FunctionType.PF),
                        tuple("0b:00.2 mlx5_2 pf0vf0", FunctionType.VF),
                        tuple("0b:00.3 mlx5_3 pf0vf1", FunctionType.VF),
                        tuple("0b:00.4 mlx5_4 pf1vf0", FunctionType.VF));
        assertThat(machines.open(Side.DPU).devices())
                .extracting(DeviceInfo::toString, DeviceInfo::functionType)
                .containsExactly(
                        tuple("03:00.0 mlx5_0 p0", FunctionType.PF),
                        tuple("03:00.1 mlx5_1 p1", FunctionType.PF),
                        tuple("03:00.0 mlx5_2 p0s0", FunctionType.SF),
                        tuple("03:00.1 mlx5_3 p1s0", FunctionType.SF));
    }

    @Test
    void shouldAnswerAnUnknownDeviceWithThoseThatThereAre() {
        Machine host = machines.open(Side.HOST);
        Thrown.with(Status.NOT_FOUND, () -> host.findDevice("03:00.0"))
                .hasMessageContainingAll(
                        "device=03:00.0", "side=host", "0b:00.0 mlx5_0 pf0", "pf1vf0");
        Thrown.with(Status.NOT_FOUND, () -> host.findDevice("nosuch"))
                .hasMessageNotContainingAny("otherSides", "expected");
    }

    @Test
    void shouldNameTheSideThatHasTheDevice() {
        Machine dpu = machines.open(Side.DPU);
        Thrown.with(Status.NOT_FOUND, () -> dpu.findDevice("pf0"))
                .hasMessageContainingAll(
                        "device=pf0, side=dpu, otherSides=[host], available=[",
                        "expected=one of these, or a machine of the side host");
    }

    @Test
    @Clause("core-038")
    void shouldCompareAddressesInTheShortAndTheLongForm() {
        DeviceInfo pf0vf0 = machines.open(Side.HOST).findDevice("pf0vf0");
        RepresentorInfo hpf0vf0 = machines.device(Side.DPU, "p0").findRepresentor("hpf0vf0");
        for (String same : List.of("0b:00.2", "0000:0b:00.2", "0B:00.2")) {
            assertThat(pf0vf0.hasPciAddress(same)).isTrue();
            assertThat(hpf0vf0.hasPciAddress(same)).isTrue();
        }
        for (String other : List.of("0b:00.3", "0001:0b:00.2", "03:00.2")) {
            assertThat(pf0vf0.hasPciAddress(other)).isFalse();
            assertThat(hpf0vf0.hasPciAddress(other)).isFalse();
        }
        Thrown.with(Status.INVALID_VALUE, () -> pf0vf0.hasPciAddress("pf0vf0"))
                .hasMessageContaining("text=pf0vf0");
    }

    @Test
    void shouldStayOpenWhileAnythingLivesOnIt() {
        Device p0 = machines.device(Side.DPU, "p0");
        Mmap mmap = machines.add(Mmap.create());
        mmap.setMemory(MemorySegment.ofArray(new byte[64]))
                .setPermissions(Permissions.LOCAL_READ_WRITE)
                .addDevice(p0)
                .start();
        Thrown.with(Status.IN_USE, p0::close)
                .hasMessageContainingAll("03:00.0 p0", "mmap of 64 bytes");
        Representor representor = machines.add(p0.findRepresentor("hpf0").open());
        Thrown.with(Status.IN_USE, p0::close).hasMessageContainingAll("users=2", "representor");
        mmap.stop();
        representor.close();
        p0.close();
        Thrown.with(Status.BAD_STATE, mmap::start)
                .hasMessageContainingAll("device=" + p0, "user=mmap of 64 bytes");
        mmap.removeDevice(p0);
        Thrown.with(Status.BAD_STATE, () -> mmap.addDevice(p0));
    }

    @Test
    void shouldMeanThePortByAnAddressThatSubFunctionsShare() {
        Machine dpu = machines.open(Side.DPU);
        assertThat(dpu.findDevice("03:00.1").interfaceName()).isEqualTo("p1");
        assertThat(dpu.findDevice("p1s0").functionType()).isEqualTo(FunctionType.SF);
    }

    @Test
    @Clause({"core-043", "core-044", "core-048"})
    void shouldListTheRepresentorsOfWhatThePortMadeAndOfNoOther() {
        Machine dpu = machines.open(Side.DPU);
        List<RepresentorInfo> ofP0 = machines.device(dpu, "p0").representors();
        List<RepresentorInfo> ofP1 = machines.device(dpu, "p1").representors();
        assertThat(ofP0)
                .extracting(RepresentorInfo::toString)
                .containsExactly(
                        "03:00.0 pf0sf0", "0b:00.0 hpf0", "0b:00.2 hpf0vf0", "0b:00.3 hpf0vf1");
        assertThat(ofP1)
                .extracting(RepresentorInfo::toString)
                .containsExactly("03:00.1 pf1sf0", "0b:00.1 hpf1", "0b:00.4 hpf1vf0");
        Machine host = machines.open(Side.HOST);
        for (DeviceInfo device : host.devices()) {
            assertThat(List.of(ofP0, ofP1).stream().flatMap(List::stream))
                    .filteredOn(r -> r.pciAddress().equals(device.pciAddress()))
                    .singleElement()
                    .satisfies(r -> {
                        assertThat(r.function()).isEqualTo(device.function());
                        assertThat(r.vuid()).isEqualTo(device.vuid());
                        assertThat(r.functionType()).isEqualTo(device.functionType());
                    });
        }
        assertThat(machines.device(dpu, "p0s0").representors()).isEmpty();
    }

    @Test
    @Clause({"core-056", "core-058"})
    void shouldFindAndOpenARepresentorByItsAddress() throws Exception {
        Device p0 = machines.device(Side.DPU, "03:00.0");
        RepresentorInfo found = p0.findRepresentor("0b:00.2");
        assertThat(p0.findRepresentor("hpf0vf0").function()).isEqualTo(found.function());
        assertThat(p0.findRepresentor("0000:0b:00.2").function()).isEqualTo(found.function());
        assertThat(p0.findRepresentor("SDPU-host-pf0vf0").function()).isEqualTo(found.function());
        DeviceInfo represented = machines.open(Side.HOST).findDevice("0b:00.2");
        assertThat(represented.interfaceName()).isEqualTo("pf0vf0");
        assertThat(represented.function()).isEqualTo(found.function());
        assertThat(represented.pciAddress()).isEqualTo(found.pciAddress());
        assertThat(represented.vuid()).isEqualTo(found.vuid());
        try (Representor representor = found.open()) {
            assertThat(representor.info().interfaceName()).isEqualTo("hpf0vf0");
            assertThat(representor.device()).isSameAs(p0);
            Thrown.with(Status.IN_USE, p0::close)
                    .hasMessageContaining("representor 0b:00.2 hpf0vf0");
        }
        Thrown.with(Status.NOT_FOUND, () -> p0.findRepresentor("0b:00.1"))
                .hasMessageContainingAll("0b:00.1", "0b:00.0 hpf0", "03:00.0 pf0sf0");
    }

    @Test
    @Clause("core-056")
    void shouldFindEachDeviceOfTheHostAndItsRepresentorByTheSameAddress() {
        Machine host = machines.open(Side.HOST);
        Machine dpu = machines.open(Side.DPU);
        for (DeviceInfo device : host.devices()) {
            String address = device.pciAddress().toString();
            assertThat(host.findDevice(address).function()).isEqualTo(device.function());
            Device port = machines.device(dpu, device.function().parent());
            for (String id : List.of(address, "0000:" + address, device.vuid())) {
                assertThat(port.findRepresentor(id).function())
                        .as("%s", id)
                        .isEqualTo(device.function());
            }
        }
    }

    @Test
    void shouldRefuseToOpenARepresentorOfAClosedPort() {
        Device port = machines.device(machines.open(Side.DPU), "p1");
        RepresentorInfo found = port.findRepresentor("hpf1");
        port.close();
        Thrown.with(Status.BAD_STATE, found::open).hasMessageContaining("03:00.1");
    }

    @Test
    @Clause({"core-001", "core-040"})
    void shouldHaveRepresentorsOnTheDpuAlone() {
        Machine host = machines.open(Side.HOST);
        for (Machine machine : List.of(host, machines.open(Side.TARGET))) {
            assertThat(machine.devices()).isNotEmpty();
            for (DeviceInfo info : machine.devices()) {
                Device device = machines.device(machine, info.interfaceName());
                Thrown.with(Status.NOT_SUPPORTED, device::representors)
                        .hasMessageContaining("side=" + machine.side().id());
                Thrown.with(Status.NOT_SUPPORTED, () -> device.findRepresentor("hpf0"));
                Thrown.with(Status.NOT_SUPPORTED, () -> device.plug(info.function()));
                assertThat(info.isRepresentorListSupported()).isFalse();
            }
        }
        Machine dpu = machines.open(Side.DPU);
        Device p0 = machines.device(dpu, "p0");
        Device p1 = machines.device(dpu, "p1");
        assertThat(p0.info().isRepresentorListSupported()).isTrue();
        List<RepresentorInfo> representors = new ArrayList<>(p0.representors());
        representors.addAll(p1.representors());
        assertThat(representors).hasSize(7);
        for (RepresentorInfo info : representors) {
            Machine machine = info.functionType() == FunctionType.SF ? dpu : host;
            assertThat(machine.devices())
                    .as("%s stands for a device", info)
                    .extracting(DeviceInfo::function)
                    .contains(info.function());
            assertThat(dpu.devices())
                    .extracting(DeviceInfo::interfaceName)
                    .doesNotContain(info.interfaceName());
            assertThat(machines.add(info.open()).info()).isSameAs(info);
        }
    }

    @Test
    @Clause("core-037")
    void shouldHaveNoRepresentorsOnACardThatShowsNoFunctionsToTheHost() {
        Topology.Builder plain = Topology.builder("plain adapter");
        for (PciFunction function : Topology.builtin().functions()) {
            plain.add(function.toBuilder().parent(null).representor(null).build());
        }
        Topology adapter = plain.build();
        Machine dpu =
                machines.add(
                        Machine.builder(Side.DPU)
                                .fabricFolder(machines.folder())
                                .topology(adapter)
                                .open());
        assertThat(dpu.devices()).isNotEmpty();
        for (DeviceInfo info : dpu.devices()) {
            Device device = machines.device(dpu, info.interfaceName());
            assertThat(device.representors()).isEmpty();
            Thrown.with(Status.NOT_FOUND, () -> device.findRepresentor("0b:00.0"));
        }
    }

    private record Opened(Representor representor, WeakReference<List<RepresentorInfo>> list) {}

    private Opened openFromAList(Device port, String id) {
        List<RepresentorInfo> list = port.representors();
        RepresentorInfo selected =
                list.stream()
                        .filter(info -> info.interfaceName().equals(id))
                        .findAny()
                        .orElseThrow();
        return new Opened(machines.add(selected.open()), new WeakReference<>(list));
    }

    /** The program drops the list and its elements, which then exist in the representor alone. */
    @Test
    @Clause("core-059")
    void shouldUseARepresentorAfterItsListWasReclaimed() {
        Device p0 = machines.device(Side.DPU, "p0");
        Opened opened = openFromAList(p0, "hpf0vf1");
        Await.until(
                "list is reclaimed",
                () -> {
                    System.gc();
                    return opened.list().get() == null;
                });
        Representor representor = opened.representor();
        assertThat(representor.info().interfaceName()).isEqualTo("hpf0vf1");
        assertThat(representor).hasToString("0b:00.3 hpf0vf1");
        ProgressEngine engine = machines.add(ProgressEngine.create());
        TinyContext context = machines.add(new TinyContext(p0, representor));
        engine.connect(context);
        context.start();
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.stop();
    }

    @Test
    @Clause({"core-055", "core-058", "core-059"})
    void shouldUseARepresentorThatWasSelectedByItsPropertiesAfterItsListHasGone() {
        Device p0 = machines.device(Side.DPU, "p0");
        RepresentorInfo selected =
                p0.representors(RepresentorFilter.NET).stream()
                        .filter(info -> info.functionType() == FunctionType.VF)
                        .filter(info -> info.hasPciAddress("0b:00.3"))
                        .findAny()
                        .orElseThrow();
        Representor representor = machines.add(selected.open());
        p0.change(selected.function().toBuilder().pciAddress("0d:00.1").build());
        assertThat(p0.representors())
                .extracting(RepresentorInfo::function)
                .doesNotContain(selected.function());

        assertThat(representor.info().interfaceName()).isEqualTo("hpf0vf1");
        assertThat(representor.device()).isSameAs(p0);
        ProgressEngine engine = machines.add(ProgressEngine.create());
        TinyContext context = machines.add(new TinyContext(p0, representor));
        engine.connect(context);
        context.start();
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.stop();
    }

    @Test
    void shouldTellWhatADeviceCanDo() {
        Machine dpu = machines.open(Side.DPU);
        Machine host = machines.open(Side.HOST);
        assertThat(host.findDevice("pf1vf0").isMmapExportPciSupported()).isTrue();
        assertThat(host.findDevice("pf1vf0").isMmapFromExportPciSupported()).isFalse();
        assertThat(dpu.findDevice("p0").isMmapExportPciSupported()).isFalse();
        assertThat(dpu.findDevice("p0").isMmapFromExportPciSupported()).isTrue();
        assertThat(dpu.findDevice("p0").isRepresentorListSupported()).isTrue();
        assertThat(dpu.findDevice("p0s0").isMmapFromExportPciSupported()).isFalse();
        assertThat(dpu.findDevice("p0").isHotplugManagerSupported()).isTrue();
        assertThat(dpu.findDevice("p0s0").isHotplugManagerSupported()).isFalse();
        assertThat(host.findDevice("pf0").isHotplugManagerSupported()).isFalse();
    }

    @Test
    @Clause({"core-270", "core-271"})
    void shouldTellOfEachDeviceWhetherItExportsAndImportsMmaps() {
        List<Device> devices = new ArrayList<>();
        for (Side side : List.of(Side.HOST, Side.DPU)) {
            Machine machine = machines.open(side);
            machine.devices()
                    .forEach(info -> devices.add(machines.device(machine, info.interfaceName())));
        }
        List<byte[]> exports = new ArrayList<>();
        for (Device device : devices) {
            Mmap mmap =
                    machines.add(
                            Mmap.create()
                                    .setMemory(machines.add(SharedMemory.allocate(64)))
                                    .setPermissions(Permissions.of(AccessFlag.PCI_READ_WRITE))
                                    .addDevice(device)
                                    .start());
            if (device.info().isMmapExportPciSupported()) {
                exports.add(mmap.exportPci(device));
            } else {
                Thrown.with(Status.NOT_SUPPORTED, () -> mmap.exportPci(device));
            }
        }
        assertThat(exports).as("five functions of the host, two of the DPU").hasSize(7);
        for (Device device : devices) {
            assertThat(exports.stream().anyMatch(blob -> imports(device, blob)))
                    .as("%s imports", device)
                    .isEqualTo(device.info().isMmapFromExportPciSupported());
        }
    }

    private boolean imports(Device device, byte[] blob) {
        try {
            machines.add(Mmap.createFromExport(blob, device));
            return true;
        } catch (DpuException e) {
            assertThat(e.status()).isEqualTo(Status.NOT_PERMITTED);
            return false;
        }
    }

    @Test
    @Clause("core-060")
    void shouldReleaseWhatAProgramClosesInTheEnd() {
        Machine dpu = machines.open(Side.DPU);
        Device p0 = dpu.findDevice("p0").open();
        Representor representor = p0.findRepresentor("hpf0").open();
        Thrown.with(Status.IN_USE, p0::close).hasMessageContaining("representor 0b:00.0 hpf0");
        representor.close();
        Thrown.with(Status.BAD_STATE, () -> new TinyContext(p0, representor));
        Thrown.with(Status.IN_USE, dpu::close).hasMessageContaining("device 03:00.0");
        p0.close();
        Thrown.with(Status.BAD_STATE, p0::representors);
        Thrown.with(Status.BAD_STATE, () -> new TinyContext(p0));
        dpu.close();
    }

    @Test
    void shouldKeepWhatIsUsedOpenAndReleaseItInReverseOrder() {
        Machine dpu = machines.open(Side.DPU);
        Device p0 = dpu.findDevice("p0").open();
        Thrown.with(Status.IN_USE, dpu::close).hasMessageContaining("device 03:00.0");
        Device again = dpu.findDevice("p0").open();
        p0.close();
        p0.close();
        Thrown.with(Status.IN_USE, dpu::close);
        again.close();
        Thrown.with(Status.BAD_STATE, p0::representors);
        dpu.close();
        dpu.close();
        Thrown.with(Status.BAD_STATE, () -> dpu.findDevice("p0").open());
    }
}

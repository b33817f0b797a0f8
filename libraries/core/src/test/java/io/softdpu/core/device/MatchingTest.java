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
import io.softdpu.core.spi.Regions;
import io.softdpu.testkit.Clause;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The table of the Core guide, section 3.2.1.3: host function, representor, DPU device; each row
 * with a device that must be refused.
 */
class MatchingTest {

    @TempDir Path folder;
    private Machines machines;
    private Machine host;
    private Machine dpu;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        host = machines.open(Side.HOST);
        dpu = machines.open(Side.DPU);
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @ParameterizedTest
    @CsvSource({"pf0, 0b:00.0, hpf0", "pf0vf0, 0b:00.2, hpf0vf0", "pf0vf1, 0b:00.3, hpf0vf1"})
    @Clause({"core-049", "core-051", "core-052"})
    void shouldMatchFunctionsOfTheFirstPortAsTheTableSays(
            String function, String address, String representor) {
        assertMatch(function, address, representor, "p0", "03:00.0", "p1");
    }

    @ParameterizedTest
    @CsvSource({"pf1, 0b:00.1, hpf1", "pf1vf0, 0b:00.4, hpf1vf0"})
    @Clause({"core-050", "core-053", "core-054"})
    void shouldMatchFunctionsOfTheSecondPortAsTheTableSays(
            String function, String address, String representor) {
        assertMatch(function, address, representor, "p1", "03:00.1", "p0");
    }

    private void assertMatch(
            String function,
            String address,
            String representor,
            String port,
            String portAddress,
            String otherPort) {
        Device exporter = machines.device(host, address);
        Device importer = machines.device(dpu, portAddress);
        Device other = machines.device(dpu, otherPort);
        assertThat(exporter.info().interfaceName()).isEqualTo(function);
        assertThat(importer.info().interfaceName()).isEqualTo(port);

        RepresentorInfo info = importer.findRepresentor(address);
        assertThat(info.interfaceName()).isEqualTo(representor);
        assertThat(info.hasPciAddress(address)).isTrue();
        assertThat(info.port()).isEqualTo(importer.info().function());
        assertThat(info.function()).isEqualTo(exporter.info().function());
        Thrown.with(Status.NOT_FOUND, () -> other.findRepresentor(address));
        Thrown.with(Status.NOT_FOUND, () -> other.findRepresentor(representor));
        assertThat(machines.add(info.open()).device()).isSameAs(importer);

        Device foreign = machines.device(host, otherPort.equals("p0") ? "pf0" : "pf1");
        SharedMemory memory = machines.add(SharedMemory.allocate(4096));
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(memory)
                                .setPermissions(
                                        Permissions.of(
                                                AccessFlag.LOCAL_READ_WRITE,
                                                AccessFlag.PCI_READ_WRITE))
                                .addDevice(foreign)
                                .addDevice(exporter)
                                .start());
        byte[] blob = mmap.exportPci(exporter);
        Thrown.with(Status.NOT_PERMITTED, () -> Mmap.createFromExport(blob, other))
                .hasMessageContainingAll(
                        "device=" + other, "exporter=" + exporter, "parent=" + importer);
        Device sub = machines.device(dpu, port + "s0");
        Thrown.with(Status.NOT_PERMITTED, () -> Mmap.createFromExport(blob, sub));
        Mmap imported = machines.add(Mmap.createFromExport(blob, importer));
        assertThat(imported.sizeBytes()).isEqualTo(4096);
        memory.segment().set(ValueLayout.JAVA_BYTE, 4095, (byte) 7);
        assertThat(Regions.memoryOf(imported).get(ValueLayout.JAVA_BYTE, 4095)).isEqualTo((byte) 7);
    }

    @ParameterizedTest
    @CsvSource({"p0, pf0sf0, 3", "p1, pf1sf0, 2"})
    @Clause("core-041")
    void shouldHaveAllRepresentorsButThatOfTheSubFunctionForFunctionsOfTheHost(
            String port, String ofSubFunction, int ofHost) {
        assertThat(machines.device(dpu, port).representors())
                .filteredOn(info -> !info.interfaceName().equals(ofSubFunction))
                .hasSize(ofHost)
                .allSatisfy(info ->
                        assertThat(host.findDevice(info.pciAddress().longForm()).function())
                                .isEqualTo(info.function()));
    }

    @ParameterizedTest
    @CsvSource({"p0s0, pf0sf0, p0, p1", "p1s0, pf1sf0, p1, p0"})
    @Clause({"core-041", "core-044", "core-046"})
    void shouldHaveSubFunctionAndRepresentorBothOnTheDpu(
            String function, String representor, String port, String otherPort) {
        Device sub = machines.device(dpu, function);
        Device parent = machines.device(dpu, port);
        RepresentorInfo info = parent.findRepresentor(representor);
        assertThat(info.function()).isEqualTo(sub.info().function());
        assertThat(info.functionType()).isEqualTo(FunctionType.SF);
        assertThat(info.vuid()).isEqualTo(sub.info().vuid());
        assertThat(sub.info().hasPciAddress(parent.info().pciAddress().longForm()))
                .as("a part of the port")
                .isTrue();
        Device other = machines.device(dpu, otherPort);
        Thrown.with(Status.NOT_FOUND, () -> other.findRepresentor(representor));
        Thrown.with(Status.NOT_FOUND, () -> host.findDevice(function));
    }
}

package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.BlockDevice;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.rdma.Rdma;
import io.softdpu.storage.initiator.InitiatorListener;
import io.softdpu.storage.initiator.InitiatorOptions;
import io.softdpu.storage.initiator.StorageInitiator;
import io.softdpu.storage.relay.ServiceOptions;
import io.softdpu.storage.relay.ZeroCopyService;
import io.softdpu.storage.server.StorageTarget;
import io.softdpu.storage.server.TargetOptions;
import io.softdpu.storage.workload.Phase;
import io.softdpu.storage.workload.Workload;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The devices that the roles open, by the identifiers of their options. */
class RoleDeviceTest {
    @TempDir private Path folder;

    @ParameterizedTest
    @EnumSource(Side.class)
    @Clause("sto-124")
    void shouldOpenADeviceByItsAddressItsIbdevNameOrItsInterfaceName(Side side) {
        List<PciFunction> functions = Topology.builtin().functionsOf(side);
        PciFunction function = functions.get(Math.min(1, functions.size() - 1));
        for (String device :
                List.of(
                        function.pciAddress().toString(),
                        function.ibdevName(),
                        function.interfaceName())) {
            try (Machine machine = Machine.builder(side).fabricFolder(folder).open()) {
                try (StorageRole role = open(machine, device)) {
                    assertThatThrownBy(machine::close)
                            .as("%s, %s", role.report().role(), device)
                            .isInstanceOfSatisfying(
                                    DpuException.class,
                                    e -> assertThat(e.status()).isEqualTo(Status.IN_USE))
                            .hasMessageContaining("first=[device " + function.pciAddress() + "]");
                }
                assertThatThrownBy(() -> open(machine, device + "x"))
                        .isInstanceOfSatisfying(
                                DpuException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Side.class,
            names = {"DPU", "TARGET"})
    void shouldRefuseAProviderThatThereIsNotAndReleaseTheDevice(Side side) {
        List<PciFunction> functions = Topology.builtin().functionsOf(side);
        PciFunction function = functions.get(Math.min(1, functions.size() - 1));
        try (Machine machine = Machine.builder(side).fabricFolder(folder).open()) {
            assertThatThrownBy(() -> open(machine, function.interfaceName(), "ib"))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                    .hasMessageContaining("provider=ib, device=" + function.pciAddress())
                    .hasMessageContaining("expected=auto or one of [shm");
            open(machine, function.interfaceName(), "shm").close();
        } // or it is in use
    }

    private static StorageRole open(Machine machine, String device) {
        return open(machine, device, Rdma.ANY_PROVIDER);
    }

    private static StorageRole open(Machine machine, String device, String provider) {
        return switch (machine.side()) {
            case HOST ->
                    StorageInitiator.open(
                            machine,
                            InitiatorOptions.builder().device(device).cpu(CpuBinding.any()).build(),
                            new Workload(List.of(Phase.read("read").build())),
                            InitiatorListener.none());
            case DPU ->
                    ZeroCopyService.open(
                            machine,
                            ServiceOptions.builder()
                                    .device(device)
                                    .representor("0b:00.1")
                                    .cpu(CpuBinding.any())
                                    .storageServer(ServiceOptions.parseStorageServer("127.0.0.1:1"))
                                    .provider(provider)
                                    .build(),
                            SessionListener.none());
            case TARGET ->
                    StorageTarget.open(
                            machine,
                            TargetOptions.builder()
                                    .device(device)
                                    .cpu(CpuBinding.any())
                                    .listenPort(0)
                                    .provider(provider)
                                    .build(),
                            BlockDevice.open("memory:4096", 4096),
                            SessionListener.none());
        };
    }
}

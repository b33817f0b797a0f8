package io.softdpu.storage.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.SessionListener;
import io.softdpu.storage.StorageDefaults;
import io.softdpu.testkit.Clause;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ZeroCopyServiceTest {
    @TempDir private Path folder;

    @ParameterizedTest
    @EnumSource(
            value = Side.class,
            names = {"HOST", "TARGET"})
    @Clause("sto-024")
    void shouldRunOnTheDpuAlone(Side side) {
        try (Machine machine = Machine.builder(side).fabricFolder(folder).open()) {
            DpuException failure = open(machine, "03:00.0", "0b:00.0");

            assertThat(failure.status()).isEqualTo(Status.NOT_PERMITTED);
            assertThat(failure)
                    .hasMessageContaining("zero-copy service runs on the DPU only: side=" + side);
        }
    }

    @Test
    @Clause({"sto-030", "sto-031", "sto-037"})
    void shouldListWhatThereIsWhereADeviceOrRepresentorIsUnknown() {
        try (Machine machine = Machine.builder(Side.DPU).fabricFolder(folder).open()) {
            for (String unknown : List.of("99:00.0", "03:00.7")) {
                assertNotFound(open(machine, unknown, "0b:00.0"), "device=" + unknown, "03:00.0");
            }
            for (String unknown : List.of("99:00.0", "0b:00.7")) {
                assertNotFound(
                        open(machine, "03:00.0", unknown), "representor=" + unknown, "0b:00.0");
            }
            // The machine closes: the device was given back.
        }
    }

    /** The card has a representor with the address of the guide's example. */
    @Test
    @Clause("sto-036")
    void shouldOpenWithTheOptionsOfTheGuidesExample() {
        Topology.Builder card = Topology.builder("card of the guide");
        for (PciFunction function : Topology.builtin().functions()) {
            boolean renamed = function.key().equals("host/pf0");
            card.add(renamed ? function.toBuilder().pciAddress("3b:00.0").build() : function);
        }
        try (Machine machine =
                Machine.builder(Side.DPU).fabricFolder(folder).topology(card.build()).open()) {
            ServiceOptions options =
                    ServiceOptions.builder()
                            .device("03:00.0")
                            .representor("3b:00.0")
                            .cpu(CpuBinding.hard(0))
                            .storageServer(ServiceOptions.parseStorageServer("172.17.0.1:12345"))
                            .build();
            ZeroCopyService.open(machine, options, SessionListener.none()).close();
        }
    }

    @Test
    @Clause({"sto-034", "sto-035", "sto-052"})
    void shouldUseTheDefaultsOfTheGuide() {
        ServiceOptions options =
                ServiceOptions.builder()
                        .device("03:00.0")
                        .representor("0b:00.0")
                        .cpu(CpuBinding.hard(0))
                        .storageServer(new InetSocketAddress("127.0.0.1", 1))
                        .build();

        assertThat(options.commandChannelName()).isEqualTo("doca_storage_comch");
        assertThat(options.controlTimeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(StorageDefaults.TRANSACTION_COUNT).isEqualTo(64);
        assertThat(StorageDefaults.RUN_LIMIT_OPERATION_COUNT).isEqualTo(1_000_000);
    }

    @Test
    @Clause({"sto-030", "sto-031"})
    void shouldNeedADeviceAndARepresentor() {
        InetSocketAddress server = new InetSocketAddress("127.0.0.1", 1);
        assertInvalid(
                () ->
                        ServiceOptions.builder()
                                .representor("r")
                                .cpu(CpuBinding.any())
                                .storageServer(server)
                                .build(),
                "option=device");
        assertInvalid(
                () ->
                        ServiceOptions.builder()
                                .device("d")
                                .cpu(CpuBinding.any())
                                .storageServer(server)
                                .build(),
                "option=representor");
    }

    @Test
    @Clause({"sto-041", "sto-042"})
    void shouldNeedACpuAndTheAddressOfTheTarget() {
        InetSocketAddress server = new InetSocketAddress("127.0.0.1", 1);
        assertInvalid(
                () ->
                        ServiceOptions.builder()
                                .device("d")
                                .representor("r")
                                .storageServer(server)
                                .build(),
                "cpuCount=0, expected=1 to 64");
        assertInvalid(
                () ->
                        ServiceOptions.builder()
                                .device("d")
                                .representor("r")
                                .cpu(CpuBinding.any())
                                .build(),
                "option=storageServer");
    }

    @Test
    @Clause("sto-033")
    void shouldReadTheAddressOfTheTarget() {
        assertThat(ServiceOptions.parseStorageServer("172.17.0.1:12345"))
                .isEqualTo(new InetSocketAddress("172.17.0.1", 12345));
        assertThat(ServiceOptions.parseStorageServer("1.2.3.4:65535"))
                .isEqualTo(new InetSocketAddress("1.2.3.4", 65535));
        assertThat(ServiceOptions.parseStorageServer("[::1]:1"))
                .isEqualTo(new InetSocketAddress("::1", 1));
        for (String text :
                new String[] {
                    "",
                    ":",
                    "1.2.3.4",
                    "1.2.3.4:",
                    ":80",
                    "1.2.3.4:0",
                    "1.2.3.4:65536",
                    "1.2.3.4:-1",
                    "1.2.3.4:x",
                    "::1:80",
                    "12345"
                }) {
            assertInvalid(
                    () -> ServiceOptions.parseStorageServer(text),
                    "storageServer=" + text + ", expected=<ip_addr>:<port>");
        }
    }

    private static DpuException open(Machine machine, String device, String representor) {
        ServiceOptions options =
                ServiceOptions.builder()
                        .device(device)
                        .representor(representor)
                        .cpu(CpuBinding.any())
                        .storageServer(new InetSocketAddress("127.0.0.1", 1))
                        .build();
        return catchThrowableOfType(
                DpuException.class,
                () -> ZeroCopyService.open(machine, options, SessionListener.none()).close());
    }

    private static void assertNotFound(DpuException failure, String named, String available) {
        assertThat(failure).as(named).isNotNull();
        assertThat(failure.status()).isEqualTo(Status.NOT_FOUND);
        assertThat(failure).hasMessageContaining(named + ",").hasMessageContaining(available);
    }

    private static void assertInvalid(Runnable action, String reason) {
        DpuException failure = catchThrowableOfType(DpuException.class, action::run);
        assertThat(failure).as(reason).isNotNull();
        assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failure).hasMessageContaining(reason);
    }
}

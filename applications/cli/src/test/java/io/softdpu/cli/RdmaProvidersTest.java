package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.testkit.Await;
import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RDMA instances where both providers are present, as in the command. */
class RdmaProvidersTest {
    private static final int ROCE_PORT = 4791;

    /** Addresses for the two sides that no other test and no program of the machine uses. */
    private static final String DPU = "127.98.0.1";

    private static final String TARGET = "127.98.0.2";

    /** An address for documentation, which no machine has. */
    private static final String ELSEWHERE = "192.0.2.98";

    @TempDir Path folder;

    /** A side with an instance, which belongs to the thread of the test. */
    private static final class Party implements AutoCloseable {
        final Machine machine;
        final Device device;
        final ProgressEngine engine = ProgressEngine.create();
        final Rdma rdma;

        Party(Path folder, Side side, String targetAddress) {
            machine =
                    Machine.builder(side)
                            .fabricFolder(folder)
                            .topology(topology(targetAddress))
                            .open();
            device = machine.findDevice(side == Side.DPU ? "p0" : "t0").open();
            rdma = Rdma.create(device);
            rdma.setReceiveTasks(1, _ -> {}, _ -> {});
            engine.connect(rdma);
        }

        private static Topology topology(String targetAddress) {
            Topology.Builder builder = Topology.builder("addresses");
            for (PciFunction each : Topology.builtin().functions()) {
                builder.add(
                        switch (each.interfaceName()) {
                            case "p0" -> each.toBuilder().ipv4(DPU).build();
                            case "t0" -> each.toBuilder().ipv4(targetAddress).build();
                            default -> each;
                        });
            }
            return builder.build();
        }

        RdmaConnection export() {
            rdma.start();
            return rdma.exportConnection();
        }

        @Override
        public void close() {
            if (rdma.state() != ContextState.IDLE && rdma.state() != ContextState.STOPPING) {
                rdma.stop();
            }
            drive("the end of the instance", rdma, this);
            rdma.close();
            engine.close();
            device.close();
            machine.close();
        }

        private static void drive(String what, Rdma ending, Party party) {
            Await.byStep(what, () -> ending.state() == ContextState.IDLE, party.engine::progress);
        }
    }

    private static void connect(
            Party near, RdmaConnection toFar, Party far, RdmaConnection toNear) {
        near.rdma.connect(toNear.blob(), toFar);
        far.rdma.connect(toFar.blob(), toNear);
        Await.byStep(
                "connection",
                () ->
                        toFar.state() == RdmaConnection.State.CONNECTED
                                && toNear.state() == RdmaConnection.State.CONNECTED,
                () -> {
                    near.engine.progress();
                    far.engine.progress();
                });
    }

    private static boolean isPortFree(String address) throws IOException {
        InetAddress inet = InetAddress.getByName(address);
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(inet, ROCE_PORT))) {
            return socket.isBound();
        } catch (BindException e) {
            return false;
        }
    }

    private static List<String> threadsOfNics() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("softdpu-nic-"))
                .toList();
    }

    private Path folderOf(Side side) throws IOException {
        return Files.createDirectories(folder.resolve(side.id()));
    }

    @Test
    void shouldOfferWithBothWhatSharedMemoryOffersAlone() {
        try (Machine machine =
                Machine.builder(Side.DPU)
                        .fabricFolder(folder)
                        .topology(Topology.builtin())
                        .open()) {
            machine.devices()
                    .forEach(device -> {
                        RdmaCapabilities both = RdmaCapabilities.of(device);
                        assertThat(both.providers()).containsExactly("shm", "roce");
                        assertThat(both.all())
                                .isEqualTo(RdmaCapabilities.of(device, "shm").all())
                                .isEqualTo(RdmaCapabilities.of(device, "roce").all());
                    });
        }
    }

    @Test
    void shouldHaveASocketUntilSharedMemoryIsSelectedAndNoThread() throws IOException {
        try (Party near = new Party(folder, Side.TARGET, TARGET);
                Party far = new Party(folder, Side.DPU, TARGET)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            assertThat(isPortFree(TARGET)).as("its blob names the port").isFalse();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly("shm");
            assertThat(isPortFree(TARGET)).isTrue();
            assertThat(isPortFree(DPU)).isTrue();
            assertThat(threadsOfNics()).isEmpty();
            assertThat(toFar.counters()).isEmpty();
        }
    }

    @Test
    void shouldConnectOverTheNetworkWhereTheFabricFoldersDiffer() throws IOException {
        try (Party near = new Party(folderOf(Side.TARGET), Side.TARGET, TARGET);
                Party far = new Party(folderOf(Side.DPU), Side.DPU, TARGET)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly("roce");
            assertThat(toFar.counters()).isNotEmpty();
        }
        assertThat(isPortFree(TARGET)).isTrue();
        assertThat(threadsOfNics()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"shm", "roce"})
    void shouldUseTheProviderThatTheProgramNames(String provider) {
        try (Party near = new Party(folder, Side.TARGET, TARGET);
                Party far = new Party(folder, Side.DPU, TARGET)) {
            near.rdma.setProvider(provider);
            far.rdma.setProvider(provider);
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly(provider);
        }
    }

    @Test
    void shouldRefuseToConnectSidesThatNameDifferentProviders() {
        try (Party near = new Party(folder, Side.TARGET, TARGET);
                Party far = new Party(folder, Side.DPU, TARGET)) {
            near.rdma.setProvider("roce");
            far.rdma.setProvider("shm");
            RdmaConnection toFar = near.export();
            byte[] blob = far.export().blob();

            assertThatThrownBy(() -> near.rdma.connect(blob, toFar))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining("here=[roce], peer=[shm]")
                    .extracting(thrown -> ((DpuException) thrown).status())
                    .isEqualTo(Status.NOT_SUPPORTED);
        }
    }

    @Test
    void shouldServeADeviceOverSharedMemoryWhoseAddressIsOfAnotherMachine() {
        try (Party near = new Party(folder, Side.TARGET, ELSEWHERE);
                Party far = new Party(folder, Side.DPU, ELSEWHERE)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly("shm");
        }
    }

    @Test
    void shouldNameTheAddressThatTheNetworkWouldNeed() throws IOException {
        try (Party near = new Party(folderOf(Side.TARGET), Side.TARGET, ELSEWHERE);
                Party far = new Party(folderOf(Side.DPU), Side.DPU, ELSEWHERE)) {
            RdmaConnection toFar = near.export();
            byte[] blob = far.export().blob();

            assertThatThrownBy(() -> near.rdma.connect(blob, toFar))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining("leftOut=[roce: NOT_FOUND: address of the device is none")
                    .hasMessageContaining(ELSEWHERE);
        }
        try (Party near = new Party(folderOf(Side.TARGET), Side.TARGET, ELSEWHERE)) {
            near.rdma.setProvider("roce");
            assertThatThrownBy(near::export)
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining(ELSEWHERE)
                    .extracting(thrown -> ((DpuException) thrown).status())
                    .isEqualTo(Status.NOT_FOUND);
        }
    }
}

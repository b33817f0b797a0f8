package io.softdpu.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Topology;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.roce.RoceQueuePair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** RDMA instances where both providers are present, as in the command. */
class RdmaProvidersTest {
    /** An address for documentation, which no machine has. */
    private static final String ELSEWHERE = "192.0.2.98";

    @TempDir Path folder;

    private static void connect(
            RdmaParty near, RdmaConnection toFar, RdmaParty far, RdmaConnection toNear) {
        near.rdma.connect(toNear.blob(), toFar);
        far.rdma.connect(toFar.blob(), toNear);
        RdmaParty.until(toFar, RdmaConnection.State.CONNECTED, near, far);
        RdmaParty.until(toNear, RdmaConnection.State.CONNECTED, near, far);
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
        try (RdmaParty near = new RdmaParty(folder, Side.TARGET);
                RdmaParty far = new RdmaParty(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();
            assertThat(RdmaParty.isPortFree(RdmaParty.TARGET))
                    .as("its blob names the port")
                    .isFalse();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly("shm");
            assertThat(RdmaParty.isPortFree(RdmaParty.TARGET)).isTrue();
            assertThat(RdmaParty.isPortFree(RdmaParty.DPU)).isTrue();
            assertThat(RdmaParty.threadsOfNics()).isEmpty();
            assertThat(toFar.counters()).isEmpty();
        }
    }

    @Test
    void shouldConnectOverTheNetworkWhereTheFabricFoldersDiffer() throws IOException {
        try (RdmaParty near = new RdmaParty(folderOf(Side.TARGET), Side.TARGET);
                RdmaParty far = new RdmaParty(folderOf(Side.DPU), Side.DPU)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly("roce");
            assertThat(toFar.counters()).isNotEmpty();
        }
        assertThat(RdmaParty.isPortFree(RdmaParty.TARGET)).isTrue();
        assertThat(RdmaParty.threadsOfNics()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"shm, shm, shm", "roce, roce, roce", "auto, roce, roce", "roce, auto, roce"})
    void shouldUseTheProviderThatAProgramNames(String here, String there, String used) {
        try (RdmaParty near = new RdmaParty(folder, Side.TARGET);
                RdmaParty far = new RdmaParty(folder, Side.DPU)) {
            near.rdma.setProvider(here);
            far.rdma.setProvider(there);
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly(used);
        }
    }

    @Test
    void shouldRefuseToConnectSidesThatNameDifferentProviders() {
        try (RdmaParty near = new RdmaParty(folder, Side.TARGET);
                RdmaParty far = new RdmaParty(folder, Side.DPU)) {
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

    /** A refused queue pair neither selects a provider nor closes the connection of another one. */
    @Test
    void shouldKeepBothProvidersWhereAQueuePairOfAPeerIsRefused() {
        try (RdmaParty near = new RdmaParty(folder, Side.TARGET);
                RdmaParty beside = new RdmaParty(folder, Side.TARGET);
                RdmaParty far = new RdmaParty(folder, Side.DPU);
                RdmaParty other = new RdmaParty(folder, Side.DPU)) {
            RdmaConnection toFar = near.export();
            byte[] taken = RoceQueuePair.of(far.export()).blob();
            near.rdma.connect(taken, toFar);
            RdmaConnection refused = beside.export();
            byte[] own = RoceQueuePair.of(refused).blob();

            assertRefused(Status.ALREADY_EXIST, () -> beside.rdma.connect(taken, refused));
            assertRefused(Status.INVALID_VALUE, () -> beside.rdma.connect(own, refused));

            assertThat(refused.state()).isEqualTo(RdmaConnection.State.EXPORTED);
            connect(beside, refused, other, other.export());
            assertThat(refused.provider()).isEqualTo("shm");
        }
    }

    private static void assertRefused(Status status, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }

    @Test
    void shouldServeADeviceOverSharedMemoryWhoseAddressIsOfAnotherMachine() {
        try (RdmaParty near = new RdmaParty(folder, Side.TARGET, ELSEWHERE);
                RdmaParty far = new RdmaParty(folder, Side.DPU, ELSEWHERE)) {
            RdmaConnection toFar = near.export();
            RdmaConnection toNear = far.export();

            connect(near, toFar, far, toNear);

            assertThat(List.of(toFar.provider(), toNear.provider())).containsOnly("shm");
        }
    }

    @Test
    void shouldNameTheAddressThatTheNetworkWouldNeed() throws IOException {
        try (RdmaParty near = new RdmaParty(folderOf(Side.TARGET), Side.TARGET, ELSEWHERE);
                RdmaParty far = new RdmaParty(folderOf(Side.DPU), Side.DPU, ELSEWHERE)) {
            RdmaConnection toFar = near.export();
            byte[] blob = far.export().blob();

            assertThatThrownBy(() -> near.rdma.connect(blob, toFar))
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining("leftOut=[roce: NOT_FOUND: address of the device is none")
                    .hasMessageContaining(ELSEWHERE);
        }
        try (RdmaParty near = new RdmaParty(folderOf(Side.TARGET), Side.TARGET, ELSEWHERE)) {
            near.rdma.setProvider("roce");
            assertThatThrownBy(near::export)
                    .isInstanceOf(DpuException.class)
                    .hasMessageContaining(ELSEWHERE)
                    .extracting(thrown -> ((DpuException) thrown).status())
                    .isEqualTo(Status.NOT_FOUND);
        }
    }
}

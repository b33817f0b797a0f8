package io.softdpu.rdma.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import java.net.InetAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoceMemoryTest {
    private static final Permissions READ = Permissions.of(AccessFlag.RDMA_READ);
    private static final InetAddress PEER = InetAddress.ofLiteral("127.3.0.1");
    private static final long SIZE = 4096;

    private final RoceTestEnvironment site = new RoceTestEnvironment();

    @ParameterizedTest
    @CsvSource({
        "4096, 0, 8, RDMA_READ, key=0",
        "4096, 1, 0, RDMA_READ, sizeBytes=0",
        "4096, 1, -1, RDMA_READ, sizeBytes=-1",
        "4097, 1, 8, RDMA_READ, address=0x1001",
        "-8, 1, 9, RDMA_READ, address=0xfffffffffffffff8",
        "4096, 1, 8, LOCAL_READ_WRITE, permissions=",
        "4096, 1, 8, PCI_READ_ONLY, permissions="
    })
    void shouldRefuseIllegalNumbers(
            long address, int key, long size, AccessFlag flag, String expected) {
        Permissions permissions = Permissions.of(flag);
        assertThatThrownBy(() -> new RoceMemory(address, key, size, permissions))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll("memory of a peer is illegal: ", expected, "expected=");
    }

    @Test
    void shouldTakeTheLastByteOfTheAddresses() {
        assertThat(new RoceMemory(-8, 1, 8, READ).sizeBytes()).isEqualTo(8);
    }

    @Test
    void shouldReportTheSameNumbersUntilTheMmapIsStopped(@TempDir Path folder) {
        try (Machine machine = site.openMachine(folder, Side.TARGET);
                Device device = machine.findDevice(site.device(Side.TARGET)).open();
                SharedMemory memory = SharedMemory.allocate(SIZE);
                Mmap mmap = Mmap.create()) {
            mmap.setMemory(memory)
                    .setPermissions(
                            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ))
                    .addDevice(device)
                    .start();
            RoceMemory exported = RoceMemory.of(mmap, device);
            assertThat(exported.address()).isEqualTo(memory.segment().address());
            assertThat(exported.sizeBytes()).isEqualTo(SIZE);
            assertThat(exported.permissions()).isEqualTo(READ);
            assertThat(mmap.isExported()).isTrue();
            assertThat(RoceMemory.of(mmap, device)).isEqualTo(exported);
            assertThat(exported.toString())
                    .doesNotContain(
                            Integer.toString(exported.key()), Integer.toHexString(exported.key()));
            mmap.stop();
            assertThatThrownBy(() -> RoceMemory.of(mmap, device))
                    .hasMessageContaining("mmap is not started");
        }
    }

    @Test
    void shouldImportMemoryThatIsNobodys(@TempDir Path folder) {
        try (Machine machine =
                        Machine.builder(Side.TARGET)
                                .fabricFolder(folder)
                                .importLimitBytes(SIZE)
                                .open();
                Device device = machine.findDevice(site.device(Side.TARGET)).open()) {
            RoceMemory stated = new RoceMemory(1 << 20, 5, SIZE, READ);
            try (Mmap imported = stated.importFrom(PEER, device)) {
                assertThat(imported.isImported()).isTrue();
                assertThat(imported.sizeBytes()).isEqualTo(SIZE);
                assertThat(imported.permissions()).isEqualTo(READ);
                assertThat(imported.toString())
                        .contains("imported over RDMA by its key", "ffff7f030001");
                assertThatThrownBy(imported::segment)
                        .isInstanceOfSatisfying(
                                DpuException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.NOT_PERMITTED));
                assertThatThrownBy(() -> imported.exportRdma(device))
                        .isInstanceOfSatisfying(
                                DpuException.class,
                                e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED));
            }
            RoceMemory larger = new RoceMemory(1 << 20, 5, SIZE + 1, READ);
            assertThatThrownBy(() -> larger.importFrom(PEER, device))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.TOO_BIG));
        }
    }
}

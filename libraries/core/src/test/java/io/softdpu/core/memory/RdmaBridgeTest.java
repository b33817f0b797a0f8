package io.softdpu.core.memory;

import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The conversions to and from objects of rdma-core, none of which is supported. */
class RdmaBridgeTest {
    private static final String RDMA_CORE =
            "no device is opened by rdma-core: adr/0056-calls-that-are-not-supported.md";

    @TempDir Path folder;
    private Machines machines;
    private Device device;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.DPU, "p0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    @Test
    @Clause(
            value = {"core-265", "core-275"},
            refused = RDMA_CORE)
    void shouldRefuseToConvertADeviceToAProtectionDomain() {
        Thrown.with(Status.NOT_SUPPORTED, () -> RdmaBridge.protectionDomain(device))
                .hasMessageContainingAll(
                        "missing=protection domain (struct ibv_pd)", "device=" + device);
    }

    @Test
    @Clause(
            value = {"core-265", "core-276"},
            refused = RDMA_CORE)
    void shouldRefuseToConvertAProtectionDomainToADevice() {
        Thrown.with(Status.NOT_SUPPORTED, () -> RdmaBridge.openDevice(MemorySegment.ofAddress(42)))
                .hasMessageContainingAll(
                        "missing=device of a protection domain (struct ibv_pd)",
                        "protectionDomain=0x2a");
    }

    @Test
    @Clause(
            value = {"core-265", "core-277"},
            refused = RDMA_CORE)
    void shouldRefuseToConvertABufToAMemoryKey() {
        Mmap mmap =
                machines.add(
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(new byte[64]))
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(device)
                                .start());
        BufInventory inventory = machines.add(BufInventory.create(1));
        inventory.start();
        Buf buf = inventory.bufByData(mmap, 0, 64);
        Thrown.with(Status.NOT_SUPPORTED, () -> RdmaBridge.memoryKey(buf, device))
                .hasMessageContainingAll(
                        "missing=memory key (mkey)", "buf=" + buf, "device=" + device);
        buf.release();
    }

    @Test
    void shouldRefuseNullFirst() {
        Thrown.with(Status.INVALID_VALUE, () -> RdmaBridge.protectionDomain(null))
                .hasMessageContaining("argument=device");
        Thrown.with(Status.INVALID_VALUE, () -> RdmaBridge.openDevice(null))
                .hasMessageContaining("argument=protectionDomain");
        Thrown.with(Status.INVALID_VALUE, () -> RdmaBridge.memoryKey(null, device))
                .hasMessageContaining("argument=buf");
    }
}

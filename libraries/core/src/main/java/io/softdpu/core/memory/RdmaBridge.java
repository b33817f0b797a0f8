package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.device.Device;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;

/**
 * Conversion of objects to those of rdma-core, for programs that use both (Core guide, section 3.6,
 * RDMA bridge; {@code doca_rdma_bridge}). Devices of softdpu have no such objects, since none of
 * them is opened by rdma-core: each call answers NOT_SUPPORTED. Any thread.
 */
public final class RdmaBridge {
    private RdmaBridge() {}

    /**
     * The protection domain of a device, a {@code struct ibv_pd *} ({@code get_dev_pd}).
     *
     * @throws DpuException NOT_SUPPORTED; INVALID_VALUE if the device is null
     */
    public static MemorySegment protectionDomain(Device device) {
        Arguments.notNull(device, "device");
        throw unsupported("protection domain (struct ibv_pd)", "device=" + device);
    }

    /**
     * Opens the device of a protection domain ({@code open_dev_from_pd}).
     *
     * @param protectionDomain a {@code struct ibv_pd *}
     * @throws DpuException NOT_SUPPORTED; INVALID_VALUE if it is null
     */
    public static Device openDevice(MemorySegment protectionDomain) {
        Arguments.notNull(protectionDomain, "protectionDomain");
        throw unsupported(
                "device of a protection domain (struct ibv_pd)",
                Text.format("protectionDomain=0x%x", protectionDomain.address()));
    }

    /**
     * The memory key of a buf for a device ({@code get_buf_mkey}).
     *
     * @throws DpuException NOT_SUPPORTED; INVALID_VALUE if an argument is null
     */
    public static int memoryKey(Buf buf, Device device) {
        Arguments.notNull(buf, "buf");
        Arguments.notNull(device, "device");
        throw unsupported("memory key (mkey)", Text.format("buf=%s, device=%s", buf, device));
    }

    private static DpuException unsupported(String missing, String operands) {
        return new DpuException(
                Status.NOT_SUPPORTED,
                Text.format(
                        "no rdma-core object behind it: missing=%s, %s, expected=rdma-core on a"
                                + " card",
                        missing, operands));
    }
}

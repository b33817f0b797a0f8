package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.PciFunction;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.memory.Grant;
import io.softdpu.core.spi.memory.MemoryKey;
import io.softdpu.core.spi.memory.ProtectionDomain;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.region.LeaseListener;
import io.softdpu.linux.text.Text;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Exports of one mmap: at most one for PCIe and one for RDMA by the user, and those by libraries.
 * They end together when the mmap stops. Under the lock of the mmap.
 */
final class MmapExports {
    private static final byte[] NO_GID = new byte[16];

    private final Mmap mmap;
    private final List<ExportedRegion> forLibraries = new ArrayList<>();
    private @Nullable ExportedRegion pci;
    private @Nullable ExportedRegion rdma;

    /** Keys for RDMA, one for each device that exports it. */
    private final Map<ProtectionDomain, MemoryKey> keys = new HashMap<>();

    MmapExports(Mmap mmap) {
        this.mmap = mmap;
    }

    byte[] pci(Device device) {
        requireUsable(device);
        Permissions granted = mmap.permissions();
        if (mmap.isImported()) {
            throw refused(
                    Status.NOT_SUPPORTED,
                    "an imported mmap cannot be exported over PCIe, only for RDMA",
                    device);
        }
        if (!granted.allowsPci()) {
            throw refused(
                    Status.NOT_PERMITTED,
                    "export over PCIe needs PCI_READ_ONLY or PCI_READ_WRITE",
                    device,
                    ", expected=Mmap.setPermissions with one of them, before start");
        }
        if (!device.info().isMmapExportPciSupported()) {
            throw refused(
                    Status.NOT_SUPPORTED,
                    "device has no parent port on the DPU, so there is no importer",
                    device,
                    ", expected=exportPci on a function of the host, or exportRdma");
        }
        requireOneKind(granted.allowsPciWrite(), granted.allowsRdmaWrite(), device);
        if (pci == null) {
            pci = exportLocal(device, granted.allowsPciWrite(), null);
        }
        return describe(ExportDescriptor.Kind.PCI, granted, device, 0, pci);
    }

    byte[] rdma(Device device) {
        requireUsable(device);
        Permissions granted = mmap.permissions();
        if (!granted.allowsRdma()) {
            throw refused(
                    Status.NOT_PERMITTED,
                    "export for RDMA needs RDMA_READ, RDMA_WRITE or RDMA_ATOMIC",
                    device,
                    ", expected=Mmap.setPermissions with one of them, before start");
        }
        requireOneKind(granted.allowsRdmaWrite(), granted.allowsPciWrite(), device);
        MmapOrigin origin = mmap.origin();
        if (origin == null && !granted.allowsLocalWrite()) {
            throw refused(
                    Status.NOT_PERMITTED,
                    "export of local memory for RDMA needs LOCAL_READ_WRITE as well",
                    device,
                    ", expected=Mmap.setPermissions with it, before start");
        }
        if (origin != null && origin.isRevoked()) {
            throw refused(origin.revokedStatus(), "exporter has revoked the memory", device);
        }
        ExportedRegion region = rdma;
        if (region == null) {
            region =
                    origin == null
                            ? exportLocal(device, granted.allowsRdmaWrite(), null)
                            : exportImported(origin, device, granted);
        }
        Permissions forPeers = granted.rdmaOnly();
        MemoryKey key;
        boolean registered = false;
        try {
            key = keys.computeIfAbsent(domainOf(device), domain -> register(domain, forPeers));
            registered = true;
        } finally {
            if (!registered && rdma == null) {
                region.close();
            }
        }
        rdma = region;
        return describe(ExportDescriptor.Kind.RDMA, forPeers, device, key.key(), region);
    }

    /** The key of its export for RDMA by a device; exports it if it was not yet. */
    MemoryKey rdmaKey(Device device) {
        byte[] _ = rdma(device);
        return Objects.requireNonNull(keys.get(domainOf(device)), "an export has a key");
    }

    ExportedRegion forLibrary(Device device, boolean writable, @Nullable LeaseListener listener) {
        requireUsable(device);
        if (mmap.isImported()) {
            throw refused(
                    Status.NOT_SUPPORTED, "an imported mmap is not exported to a library", device);
        }
        ExportedRegion region = exportLocal(device, writable, listener);
        forLibraries.removeIf(ExportedRegion::revoked);
        forLibraries.add(region);
        return region;
    }

    /** Whether there is an export by the user that was not revoked. */
    boolean any() {
        return pci != null || rdma != null;
    }

    void revoke() {
        if (pci != null) {
            pci.close();
            pci = null;
        }
        if (rdma != null) {
            rdma.close();
            rdma = null;
        }
        forLibraries.forEach(ExportedRegion::close);
        forLibraries.clear();
        MemoryKey.withdrawAll(keys.values());
    }

    /** The first byte's address for RDMA; of an import, that in the exporting process. */
    long address() {
        MmapOrigin origin = mmap.origin();
        return origin != null
                ? origin.descriptor().address()
                : Objects.requireNonNull(mmap.mapped(), "memory").address();
    }

    /** Memory that is not mapped here has a key as well; it is mapped once an adapter serves it. */
    private MemoryKey register(ProtectionDomain domain, Permissions granted) {
        MemorySegment memory = mmap.mapped();
        MmapOrigin origin = mmap.origin();
        Grant grant = Objects.requireNonNull(mmap.grant(), "memory that stays open");
        return memory == null && origin != null
                ? domain.registerUnmapped(
                        address(), origin::mapForPeers, granted.bits(), grant, MmapExports::changed)
                : domain.register(
                        address(),
                        Objects.requireNonNull(memory, "memory"),
                        granted.bits(),
                        grant,
                        MmapExports::changed);
    }

    /** No thread waits for a change of memory, as for that of a sync event. */
    private static void changed() {}

    private ExportedRegion exportLocal(
            Device device, boolean writable, @Nullable LeaseListener listener) {
        SharedMemory memory = mmap.shared();
        if (memory == null) {
            throw refused(
                    Status.NOT_SUPPORTED,
                    "only memory from SharedMemory.allocate can be exported, use that for this"
                            + " mmap",
                    device);
        }
        MachineAccess.of(Machine.class).requireCapacity(device.machine(), mmap.sizeBytes());
        try {
            return bus(device).export(memory.shared(), writable, listener);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    private ExportedRegion exportImported(MmapOrigin origin, Device device, Permissions granted) {
        ImportedRegion lease = origin.lease();
        if (origin.byRdma() || lease == null) {
            throw refused(
                    Status.NOT_SUPPORTED, "an import from RDMA cannot be exported again", device);
        }
        try {
            return bus(device).reexport(lease, granted.allowsRdmaWrite(), null);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    private byte[] describe(
            ExportDescriptor.Kind kind,
            Permissions granted,
            Device device,
            int remoteKey,
            ExportedRegion region) {
        boolean forRdma = kind == ExportDescriptor.Kind.RDMA;
        PciFunction function = device.info().function();
        return new ExportDescriptor(
                        kind,
                        granted.bits(),
                        remoteKey,
                        address(),
                        forRdma ? function.gid() : NO_GID,
                        Arrays.copyOf(
                                device.machine().topology().sha256(),
                                ExportDescriptor.DIGEST_BYTES),
                        region.address(),
                        function.side(),
                        function.interfaceName())
                .encode();
    }

    private void requireUsable(Device device) {
        mmap.requireStarted();
        if (!mmap.hasDevice(device)) {
            throw refused(
                    Status.NOT_PERMITTED,
                    "device was not added to the mmap",
                    device,
                    ", expected=Mmap.addDevice, before start");
        }
    }

    /**
     * Refuses a read-only export of memory that others may write: a process with the descriptor
     * could reopen it for writing.
     */
    private void requireOneKind(boolean thisWrites, boolean otherWrites, Device device) {
        if (otherWrites && !thisWrites) {
            throw refused(
                    Status.NOT_SUPPORTED,
                    "one memory is exported either for reading only or writable, not both",
                    device);
        }
    }

    private DpuException refused(Status status, String reason, Device device) {
        return refused(status, reason, device, "");
    }

    private DpuException refused(Status status, String reason, Device device, String expected) {
        return new DpuException(
                status, Text.format("%s: device=%s, mmap=%s%s", reason, device, mmap, expected));
    }

    private static Bus bus(Device device) {
        return MachineAccess.of(Machine.class).bus(device.machine());
    }

    private static ProtectionDomain domainOf(Device device) {
        return MachineAccess.of(Machine.class)
                .domain(device.machine(), device.info().function().key());
    }
}

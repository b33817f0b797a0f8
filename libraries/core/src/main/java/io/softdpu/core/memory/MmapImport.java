package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.check.Interrupts;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.internal.access.DependentsAccess;
import io.softdpu.core.internal.access.MachineAccess;
import io.softdpu.core.internal.base.Dependents;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.memory.wire.ExportDescriptor;
import io.softdpu.core.spi.bus.ExportOrigin;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.linux.text.Text;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Import of an mmap from an export blob: decodes it, checks whether it may be imported here, and
 * leases the memory.
 *
 * <p>The blob is untrusted: every field is validated before it is used, and the message of a
 * refusal never contains a key.
 */
final class MmapImport {
    /**
     * Time limit for the threads of the bus in addition to the exporter's reply, without mapping.
     */
    private static final long GRACE_NANOS = 1_000_000_000L;

    /**
     * Time limit for mapping and populating: 0.5 ns per byte was measured; eight times that for a
     * busy machine.
     */
    private static final long MAPPING_NANOS_PER_BYTE = 4;

    private MmapImport() {}

    static Mmap run(byte[] blob, Device device, Mapping mapping, Duration timeout) {
        Arguments.notNull(blob, "blob");
        Arguments.notNull(device, "device");
        Arguments.notNull(mapping, "mapping");
        long timeoutNanos = Arguments.positiveNanos(timeout, "timeout");
        ExportDescriptor descriptor = ExportDescriptor.decode(blob);
        Bus bus = MachineAccess.of(Machine.class).bus(device.machine());
        ExportOrigin origin =
                new ExportOrigin(
                        descriptor.region().bootId(),
                        descriptor.region().fabricId(),
                        descriptor.topologyDigest(),
                        descriptor.side(),
                        descriptor.interfaceName());
        origin.requireReachable(device, bus);
        Permissions granted = new Permissions(descriptor.permissions());
        boolean writable =
                switch (descriptor.kind()) {
                    case PCI -> {
                        origin.requireParent(device);
                        yield granted.allowsPciWrite();
                    }
                    case RDMA -> granted.allowsRdmaWrite();
                };
        Dependents.Dependency onDevice = DependentsAccess.of(Device.class, device).add("mmap");
        boolean made = false;
        try {
            ImportedRegion region =
                    fetch(bus, descriptor, writable, mapping == Mapping.ACCESS, timeoutNanos);
            made = true;
            return new Mmap(MmapOrigin.of(descriptor, region), device, onDevice);
        } finally {
            if (!made) {
                onDevice.release();
            }
        }
    }

    private static ImportedRegion fetch(
            Bus bus,
            ExportDescriptor descriptor,
            boolean writable,
            boolean map,
            long timeoutNanos) {
        if (Interrupts.isPending()) {
            throw interrupted(descriptor, null);
        }
        CompletableFuture<ImportedRegion> reply;
        try {
            reply = bus.importRegion(descriptor.region(), writable, map, timeoutNanos);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
        long mappingNanos = map ? saturatedMultiply(descriptor.sizeBytes()) : 0;
        long limitNanos = saturatedAdd(saturatedAdd(timeoutNanos, GRACE_NANOS), mappingNanos);
        try {
            return reply.get(limitNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof FabricException failure) {
                throw FabricFailures.from(failure);
            }
            throw new DpuException(
                    Status.UNEXPECTED, "import failed: export=" + descriptor, e.getCause());
        } catch (TimeoutException e) {
            abandon(reply);
            throw new DpuException(
                    Status.TIME_OUT,
                    Text.format(
                            "import takes too long: timeoutNanos=%d, limitNanos=%d, export=%s",
                            timeoutNanos, limitNanos, descriptor),
                    e);
        } catch (InterruptedException e) {
            abandon(reply);
            Thread.currentThread().interrupt();
            throw interrupted(descriptor, e);
        }
    }

    private static DpuException interrupted(
            ExportDescriptor descriptor, @Nullable InterruptedException cause) {
        return Interrupts.ended(
                "Mmap.createFromExport", "awaited=the exporter, export=" + descriptor, cause);
    }

    /** Cancels the import; a result that has arrived meanwhile is released. */
    @SuppressWarnings("FutureReturnValueIgnored")
    private static void abandon(CompletableFuture<ImportedRegion> reply) {
        if (!reply.cancel(false)) {
            reply.thenAccept(ImportedRegion::close);
        }
    }

    private static long saturatedMultiply(long sizeBytes) {
        return sizeBytes > Long.MAX_VALUE / MAPPING_NANOS_PER_BYTE
                ? Long.MAX_VALUE
                : sizeBytes * MAPPING_NANOS_PER_BYTE;
    }

    private static long saturatedAdd(long a, long b) {
        return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
    }
}

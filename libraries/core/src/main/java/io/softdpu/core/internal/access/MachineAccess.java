package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.core.spi.memory.ProtectionDomain;
import io.softdpu.fabric.Bus;
import org.jspecify.annotations.Nullable;

/**
 * Access to internals of machines.
 *
 * @param <M> the class of machines
 */
public abstract class MachineAccess<M> {
    private static volatile @Nullable MachineAccess<?> installed;

    private final Class<M> machines;

    /** For the class of machines alone. */
    protected MachineAccess(Class<M> machines) {
        this.machines = machines;
    }

    /** The installed access object. */
    @SuppressWarnings("unchecked") // as require says
    public static <M> MachineAccess<M> of(Class<M> machines) {
        MachineAccess<?> access = ClassLoading.access(machines, () -> installed);
        ClassLoading.require(access.machines, machines);
        return (MachineAccess<M>) access;
    }

    /** Called once, by the class of machines. */
    public static void install(MachineAccess<?> access) {
        installed = access;
    }

    /** The bus of a machine. */
    public abstract Bus bus(M machine);

    /** The memory of a machine's device that peers may access by key. */
    public abstract ProtectionDomain domain(M machine, String functionKey);

    /**
     * Refuses new shared memory while too much memory of revoked exports is retained.
     *
     * @throws DpuException NO_MEMORY if the retained memory exceeds the machine's limit
     */
    public abstract void requireCapacity(M machine, long sizeBytes);

    /** {@link #requireCapacity} for each machine that is open in this program. */
    public abstract void requireCapacityOnAll(long sizeBytes);
}

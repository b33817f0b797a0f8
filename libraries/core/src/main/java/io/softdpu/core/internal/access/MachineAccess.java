package io.softdpu.core.internal.access;

import io.softdpu.core.DpuException;
import io.softdpu.fabric.Bus;
import org.jspecify.annotations.Nullable;

/**
 * Access to what a machine keeps from its users.
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

    /** The one that the class of machines has installed. */
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

    /** The machine's end of the bus. */
    public abstract Bus bus(M machine);

    /**
     * Refuses new shared memory while too much of the old is kept back.
     *
     * @throws DpuException NO_MEMORY if the machine keeps back more than its limit
     */
    public abstract void requireRoom(M machine, long sizeBytes);

    /** {@link #requireRoom} for each machine that is open in this program. */
    public abstract void requireRoomOnAll(long sizeBytes);
}

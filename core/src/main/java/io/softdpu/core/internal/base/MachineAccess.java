package io.softdpu.core.internal.base;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machine;
import io.softdpu.fabric.Bus;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** What a machine shows to the rest of this module. */
public abstract class MachineAccess {
    private static volatile @Nullable MachineAccess instance;

    /** The one that {@code Machine} has left. */
    public static MachineAccess get() {
        return ClassLoading.access(Machine.class, () -> instance);
    }

    /** Called once, by {@code Machine}. */
    public static void set(MachineAccess access) {
        instance = access;
    }

    /** What lives on the machine. */
    public abstract Usage usage(Machine machine);

    /** The machine's end of the bus. */
    public abstract Bus bus(Machine machine);

    /**
     * Changes what there is on the card now, for all programs of the fabric folder.
     *
     * @param <T> the class of topologies, which is above this package
     * @param change is given what there is; what it throws changes nothing
     * @return what there is then
     */
    public abstract <T> T changeTopology(
            Machine machine, Class<T> topologies, UnaryOperator<T> change);

    /**
     * Refuses new shared memory while too much of the old is kept back.
     *
     * @throws DpuException NO_MEMORY if the machine keeps back more than its limit
     */
    public abstract void requireRoom(Machine machine, long sizeBytes);

    /** {@link #requireRoom} for each machine that is open in this program. */
    public abstract void requireRoomOnAll(long sizeBytes);
}

package io.softdpu.core.internal;

import io.softdpu.core.Machine;
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
}

package io.softdpu.fabric.engine;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Affinity;
import io.softdpu.linux.LinuxException;
import java.util.BitSet;

/**
 * Which processor a thread may run on, for the floors that make no system calls of their own. Any
 * thread, about itself.
 */
public final class ThreadAffinity {
    private ThreadAffinity() {}

    /**
     * Lets the calling thread run on one processor only.
     *
     * @throws FabricException NOT_FOUND if this process may not use that one, naming those that it
     *     may
     */
    public static void pinCurrentThread(int cpu) {
        try {
            checkAvailable(cpu);
            Affinity.pinCurrentThread(cpu);
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "cannot pin the thread: " + e.getMessage(), e);
        }
    }

    /**
     * Lets the calling thread run wherever this process may.
     *
     * @throws FabricException SYSTEM if the kernel refuses that
     */
    public static void unpinCurrentThread() {
        try {
            Affinity.unpinCurrentThread();
        } catch (LinuxException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM, "cannot unpin the thread: " + e.getMessage(), e);
        }
    }

    /**
     * Looks whether a thread could be pinned to this processor.
     *
     * @throws FabricException NOT_FOUND if this process may not use it, naming those that it may
     */
    public static void checkAvailable(int cpu) {
        BitSet allowed = Affinity.allowed();
        if (cpu < 0 || !allowed.get(cpu)) {
            throw new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "no such processor: cpu=" + cpu + ", available=" + allowed);
        }
    }

    /** How many processors this process may use, at least 1. */
    public static int availableCpus() {
        return Affinity.availableCpus();
    }
}

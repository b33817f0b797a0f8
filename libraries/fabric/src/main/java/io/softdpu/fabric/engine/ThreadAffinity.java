package io.softdpu.fabric.engine;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Affinity;
import io.softdpu.linux.LinuxException;
import java.util.BitSet;

/**
 * CPU affinity of the calling thread, for the modules that make no system calls themselves. Any
 * thread.
 */
public final class ThreadAffinity {
    private ThreadAffinity() {}

    /**
     * Pins the calling thread to one processor.
     *
     * @throws FabricException NOT_FOUND if this process may not use it; the message names those
     *     that it may
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
     * Unpins the calling thread: it may run on any processor of this process.
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
     * Checks whether a thread could be pinned to this processor.
     *
     * @throws FabricException NOT_FOUND if this process may not use it; the message names those
     *     that it may use
     */
    public static void checkAvailable(int cpu) {
        BitSet allowed = Affinity.allowed();
        if (cpu < 0 || !allowed.get(cpu)) {
            throw new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "no such processor: cpu=" + cpu + ", available=" + allowed);
        }
    }

    /** Number of processors that this process may use, at least 1. */
    public static int availableCpus() {
        return Affinity.availableCpus();
    }
}

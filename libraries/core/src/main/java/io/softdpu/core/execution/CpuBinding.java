package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.wait.AffinityPolicy;
import io.softdpu.core.internal.wait.SoftAffinity;
import io.softdpu.fabric.engine.ThreadAffinity;
import io.softdpu.fabric.error.FabricException;
import org.jspecify.annotations.Nullable;

/**
 * Where a worker's thread runs: on one processor, on one as long as nobody else computes there, or
 * wherever the system puts it.
 *
 * <p>Use hard affinity only if every polling thread has its own processor: a pinned thread cannot
 * move away from a competing thread. With fewer processors than pollers let those that talk most to
 * each other {@linkplain #preferring prefer} the same. A value; any thread.
 */
public final class CpuBinding {
    private static final int ANY = -1;
    private static final String PREFERRED = "prefer:";
    private static final CpuBinding ANYWHERE = new CpuBinding(ANY, false);

    private final int core;
    private final boolean soft;

    private CpuBinding(int core, boolean soft) {
        this.core = core;
        this.soft = soft;
    }

    /** Wherever the system puts it. */
    public static CpuBinding any() {
        return ANYWHERE;
    }

    /**
     * On one processor.
     *
     * @param core its number, from 0
     * @throws DpuException INVALID_VALUE if the number is negative
     */
    public static CpuBinding core(int core) {
        return new CpuBinding(requireNumber(core), false);
    }

    /**
     * On one processor, until somebody else computes there: {@link ProgressEngine#await} of an
     * engine that was {@linkplain ProgressEngine#create(int, CpuBinding) created with it} then lets
     * its thread go wherever the program may run, and comes back after a while. A thread that only
     * polls, or sleeps in a loop of its own, stays.
     *
     * @param core its number, from 0
     * @throws DpuException INVALID_VALUE if the number is negative
     */
    public static CpuBinding preferring(int core) {
        return new CpuBinding(requireNumber(core), true);
    }

    private static int requireNumber(int core) {
        if (core < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "number of processor is negative: core=" + core);
        }
        return core;
    }

    /**
     * What a command line says: {@code any}, a number, or {@code prefer:} and a number.
     *
     * @throws DpuException INVALID_VALUE if it is neither
     */
    public static CpuBinding of(String text) {
        Arguments.notNull(text, "text");
        if (text.equals("any")) {
            return ANYWHERE;
        }
        boolean preferred = text.startsWith(PREFERRED);
        String number = preferred ? text.substring(PREFERRED.length()) : text;
        try {
            int core = Integer.parseInt(number);
            return preferred ? preferring(core) : core(core);
        } catch (NumberFormatException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not a processor: text=" + text + ", forms=[any, 0, 1, prefer:0, ...]",
                    e);
        }
    }

    /** How many processors this program may use. */
    public static int availableCores() {
        return ThreadAffinity.availableCpus();
    }

    /** Whether it binds to one processor, for good or for as long as nobody else is there. */
    public boolean isBound() {
        return core != ANY;
    }

    /** The soft affinity of an engine's idle loop; null for hard or no affinity. */
    @Nullable AffinityPolicy affinityPolicy() {
        return soft ? SoftAffinity.ofCurrentThread(core) : null;
    }

    /**
     * Binds the calling thread, a platform thread; {@link #any()} leaves it as it is. It is an
     * engine that lets go of a {@linkplain #preferring preferred} one; this alone does not.
     *
     * @throws DpuException NOT_FOUND if this program may not use that processor; the message says
     *     which it may
     */
    public void bindCurrentThread() {
        if (core == ANY) {
            return;
        }
        try {
            ThreadAffinity.pinCurrentThread(core);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * Looks whether {@link #bindCurrentThread} could succeed, for a program that binds its threads
     * later and wants to say so now. Any thread.
     *
     * @throws DpuException NOT_FOUND if this program may not use that processor; the message says
     *     which it may
     */
    public void checkAvailable() {
        if (core == ANY) {
            return;
        }
        try {
            ThreadAffinity.checkAvailable(core);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /** As a command line says it. */
    @Override
    public String toString() {
        if (core == ANY) {
            return "any";
        }
        return (soft ? PREFERRED : "") + core;
    }
}

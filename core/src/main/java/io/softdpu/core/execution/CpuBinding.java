package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.FabricFailures;
import io.softdpu.core.spi.Arguments;
import io.softdpu.fabric.FabricException;
import io.softdpu.fabric.ThreadAffinity;

/**
 * Where a worker's thread runs: on one processor, or wherever the system puts it.
 *
 * <p>Pin only where each poller can have a processor of its own; with fewer processors than pollers
 * pinned threads wait for each other while another processor idles. A value; any thread.
 */
public final class CpuBinding {
    private static final int ANY = -1;
    private static final CpuBinding ANYWHERE = new CpuBinding(ANY);

    private final int core;

    private CpuBinding(int core) {
        this.core = core;
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
        if (core < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE, "number of processor is negative: core=" + core);
        }
        return new CpuBinding(core);
    }

    /**
     * What a command line says: {@code any}, or a number.
     *
     * @throws DpuException INVALID_VALUE if it is neither
     */
    public static CpuBinding of(String text) {
        Arguments.notNull(text, "text");
        if (text.equals("any")) {
            return ANYWHERE;
        }
        try {
            return core(Integer.parseInt(text));
        } catch (NumberFormatException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not a processor: text=" + text + ", forms=[any, 0, 1, ...]",
                    e);
        }
    }

    /** How many processors this program may use. */
    public static int availableCores() {
        return ThreadAffinity.availableCpus();
    }

    /** Whether it binds to one processor. */
    public boolean isBound() {
        return core != ANY;
    }

    /**
     * Binds the calling thread, a platform thread; {@link #any()} leaves it as it is.
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
        return core == ANY ? "any" : Integer.toString(core);
    }
}

package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.base.FabricFailures;
import io.softdpu.core.internal.wait.AffinityPolicy;
import io.softdpu.core.internal.wait.SoftAffinity;
import io.softdpu.fabric.engine.ThreadAffinity;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.text.Text;
import org.jspecify.annotations.Nullable;

/**
 * CPU affinity of a thread: {@linkplain #hard hard}, {@linkplain #soft soft} or {@linkplain #any
 * none}.
 *
 * <p>Use hard affinity only if every polling thread has its own processor: a pinned thread cannot
 * move away from a competing thread. With fewer processors than pollers give soft affinity to the
 * same processor to those threads that exchange most messages. Immutable; any thread.
 */
public final class CpuBinding {
    private static final int ANY = -1;
    private static final String SOFT_PREFIX = "prefer:";
    private static final CpuBinding NONE = new CpuBinding(ANY, false);

    private final int processor;
    private final boolean soft;

    private CpuBinding(int processor, boolean soft) {
        this.processor = processor;
        this.soft = soft;
    }

    /** No affinity: the thread runs on any processor that its process may use. */
    public static CpuBinding any() {
        return NONE;
    }

    /**
     * Hard affinity: the thread stays pinned to one processor.
     *
     * @param processor its number, from 0
     * @throws DpuException INVALID_VALUE if the number is negative
     */
    public static CpuBinding hard(int processor) {
        return new CpuBinding(requireNumber(processor), false);
    }

    /**
     * Soft affinity: the thread is pinned to one processor and unpinned while another thread
     * competes for it. {@link ProgressEngine#await} of an engine {@linkplain
     * ProgressEngine#create(CpuBinding) created with it} detects the competition, unpins its
     * thread, and pins it again after a calm period. A thread that only polls, or sleeps in a loop
     * of its own, stays pinned.
     *
     * @param processor its number, from 0
     * @throws DpuException INVALID_VALUE if the number is negative
     */
    public static CpuBinding soft(int processor) {
        return new CpuBinding(requireNumber(processor), true);
    }

    private static int requireNumber(int processor) {
        if (processor < 0) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "number of processor is negative: processor=" + processor);
        }
        return processor;
    }

    /**
     * Parses the form of the command line: {@code any}, a number, or {@code prefer:} and a number.
     *
     * @throws DpuException INVALID_VALUE if it is none of these
     */
    public static CpuBinding of(String text) {
        Arguments.notNull(text, "text");
        if (text.equals("any")) {
            return NONE;
        }
        boolean soft = text.startsWith(SOFT_PREFIX);
        String number = soft ? text.substring(SOFT_PREFIX.length()) : text;
        try {
            int processor = Text.parseInt(number);
            return soft ? soft(processor) : hard(processor);
        } catch (NumberFormatException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "not a processor: text=" + text + ", forms=[any, 0, 1, prefer:0, ...]",
                    e);
        }
    }

    /** Number of processors that this process may use. */
    public static int availableProcessors() {
        return ThreadAffinity.availableCpus();
    }

    /** Whether it is hard or soft affinity. */
    public boolean isBound() {
        return processor != ANY;
    }

    /**
     * The number of the processor, from 0.
     *
     * @throws DpuException BAD_STATE without affinity
     */
    public int processor() {
        if (processor == ANY) {
            throw new DpuException(
                    Status.BAD_STATE, "no processor: binding=any, expected=hard or soft affinity");
        }
        return processor;
    }

    /** The soft affinity of an engine's idle loop; null for hard or no affinity. */
    @Nullable AffinityPolicy affinityPolicy() {
        return soft ? SoftAffinity.ofCurrentThread(processor) : null;
    }

    /**
     * Pins the calling thread, a platform thread; {@link #any()} changes nothing. {@linkplain #soft
     * Soft} affinity is pinned as hard affinity is: only an engine unpins it.
     *
     * @throws DpuException NOT_FOUND if this process may not use that processor; the message names
     *     those that it may use
     */
    public void bindCurrentThread() {
        if (processor == ANY) {
            return;
        }
        try {
            ThreadAffinity.pinCurrentThread(processor);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /**
     * Checks whether {@link #bindCurrentThread} could succeed, for a program that pins its threads
     * later and reports errors now. Any thread.
     *
     * @throws DpuException NOT_FOUND if this process may not use that processor; the message names
     *     those that it may use
     */
    public void checkAvailable() {
        if (processor == ANY) {
            return;
        }
        try {
            ThreadAffinity.checkAvailable(processor);
        } catch (FabricException e) {
            throw FabricFailures.from(e);
        }
    }

    /** The form that {@link #of} parses. */
    @Override
    public String toString() {
        if (processor == ANY) {
            return "any";
        }
        return (soft ? SOFT_PREFIX : "") + processor;
    }
}

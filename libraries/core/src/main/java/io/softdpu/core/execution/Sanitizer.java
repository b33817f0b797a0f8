package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.sanitizer.SanitizerCore;
import org.jspecify.annotations.Nullable;

/**
 * Makes this emulation as inconvenient as a card may be, and finds what programs do wrong without
 * noticing it. For tests: nothing is right about a program that works only without it.
 *
 * <p>It is on for a whole program where the environment has {@code SOFTDPU_SANITIZE=SEED}, or in
 * code from {@link #start} to {@link #close()}. What is created while it is on (engines, work
 * queues, inventories, pools, and the tasks and bufs of these) belongs to it from then on. Then:
 *
 * <ul>
 *   <li>Completions come in another order than submissions, and later. Only tasks whose library
 *       promises an order among themselves keep it: receives are used up in the order of their
 *       posting. A task with {@link SubmitFlags#OPTIMIZE_REPORTS} may wait for a later one without.
 *   <li>A submission is answered with AGAIN now and then, while another task of its kind (another
 *       job of its queue) is in flight, so that whoever tries again when one completes goes on;
 *       receives, which only a peer completes, are never refused. {@link Task#submit()} throws it:
 *       a program that uses it has to expect that.
 *   <li>What a task is going to write is filled with 0xa5 at submission, in this program's memory:
 *       the tailroom of a destination, up to the length of the work where that is known. Whoever
 *       reads it before the completion reads that.
 *   <li>The data of a source in this program's memory is summed up at submission and at completion:
 *       {@link SanitizerReport.Kind#SOURCE_CHANGED}.
 *   <li>What is refused anyway because the program has lost track of a task or a buf (used, changed
 *       or freed in flight, or after it was freed) is reported as well: {@link
 *       SanitizerReport.Kind#TASK_MISUSED}, {@link SanitizerReport.Kind#BUF_MISUSED}.
 *   <li>Tasks that were not freed when their context is closed and bufs that were not released when
 *       their inventory is stopped are reported, with the place of their allocation: {@link
 *       SanitizerReport.Kind#TASK_LEAKED}, {@link SanitizerReport.Kind#BUF_LEAKED}.
 * </ul>
 *
 * <p>All of it follows from the seed: a program that does the same calls sees the same again. Each
 * report goes to the log of this class as a warning, to the listener, and is counted. Not touched
 * are memory of other programs, what is no task (messages, connections, changes of state), and the
 * speed of anything. Thread: any.
 */
public final class Sanitizer implements AutoCloseable {
    /** The variable of the environment that turns it on for the whole program. */
    public static final String ENVIRONMENT = SanitizerCore.ENVIRONMENT;

    private final SanitizerCore core;

    private Sanitizer(SanitizerCore core) {
        this.core = core;
    }

    /**
     * Turns it on for what is created from now on, instead of the one that is on already, if any.
     *
     * @param seed any number
     */
    public static Sanitizer start(long seed) {
        return new Sanitizer(SanitizerCore.start(seed));
    }

    /**
     * The one that is on; null if none is.
     *
     * @throws DpuException INVALID_VALUE if the environment has a seed that is no number
     */
    public static @Nullable Sanitizer current() {
        SanitizerCore on = SanitizerCore.current();
        return on == null ? null : new Sanitizer(on);
    }

    /** The seed that everything follows from. */
    public long seed() {
        return core.seed();
    }

    /** Sets who is told of each report; null for nobody. */
    public void setListener(@Nullable SanitizerListener listener) {
        core.setListener(
                listener == null
                        ? null
                        : (mistake, message, allocatedAt) ->
                                listener.onReport(
                                        new SanitizerReport(
                                                SanitizerReport.Kind.of(mistake),
                                                message,
                                                core.seed(),
                                                allocatedAt)));
    }

    /** How many mistakes were found. */
    public long reports() {
        return core.reports();
    }

    /** How many mistakes of this kind were found. */
    public long reports(SanitizerReport.Kind kind) {
        return core.reports(Arguments.notNull(kind, "kind").mistake());
    }

    /**
     * Turns it off for what is created from now on; the one that was on before is on again. What
     * belongs to it goes on doing so. Closing twice does nothing.
     */
    @Override
    public void close() {
        core.end();
    }
}

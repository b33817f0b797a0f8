package io.softdpu.core.execution;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import org.jspecify.annotations.Nullable;

/**
 * Sanitizer for tests: uses the freedom that a card has in order and timing of completions, and
 * detects misuse that otherwise goes unnoticed. A program that works only without it is wrong.
 *
 * <p>It is on for a whole program if the environment has {@code SOFTDPU_SANITIZE=SEED}, or in code
 * from {@link #start} to {@link #close()}, or for one thread and those that it creates from {@link
 * #startForThread}. Objects created while it is on (engines, work queues, inventories, pools, and
 * their tasks and bufs) are sanitized:
 *
 * <ul>
 *   <li>Completions come later and in another order than submissions. Only tasks whose library
 *       guarantees an order keep it: receives are consumed in the order of posting. A task with
 *       {@link SubmitFlags#OPTIMIZE_REPORTS} may wait for a later one without.
 *   <li>A submission is refused with AGAIN now and then, while another task of its type (another
 *       job of its queue) is in flight, so that a retry after its completion succeeds; receives,
 *       which only a peer completes, are never refused. {@link Task#submit()} throws it: a program
 *       that uses it must expect that.
 *   <li>The memory that a task will write is filled with 0xa5 at submission, if it is this
 *       program's: the tailroom of a destination, up to the length of the work if known. Reads
 *       before the completion see that.
 *   <li>A checksum of a source in this program's memory is compared at submission and completion:
 *       {@link SanitizerReport.Kind#SOURCE_CHANGED}.
 *   <li>Calls that are refused because a task or a buf is used, changed or freed in flight, while
 *       an instance of a graph holds it, or after it was freed, are also reported: {@link
 *       SanitizerReport.Kind#TASK_MISUSED}, {@link SanitizerReport.Kind#BUF_MISUSED}.
 *   <li>Tasks that were not freed when their context is closed and bufs that were not released when
 *       their inventory is stopped are reported, with the stack trace of their allocation: {@link
 *       SanitizerReport.Kind#TASK_LEAKED}, {@link SanitizerReport.Kind#BUF_LEAKED}. So are
 *       instances of graphs that were not closed when their graph is stopped: {@link
 *       SanitizerReport.Kind#INSTANCE_LEAKED}.
 *   <li>Memory that a library lends ends with its validity, so that an access after it fails with
 *       IllegalStateException where it is made: a message of the Comm Channel with its callback, a
 *       send buffer of a stream when it is sent, a receive buffer when it is closed. An access to a
 *       buffer that is under way then, as a read from a socket, is reported: {@link
 *       SanitizerReport.Kind#BUF_MISUSED}.
 *   <li>Nodes of graphs are submitted and end as other tasks and jobs: late, in another order, and
 *       after submissions that were refused with AGAIN, which the graph repeats.
 * </ul>
 *
 * <p>All of it is determined by the seed: a program with the same calls gets the same behaviour.
 * Each report is logged by this class as a warning, passed to the listener, and counted. Memory of
 * other programs, operations other than tasks (messages, connections, changes of state), and speed
 * are not affected. Thread: any.
 */
public final class Sanitizer implements AutoCloseable {
    /** The environment variable that turns it on for the whole program. */
    public static final String ENVIRONMENT = SanitizerState.ENVIRONMENT;

    private final SanitizerState impl;

    private Sanitizer(SanitizerState impl) {
        this.impl = impl;
    }

    /**
     * Turns it on for objects created from now on, instead of the current one, if any.
     *
     * @param seed any number
     */
    public static Sanitizer start(long seed) {
        return new Sanitizer(SanitizerState.start(seed));
    }

    /**
     * Turns it on for objects that this thread creates from now on, and threads that it creates
     * from now on; a sanitizer of the whole program does not apply to these. So tests that run at
     * the same time in one JVM can have one each.
     *
     * @param seed any number
     * @return to be closed on this thread
     */
    public static Sanitizer startForThread(long seed) {
        return new Sanitizer(SanitizerState.startForThread(seed));
    }

    /**
     * The current sanitizer of this thread, else that of the program; null if none is on.
     *
     * @throws DpuException INVALID_VALUE if the environment has a seed that is not a number
     */
    public static @Nullable Sanitizer current() {
        SanitizerState on = SanitizerState.current();
        return on == null ? null : new Sanitizer(on);
    }

    /** The seed of all random decisions. */
    public long seed() {
        return impl.seed();
    }

    /** Sets the listener for reports; null for none. */
    public Sanitizer setListener(@Nullable SanitizerListener listener) {
        impl.setListener(
                listener == null
                        ? null
                        : (mistake, message, allocatedAt) ->
                                listener.onReport(
                                        new SanitizerReport(
                                                SanitizerReport.Kind.of(mistake),
                                                message,
                                                impl.seed(),
                                                allocatedAt)));
        return this;
    }

    /** Number of mistakes found. */
    public long reports() {
        return impl.reports();
    }

    /** Number of mistakes of this kind found. */
    public long reports(SanitizerReport.Kind kind) {
        return impl.reports(Arguments.notNull(kind, "kind").mistake());
    }

    /**
     * Turns it off for objects created from now on; the previous one becomes the current one.
     * Objects that belong to it stay sanitized. Idempotent.
     */
    @Override
    public void close() {
        impl.end();
    }
}

package io.softdpu.core.spi;

import io.softdpu.core.Status;
import io.softdpu.core.execution.SubmitFlags;

/**
 * Interceptor of a task: the sanitizer's checker, or the hold of a graph's node. It may refuse a
 * submission, and decides what a completion does. Most tasks have neither: null in these is the
 * only check on the data path. The engine's thread.
 */
interface TaskInterceptor {
    /** The task was allocated. */
    void handedOut();

    /** The task was returned to its pool. */
    void freed();

    /** The program has used the task in a way that its state does not allow. */
    void misused(String what);

    /** Whether to refuse a submission with AGAIN. */
    boolean refuses();

    /** The task is being submitted. */
    void submitted(SubmitFlags flags);

    /** The submission was refused. */
    void refused();

    /** The library has completed the task: a sanitizer delays its callback, or its node is told. */
    void completed(Status ended);

    /** The same as one of several, while the library may not call users. */
    void completedWithOthers(Status ended);
}

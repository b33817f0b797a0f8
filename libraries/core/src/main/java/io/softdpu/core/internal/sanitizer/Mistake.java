package io.softdpu.core.internal.sanitizer;

/** Kinds of misuse that a sanitizer reports; users see {@code SanitizerReport.Kind}. */
public enum Mistake {
    /** The source of a task was changed while it was in flight. */
    SOURCE_CHANGED,
    /** A task or a job was used in a way that its state does not allow. */
    TASK_MISUSED,
    /** A buf was used in a way that its state does not allow. */
    BUF_MISUSED,
    /** A task was not freed when its context was closed. */
    TASK_LEAKED,
    /** A buf was not released when its inventory or pool was stopped. */
    BUF_LEAKED,
    /** An instance was not closed when its graph was stopped. */
    INSTANCE_LEAKED,
    /** A sync event was not closed before its device. */
    EVENT_LEAKED
}

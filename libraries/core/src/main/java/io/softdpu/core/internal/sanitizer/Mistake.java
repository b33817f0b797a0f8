package io.softdpu.core.internal.sanitizer;

/** The rules whose breaking a sanitizer reports; users see {@code SanitizerReport.Kind}. */
public enum Mistake {
    /** What a task reads was changed while it was in flight. */
    SOURCE_CHANGED,
    /** A task or a job was used in a way that its state does not allow. */
    TASK_MISUSED,
    /** A buf was used in a way that its state does not allow. */
    BUF_MISUSED,
    /** A task was not freed when its context was closed. */
    TASK_LEAKED,
    /** A buf was not released when its inventory or pool was stopped. */
    BUF_LEAKED
}

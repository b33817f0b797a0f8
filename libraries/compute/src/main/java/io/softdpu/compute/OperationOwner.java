package io.softdpu.compute;

import io.softdpu.core.Status;

/** Owner of an operation: a task or a job. */
interface OperationOwner {
    /**
     * Called when the operation has ended and its bufs belong to the user; runs users' callbacks.
     *
     * @return whether the context still runs after them
     */
    boolean ended(Status how);
}

package io.softdpu.compute;

import io.softdpu.core.Status;

/** Owner of a copy: a task or a job. */
interface CopyOwner {
    /**
     * Called when the copy has ended and its bufs belong to the user; runs users' callbacks.
     *
     * @return whether the context still runs after them
     */
    boolean copied(Status ended);
}

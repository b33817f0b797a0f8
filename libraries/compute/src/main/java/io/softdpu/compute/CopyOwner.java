package io.softdpu.compute;

import io.softdpu.core.Status;

/** Whose copy it is: a task, or a job. */
interface CopyOwner {
    /**
     * The copy has ended and its bufs are the user's; runs users' callbacks.
     *
     * @return whether the context still runs after them
     */
    boolean copied(Status ended);
}

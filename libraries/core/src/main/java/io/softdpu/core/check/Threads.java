package io.softdpu.core.check;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.Text;

/**
 * Threads in messages, and the refusal of virtual threads as owners of what sleeps in the kernel.
 */
public final class Threads {
    private Threads() {}

    /** Name and number of a thread for messages, {@code main#1}; an end is shown: (ended). */
    public static String describe(Thread thread) {
        return thread.getName()
                + "#"
                + thread.threadId()
                + (thread.getState() == Thread.State.TERMINATED ? "(ended)" : "");
    }

    /** The calling thread, for messages. */
    public static String current() {
        return describe(Thread.currentThread());
    }

    /**
     * Refuses a virtual thread as the owner of an object that sleeps in the kernel: it would keep
     * its carrier, and with it all virtual threads of the process, from running.
     *
     * @param object the object that the thread is about to own, for the message
     * @throws DpuException NOT_SUPPORTED
     */
    public static void requirePlatform(String object) {
        if (Thread.currentThread().isVirtual()) {
            throw new DpuException(
                    Status.NOT_SUPPORTED,
                    Text.format(
                            "%s on a virtual thread would stop all others while it waits:"
                                    + " thread=%s, virtual=true, expected=a platform thread"
                                    + " (Thread.ofPlatform), to which virtual threads give work by"
                                    + " ProgressEngine.execute",
                            object, current()));
        }
    }
}

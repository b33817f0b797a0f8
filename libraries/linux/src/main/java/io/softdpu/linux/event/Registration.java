package io.softdpu.linux.event;

/**
 * Registration of a descriptor with a {@link Poller}. Belongs to the thread of its poller, except
 * for {@link #unwatch}, and may be used in any handler, its own included.
 */
public final class Registration {
    private final Poller poller;
    final int fd;
    final long key;
    final Poller.Handler handler;
    private boolean ended;

    Registration(Poller poller, int fd, long key, Poller.Handler handler) {
        this.poller = poller;
        this.fd = fd;
        this.key = key;
        this.handler = handler;
    }

    /**
     * The descriptor.
     *
     * @return the number that was registered
     */
    public int fd() {
        return fd;
    }

    /**
     * Changes the events that the descriptor is watched for.
     *
     * @param interest as for {@link Poller#add}
     * @throws IllegalStateException if the registration has ended
     */
    public void setInterest(int interest) {
        if (ended) {
            throw new IllegalStateException("registration has ended: fd=" + fd);
        }
        poller.modify(this, interest);
    }

    /**
     * Ends the registration, before its descriptor is closed: the handler does not run any more,
     * not even for an event that has been reported already. Idempotent.
     *
     * @return false if it had ended before, or its descriptor has been closed, which is a bug of
     *     its owner
     */
    public boolean remove() {
        if (ended) {
            return false;
        }
        ended = true;
        return poller.remove(this);
    }

    /**
     * Stops watching the descriptor, before another thread than the poller's closes it. The poller
     * must be open. Its own thread ends the registration afterwards by {@link #abandon}; until then
     * the handler may run for an event that has been reported already. Any thread.
     */
    public void unwatch() {
        poller.unwatch(this);
    }

    /**
     * Ends the registration of a descriptor that is not {@linkplain #unwatch watched} any more: as
     * {@link #remove}, but does not use the number, which may have been reused.
     */
    public void abandon() {
        if (!ended) {
            ended = true;
            poller.forget(this);
        }
    }

    /**
     * Whether the registration has ended.
     *
     * @return true after {@link #remove} or {@link #abandon}, and when the number of a descriptor
     *     that was closed without either has been registered again
     */
    public boolean isEnded() {
        return ended;
    }

    /** Ends it because its descriptor was closed and the reused number has been registered. */
    void superseded() {
        ended = true;
    }
}

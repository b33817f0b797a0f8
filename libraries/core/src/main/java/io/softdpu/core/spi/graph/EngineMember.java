package io.softdpu.core.spi.graph;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Context or graph as its engine uses it. The engine's thread. */
public abstract class EngineMember {
    private static final VarHandle IN_FLIGHT;

    static {
        try {
            IN_FLIGHT =
                    MethodHandles.lookup().findVarHandle(EngineMember.class, "inFlight", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private int inFlight;

    private boolean selected;

    /** Its tasks, or instances, that were submitted and not completed. Any thread. */
    public final int inFlight() {
        return (int) IN_FLIGHT.getOpaque(this);
    }

    /** Counts tasks that were submitted, or with a negative number completed. */
    protected final void addInFlight(int tasks) {
        IN_FLIGHT.setOpaque(this, inFlight + tasks);
    }

    /** Sets whether passes that are limited to the members with work include it. */
    public final void select(boolean work) {
        selected = work;
    }

    /** What {@link #select} has set. */
    public final boolean isSelected() {
        return selected;
    }

    /** The kind of the member, for messages, a word that takes an s in the plural. */
    public String kind() {
        return "context";
    }

    /**
     * Whether it is progressed after a notification whenever another member is, since the work of
     * others may be what it waits for.
     */
    public boolean followsOthers() {
        return false;
    }

    /** The member's name, for messages. */
    public abstract String describe();

    /** The member's state, its work, and what it waits for, for messages. */
    public abstract String describeWork();

    /**
     * The condition that ends a wait for its start.
     *
     * @return throws what makes the wait useless, though the member has not failed
     */
    public BooleanSupplier startWait() {
        throw new IllegalStateException("has no start to wait for: " + describe());
    }

    /** As {@link #describeWork}, with what a wait for its start waits for. */
    public String describeStart() {
        return describeWork();
    }

    /**
     * The engine that it was connected to; null for none. Other threads may see an earlier value.
     */
    public abstract @Nullable GraphEngine engine();

    /** Whether it keeps its engine open; a context does unless it is IDLE. */
    public boolean isActive() {
        return true;
    }

    /** Whether it was ever started. Any thread. */
    public abstract boolean wasStarted();

    /** Whether its start or stop waits for a peer. */
    public abstract boolean awaitsEvents();

    /** Whether it can be waited for in event mode. */
    public abstract boolean isEventDrivenSupported();

    /**
     * Does the work that can be done now.
     *
     * @return whether anything was done
     */
    public abstract boolean progress();

    /**
     * Requests a wake-up when there is work, then checks for work once more.
     *
     * @return true if there is work already: do not sleep
     */
    public abstract boolean arm();

    /** Cancels {@link #arm()}. */
    public abstract void disarm();
}

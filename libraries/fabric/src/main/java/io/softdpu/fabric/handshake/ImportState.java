package io.softdpu.fabric.handshake;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** States of an {@link Import}, and the transitions between them. */
enum ImportState {
    /** The request is on its way to the exporter, or its reply from there. */
    ASKED,
    /** The exporter has granted it: the link is open, and mapping workers map the memory. */
    LINKED,
    /** All of the memory is mapped, and the holder's object is being made of it. */
    MAPPED,
    /** The holder has the object, and closes that or the import, whether it was revoked or not. */
    HANDED_OVER,
    /** The holder has closed the import, or it was refused or has failed. */
    CLOSED;

    /** Causes of transitions. */
    enum Event {
        /** A reply that grants it was found right. */
        GRANT,
        /** The last part of the memory was mapped. */
        MAP,
        /** The object was made for the holder. */
        HAND_OVER,
        /** The holder wants it no more, or a step has failed. */
        CLOSE
    }

    /** The state after an event; null if the event is not possible in this state. */
    @Nullable ImportState after(Event event) {
        return switch (event) {
            case GRANT -> this == ASKED ? LINKED : null;
            case MAP -> this == LINKED ? MAPPED : null;
            case HAND_OVER -> this == MAPPED ? HANDED_OVER : null;
            case CLOSE -> this == CLOSED ? null : CLOSED;
        };
    }

    /**
     * Makes the transition of an event, if it is possible. Any thread: of two events of which each
     * excludes the other one happens.
     *
     * @return the state before; null if the event was not possible
     */
    static @Nullable ImportState move(AtomicReference<ImportState> state, Event event) {
        while (true) {
            ImportState before = of(state);
            ImportState next = before.after(event);
            if (next == null) {
                return null;
            }
            if (state.compareAndSet(before, next)) {
                return before;
            }
        }
    }

    /** The present state. */
    static ImportState of(AtomicReference<ImportState> state) {
        return Objects.requireNonNull(state.get(), "set from the beginning");
    }
}

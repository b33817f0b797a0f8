package io.softdpu.jcstress;

import java.lang.foreign.MemorySegment;

/**
 * Sleep and wake over one ring, reduced to the two looks that must not both miss: one side
 * publishes and asks whether it has to ring, the other arms and looks again before it sleeps.
 */
public interface WakeUp {
    /** Publishes, then asks: whether the other side sleeps and is rung. */
    boolean publishAndAsk();

    /** Arms, then looks: whether there is something already, so that it does not sleep. */
    boolean armAndLook();

    /** Makes one for each state. */
    interface Maker {
        /** One that nobody has used, over memory of its own. */
        WakeUp make(MemorySegment memory);
    }
}

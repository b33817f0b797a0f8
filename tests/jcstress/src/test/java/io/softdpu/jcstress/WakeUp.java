package io.softdpu.jcstress;

import java.lang.foreign.MemorySegment;

/**
 * Sleep and wake on one ring, reduced to the two reads that must not both miss: one side publishes
 * and reads the armed word, the other arms and polls again before it sleeps.
 */
public interface WakeUp {
    /** Publishes, then asks: whether the other side sleeps and is rung. */
    boolean publishAndAsk();

    /** Arms, then looks: whether there is something already, so that it does not sleep. */
    boolean armAndLook();

    /** Makes one for each state. */
    interface Maker {
        /** A new one, on memory of its own. */
        WakeUp make(MemorySegment memory);
    }
}

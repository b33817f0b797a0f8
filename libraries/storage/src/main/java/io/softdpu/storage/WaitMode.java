package io.softdpu.storage;

import java.util.Locale;

/** Behaviour of the data path threads of a role while there is no work. */
public enum WaitMode {
    /**
     * Poll for a while, then sleep until work arrives. An idle thread leaves its processor to
     * others, and the first message after a pause takes the time of a wake-up longer.
     */
    ADAPTIVE,
    /**
     * Poll without a pause, as the programs of the application guide do: no yield and no sleep, so
     * each thread uses a whole processor all the time. Soft affinity is as hard affinity then: a
     * thread that never yields does not notice a competitor.
     */
    BUSY;

    /** The name on the command line, for example {@code adaptive}. */
    public String optionName() {
        return name().toLowerCase(Locale.ROOT);
    }
}

package io.softdpu.rdma.roce.nic;

import java.util.Locale;

/** Counts of what an impairment has done, in the order in which a program sees them. */
enum ImpairmentCounter {
    /** Packets that were lost. */
    LOST,
    /** Packets that were sent twice. */
    DUPLICATED,
    /** Packets that were held back behind later ones. */
    REORDERED,
    /** Packets that were sent later. */
    DELAYED,
    /** Packets with another bit. */
    CORRUPTED,
    /** Packets that were lost by a partition. */
    PARTITIONED;

    private final String key = "impair_" + name().toLowerCase(Locale.ROOT);

    /** Its name for programs. */
    String key() {
        return key;
    }
}

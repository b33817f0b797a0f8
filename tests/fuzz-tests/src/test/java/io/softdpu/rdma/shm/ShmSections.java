package io.softdpu.rdma.shm;

import io.softdpu.fuzz.Refused;

/** The section of a connection blob that the provider over shared memory reads. */
public final class ShmSections {
    private ShmSections() {}

    /** Decodes a section. */
    public static void check(byte[] section) {
        ShmDetails details = Refused.orValue(() -> ShmDetails.decode(section));
        if (details != null) {
            Refused.requireSame("shm details", section, details.encode());
        }
    }
}

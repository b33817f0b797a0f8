package io.softdpu.rdma.roce;

import io.softdpu.fuzz.Refused;
import io.softdpu.rdma.roce.wire.Gid;
import java.util.UUID;

/** The section of a connection blob that the provider over UDP reads. */
public final class RoceSections {
    private static final LocalNetwork HERE =
            new LocalNetwork(new Gid(0, 0xffff_0a00_0001L), 24, new UUID(1, 2), 3);

    private RoceSections() {}

    /** Decodes a section, and looks whether its exporter is reached. */
    public static void check(byte[] section) {
        RoceQueuePair stated = Refused.orValue(() -> RoceQueuePair.decode(section));
        if (stated != null) {
            Refused.requireSame("roce queue pair", section, stated.encode());
            return;
        }
        RoceDetails details = Refused.orValue(() -> RoceDetails.decode(section));
        if (details != null) {
            Refused.requireSame("roce details", section, details.encode());
            if (HERE.reaches(details.network()) != details.network().reaches(HERE)) {
                throw new AssertionError("reached from one side alone: details=" + details);
            }
        }
    }
}

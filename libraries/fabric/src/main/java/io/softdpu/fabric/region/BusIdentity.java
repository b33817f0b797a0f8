package io.softdpu.fabric.region;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.wire.RegionAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.UUID;

/**
 * Ids that identify a bus and the regions that it exports. Any thread.
 *
 * @param bootId the kernel's boot id
 * @param fabricId of the fabric folder
 * @param busId of the bus among those of its folder; random
 */
public record BusIdentity(
        RegionAddress.Id bootId, RegionAddress.Id fabricId, RegionAddress.Id busId) {
    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Creates the identity of a new bus.
     *
     * @throws UncheckedIOException if the boot id cannot be read
     */
    public static BusIdentity create(RegionAddress.Id fabricId) {
        return new BusIdentity(readBootId(), fabricId, randomId());
    }

    /**
     * Refuses an address that this bus cannot import.
     *
     * @throws FabricException NOT_FOUND if it belongs to another kernel or fabric folder
     */
    public void requireReachable(RegionAddress region) {
        requireEqual("kernel", region.bootId(), bootId);
        requireEqual("fabric", region.fabricId(), fabricId);
    }

    /** The address of a region of this bus, with a random key of 128 bits. */
    RegionAddress address(long regionId, long sizeBytes) {
        return new RegionAddress(bootId, fabricId, busId, regionId, randomId(), sizeBytes);
    }

    private static void requireEqual(String what, RegionAddress.Id theirs, RegionAddress.Id ours) {
        if (!theirs.equals(ours)) {
            throw new FabricException(
                    FabricException.Kind.NOT_FOUND,
                    "region belongs to another " + what + ": theirs=" + theirs + ", ours=" + ours);
        }
    }

    private static RegionAddress.Id randomId() {
        return new RegionAddress.Id(RANDOM.nextLong(), RANDOM.nextLong());
    }

    private static RegionAddress.Id readBootId() {
        try {
            UUID id =
                    UUID.fromString(
                            Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
            return new RegionAddress.Id(id.getMostSignificantBits(), id.getLeastSignificantBits());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

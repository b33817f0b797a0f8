package io.softdpu.core.spi;

import io.softdpu.core.check.Refusal;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.spi.memory.Grant;
import org.jspecify.annotations.Nullable;

/**
 * Check of one right of a device to memory, for work that uses the same memory again and again: it
 * compares the {@link Grant} with the last that was found right, and asks the mmap where they
 * differ. One thread at a time; allocates nothing.
 */
@SuppressWarnings("ReferenceEquality") // grants are objects, not values
public final class MemoryRight {

    private final Device device;
    private final Permissions needed;
    private @Nullable Grant accepted;

    /** Creates the check of these rights, as {@link Regions#checkUse} describes them. */
    public MemoryRight(Device device, Permissions needed) {
        this.device = device;
        this.needed = needed;
    }

    /**
     * Checks the memory of each element of a list whose head has a reference.
     *
     * @return null, or the refusal of the first element that cannot be used
     */
    public @Nullable Refusal check(Buf list) {
        for (@Nullable Buf element = list; element != null; element = element.nextInList()) {
            Refusal refusal = check(element.mmap());
            if (refusal != null) {
                return refusal;
            }
        }
        return null;
    }

    /**
     * Checks the memory of an mmap that a buf or the context keeps open.
     *
     * @return as {@link Regions#checkUse}
     */
    public @Nullable Refusal check(Mmap mmap) {
        Grant grant = Regions.grantOf(mmap);
        return grant != null && grant == accepted && grant.holds() ? null : checkAll(mmap, grant);
    }

    /** The grant was read before: if it has ended meanwhile no mmap has it any more. */
    private @Nullable Refusal checkAll(Mmap mmap, @Nullable Grant grant) {
        Refusal refusal = Regions.checkUse(mmap, device, needed);
        if (refusal == null) {
            accepted = grant;
        }
        return refusal;
    }
}

package io.softdpu.linux.event;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Registrations of a poller, by the keys that epoll reports: a slot in the low bits and in the high
 * bits a number that no other registration of the slot has had, so that an event of a removed
 * registration is never taken for one of its successor.
 */
final class RegistrationTable {
    private static final int INITIAL_SLOTS = 8;

    private @Nullable Registration[] slots = new @Nullable Registration[INITIAL_SLOTS];
    private int[] freeSlots = new int[INITIAL_SLOTS];
    private int free;
    private final Map<Integer, Registration> byDescriptor = new HashMap<>();
    private int used;
    private long made;

    /** The key for the registration that is {@linkplain #put put} next. */
    long nextKey() {
        int slot = free > 0 ? freeSlots[free - 1] : used;
        return ++made << Integer.SIZE | slot;
    }

    /**
     * Adds a registration whose key was made last. An older registration of the same number is of a
     * closed descriptor: ending it later must not end the new one.
     */
    void put(Registration registration) {
        int slot = takeSlot(registration);
        Registration older = byDescriptor.put(registration.fd, registration);
        if (older != null) {
            older.superseded();
            release(older);
        }
        slots[slot] = registration;
    }

    private int takeSlot(Registration registration) {
        if (free > 0) {
            free--;
        } else {
            if (used == slots.length) {
                slots = Arrays.copyOf(slots, used * 2);
                freeSlots = Arrays.copyOf(freeSlots, used * 2);
            }
            used++;
        }
        return (int) registration.key;
    }

    /** The registration with that key; null if it was removed. */
    @Nullable Registration find(long key) {
        Registration registration = slots[(int) key];
        return registration != null && registration.key == key ? registration : null;
    }

    void remove(Registration registration) {
        byDescriptor.remove(registration.fd);
        release(registration);
    }

    private void release(Registration registration) {
        int slot = (int) registration.key;
        slots[slot] = null;
        freeSlots[free++] = slot;
    }

    int count() {
        return used - free;
    }
}

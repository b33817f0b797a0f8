package io.softdpu.fabric.ring;

import java.util.List;

/**
 * A word of a ring's memory, where {@code docs/wire/fabric.md} puts it, and what one half of the
 * ring makes of it. Kept apart from the product's constants on purpose.
 *
 * @param offset from the start of its place
 * @param widthBytes 1, 2, 4 or 8
 * @param positions places one after the other, of which a mutation takes one
 */
record RingField(
        String name, Place place, long offset, int widthBytes, int positions, Effect effect) {

    /** What the offset counts from. */
    enum Place {
        HEAD,
        SLOT,
        POSTING
    }

    /** What the half that is tested has to make of a value of its peer. */
    enum Effect {
        /** Values exist that it refuses by name, and it tells others apart. */
        CHECKED,
        /** It takes every value for what it is. */
        USED,
        /** It never looks: no value changes anything. */
        IGNORED
    }

    static RingField head(String name, long offset, int widthBytes, Effect effect) {
        return new RingField(name, Place.HEAD, offset, widthBytes, 1, effect);
    }

    static RingField slot(String name, long offset, int widthBytes, Effect effect) {
        return new RingField(name, Place.SLOT, offset, widthBytes, 1, effect);
    }

    static RingField slotBytes(String name, long offset, int positions, Effect effect) {
        return new RingField(name, Place.SLOT, offset, 1, positions, effect);
    }

    static RingField posting(String name, long offset, Effect effect) {
        return new RingField(name, Place.POSTING, offset, 8, 1, effect);
    }

    /** What informs only, in the head of both rings; and the gaps between the words. */
    static List<RingField> informational() {
        return List.of(
                head("magic", 0, 8, Effect.IGNORED),
                head("version", 8, 4, Effect.IGNORED),
                head("kind", 12, 4, Effect.IGNORED),
                head("slots", 16, 4, Effect.IGNORED),
                head("max payload", 20, 4, Effect.IGNORED),
                gap(24, 128),
                gap(136, 256),
                gap(264, 384),
                gap(388, 512),
                gap(516, 640),
                gap(644, 1024));
    }

    private static RingField gap(int from, int to) {
        return new RingField("gap " + from, Place.HEAD, from, 1, to - from, Effect.IGNORED);
    }
}

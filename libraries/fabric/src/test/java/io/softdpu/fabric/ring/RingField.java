package io.softdpu.fabric.ring;

import java.util.List;

/**
 * Word of a ring's memory, as {@code docs/wire/fabric.md} defines it, and its effect on one side of
 * the ring. Independent of the product's constants.
 *
 * @param offset from the start of its area
 * @param widthBytes 1, 2, 4 or 8
 * @param positions number of adjacent elements, of which a mutation changes one
 */
record RingField(
        String name, Place place, long offset, int widthBytes, int positions, Effect effect) {

    /** Area that the offset is relative to. */
    enum Place {
        HEAD,
        SLOT,
        POSTING
    }

    /** Expected effect of a peer's value on the tested side. */
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

    /** Words in the header of both rings that are not used, and the gaps between the words. */
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

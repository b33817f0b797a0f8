package io.softdpu.fabric.ring;

import static io.softdpu.fabric.ring.RingField.Effect.CHECKED;
import static io.softdpu.fabric.ring.RingField.Effect.IGNORED;
import static io.softdpu.fabric.ring.RingField.Effect.USED;

import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Both sides of a message ring as targets of mutations. */
final class MessageRingTargets {
    private static final int MAX_PAYLOAD = 100;
    private static final long STRIDE = 192;
    private static final MessageRing.Geometry GEOMETRY =
            new MessageRing.Geometry(RingTarget.SLOTS, MAX_PAYLOAD);

    private MessageRingTargets() {}

    private static long slot(long index) {
        return RingTarget.SLOTS_START + index % RingTarget.SLOTS * STRIDE;
    }

    private static void send(
            MessageRing.Producer producer, MemorySegment ring, SeededRandom random) {
        long at = producer.claim();
        int length = (int) random.between(0, MAX_PAYLOAD);
        random.fill(ring.asSlice(at, length));
        producer.commit(random.nextInt(), length, random.nextLong());
    }

    /** The receiver; its peer writes slots. */
    static final class Receiver extends RingTarget {
        private MessageRing.Consumer victim;
        private long consumed;
        private long produced;

        Receiver() {
            super(
                    "message receiver",
                    List.of(
                            RingField.head("consumed", 256, 8, IGNORED),
                            RingField.head("owner armed", 384, 4, IGNORED),
                            RingField.head("peer armed", 512, 4, USED),
                            RingField.head("status", 640, 4, IGNORED),
                            RingField.slot("slot length", 0, 4, CHECKED),
                            RingField.slot("slot type", 4, 4, USED),
                            RingField.slot("slot word", 8, 8, USED),
                            RingField.slot("slot stamp", 16, 8, USED),
                            RingField.slotBytes("slot payload", 24, MAX_PAYLOAD, USED)));
        }

        @Override
        long sizeBytes() {
            return GEOMETRY.sizeBytes();
        }

        @Override
        void prepare(MemorySegment ring, SeededRandom random) {
            if (random.nextBoolean()) {
                random.fill(ring.asSlice(0, sizeBytes()));
            }
            victim = MessageRing.consumer(ring, GEOMETRY);
            MessageRing.Producer peer = MessageRing.producer(ring, GEOMETRY);
            consumed = 0;
            for (long past = random.between(0, 2 * SLOTS); consumed < past; consumed++) {
                send(peer, ring, random);
                victim.poll();
                victim.release();
            }
            int waiting = (int) random.between(1, SLOTS);
            for (int i = 0; i < waiting; i++) {
                send(peer, ring, random);
            }
            produced = consumed + waiting;
        }

        @Override
        long pending(RingField.Place place, SeededRandom random) {
            return slot(random.between(consumed, produced - 1));
        }

        @Override
        Outcome expect(MemorySegment copy) {
            Digest digest = new Digest();
            long next = consumed;
            String end = null;
            while (end == null) {
                long slot = slot(next);
                int length = intAt(copy, slot);
                if (longAt(copy, slot + 16) != next + 1) {
                    end = "EMPTY";
                } else if (length < 0 || length > MAX_PAYLOAD) {
                    end = "slot length";
                } else {
                    digest.add(length).add(intAt(copy, slot + 4)).add(longAt(copy, slot + 8));
                    digest.add(copy, slot + 24, length);
                    next++;
                }
            }
            return new Outcome((int) (next - consumed), digest.value(), end, intAt(copy, 512) != 0);
        }

        @Override
        Outcome decode() {
            Digest digest = new Digest();
            int units = 0;
            long at = victim.poll();
            for (; at >= 0; at = victim.poll()) {
                digest.add(victim.length()).add(victim.type()).add(victim.word());
                digest.add(victim.segment(), at, victim.length());
                victim.release();
                units++;
            }
            String end = "EMPTY";
            if (at == MessageRing.CORRUPT) {
                end = nameOf(victim.violation());
                if (victim.poll() != MessageRing.CORRUPT || !victim.corrupt() || !victim.arm()) {
                    throw new AssertionError("a corrupt ring has recovered");
                }
            }
            return new Outcome(units, digest.value(), end, victim.peerArmed());
        }

        @Override
        void blankWritten(MemorySegment copy) {
            copy.asSlice(256, 8).fill((byte) 0);
            copy.asSlice(384, 4).fill((byte) 0);
            copy.asSlice(512, 4).fill((byte) 0);
        }
    }

    /** The sender; its peer owns the memory. */
    static final class Sender extends RingTarget {
        private MessageRing.Producer victim;
        private long produced;
        private long seen;
        private int claims;

        Sender() {
            super(
                    "message sender",
                    List.of(
                            RingField.head("consumed", 256, 8, CHECKED),
                            RingField.head("owner armed", 384, 4, USED),
                            RingField.head("peer armed", 512, 4, IGNORED),
                            RingField.head("status", 640, 4, USED),
                            RingField.slot("slot length", 0, 4, IGNORED),
                            RingField.slot("slot type", 4, 4, IGNORED),
                            RingField.slot("slot word", 8, 8, IGNORED),
                            RingField.slot("slot stamp", 16, 8, IGNORED),
                            RingField.slotBytes("slot payload", 24, MAX_PAYLOAD, IGNORED)));
        }

        @Override
        long sizeBytes() {
            return GEOMETRY.sizeBytes();
        }

        @Override
        void prepare(MemorySegment ring, SeededRandom random) {
            MessageRing.Consumer peer = MessageRing.consumer(ring, GEOMETRY);
            victim = MessageRing.producer(ring, GEOMETRY);
            long past = random.between(0, 2 * SLOTS);
            for (produced = 0; produced < past; produced++) {
                send(victim, ring, random);
                peer.poll();
                peer.release();
            }
            seen = victim.consumed();
            for (long more = random.between(1, SLOTS); more > 0; more--) {
                send(victim, ring, random);
                produced++;
            }
            for (long released = random.between(0, produced - seen); released > 0; released--) {
                peer.poll();
                peer.release();
            }
            peer.setStatus(random.oneOf(0, 1, 17));
            if (random.nextBoolean()) {
                peer.arm();
            }
        }

        @Override
        long pending(RingField.Place place, SeededRandom random) {
            return slot(random.between(0, SLOTS - 1));
        }

        @Override
        Outcome expect(MemorySegment copy) {
            Digest digest = new Digest().add(intAt(copy, 640));
            long released = longAt(copy, 256);
            boolean wrong = released < seen || released > produced;
            long limit = (wrong ? seen : released) + SLOTS;
            for (long next = produced; next < limit; next++) {
                digest.add(slot(next) + 24);
            }
            return new Outcome(
                    (int) (limit - produced),
                    digest.value(),
                    wrong ? "consumed index" : "EMPTY",
                    intAt(copy, 384) != 0);
        }

        @Override
        Outcome decode() {
            Digest digest = new Digest().add(victim.status());
            boolean wrong = victim.consumed() == MessageRing.CORRUPT;
            claims = 0;
            long at = victim.claim();
            for (; at >= 0; at = victim.claim()) {
                digest.add(at);
                victim.commit(3, MAX_PAYLOAD, 4);
                claims++;
            }
            if (wrong != victim.corrupt()
                    || at != (wrong ? MessageRing.CORRUPT : MessageRing.FULL)
                    || victim.free() != 0
                    || (wrong && !victim.arm())) {
                throw new AssertionError("sender is not of one mind: at=" + at);
            }
            return new Outcome(
                    claims,
                    digest.value(),
                    wrong ? nameOf(victim.violation()) : "EMPTY",
                    victim.peerArmed());
        }

        @Override
        void blankWritten(MemorySegment copy) {
            copy.asSlice(384, 4).fill((byte) 0);
            copy.asSlice(512, 4).fill((byte) 0);
            for (long next = produced; next < produced + claims; next++) {
                copy.asSlice(slot(next), 24).fill((byte) 0);
            }
        }
    }
}
